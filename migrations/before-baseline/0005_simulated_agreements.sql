-- What the simulated bank knows of Pix Automático, in its books like the transfers: the agreements
-- of payers, and the charges that it collects under them. Nothing here says who the payer is.

create table simulated_bank.agreements (
  account_id uuid not null,
  -- The id of the order, given by whoever asks for the agreement.
  id uuid not null,
  external_id text not null check (external_id ~ '^R[RN][0-9]{16}[A-Za-z0-9]{11}$'),
  br_code text not null,
  value bigint not null check (value between 1 and 999999999999),
  frequency text not null check (frequency in ('WEEKLY', 'MONTHLY', 'SEMIANNUAL', 'ANNUAL')),
  -- EXPIRED is never stored: an undecided one is expired from its end on.
  status text not null check (status in ('CREATED', 'APPROVED', 'REJECTED', 'CANCELED')),
  -- Whether the payer's account can pay.
  funds boolean not null,
  retries boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  primary key (account_id, id),
  check ((status = 'CREATED') = (decided_at is null))
);
create unique index agreements_external on simulated_bank.agreements (account_id, external_id);

create table simulated_bank.collections (
  account_id uuid not null,
  id uuid not null,
  agreement_id uuid not null,
  amount bigint not null check (amount between 1 and 999999999999),
  due_on date not null,
  status text not null check (status in ('SCHEDULED', 'PAID', 'FAILED', 'CANCELED')),
  -- [{on, status, endToEndId}], in the order of their days.
  attempts jsonb not null,
  -- When the scheduled attempt is made.
  next_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, agreement_id) references simulated_bank.agreements,
  check ((status = 'SCHEDULED') = (next_at is not null))
);
create index collections_due on simulated_bank.collections (next_at) where next_at is not null;
create index collections_account_due on simulated_bank.collections (account_id, next_at)
  where next_at is not null;
create index collections_scheduled on simulated_bank.collections (account_id, agreement_id)
  where status = 'SCHEDULED';
