-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- What is held because payers claim it back. What was posted before has 0. The version before leaves
-- it out of its postings: there it is null, so there is no default.
alter table balances add column disputed bigint not null default 0;
alter table balances add constraint balances_disputed
  check (disputed between 0 and 9007199254740991) not valid;
alter table postings add column disputed bigint default 0;
-- contract since 0067: no version before knows the column.
alter table postings alter column disputed drop default;
alter table postings add constraint postings_disputed check (disputed >= 0) not valid;
-- Both new accounts, because each change reads all postings: the next one has `recipients`.
alter table postings drop constraint postings_debit_check;
-- contract since 0067: it refuses less than the one before.
alter table postings add constraint postings_debit_check check (
  debit in ('bank', 'available', 'pending', 'held', 'unmatched', 'disputed', 'recipients')
) not valid;
alter table postings drop constraint postings_credit_check;
-- contract since 0067: it refuses less than the one before.
alter table postings add constraint postings_credit_check check (
  credit in ('bank', 'available', 'pending', 'held', 'unmatched', 'disputed', 'recipients')
) not valid;
-- A dispute holds its money also if it was withdrawn, and what comes back of recipients is theirs.
alter table postings drop constraint postings_available_check;
-- contract since 0067: it refuses less than the one before.
alter table postings add constraint postings_available_check check (
  available >= 0 or debit <> 'available' or kind in ('BANK_RETURN', 'DISPUTE_HELD', 'SPLIT_GIVEN')
) not valid;

-- A payment that pays no charge is disputed: nobody decides about it until that is over.
alter table payments drop constraint payments_status_check;
-- contract since 0067: it refuses less than the one before.
alter table payments add constraint payments_status_check check (status in
  ('MATCHED', 'UNMATCHED', 'ACCEPTED', 'REFUNDING', 'REFUNDED', 'DISPUTED')) not valid;

-- How much of it was held for a dispute. The version before does not know it: there it is null.
alter table refunds add column disputed bigint;
alter table refunds add constraint refunds_disputed
  check (disputed between 0 and amount) not valid;

-- When the bank was last asked about disputes.
alter table reconciliations add column disputes_asked_at timestamptz;

create table disputes (
  company_id uuid not null,
  id uuid not null,
  -- The bank's own id. Null: the bank has only returned the money.
  bank_id text,
  end_to_end_id text not null,
  payment_source text not null check (payment_source in ('simulated', 'bank')),
  -- The charge that the payment has paid.
  charge_id uuid,
  amount bigint not null check (amount between 1 and 999999999999),
  reason text not null
    check (reason in ('FRAUD', 'OPERATIONAL_FAILURE', 'SUBSCRIPTION_CLAIM', 'OTHER')),
  status text not null
    check (status in ('OPEN', 'DEFENDED', 'ACCEPTED', 'WON', 'LOST', 'CANCELED')),
  -- The account that the money is held from.
  held_from text check (held_from in ('available', 'pending', 'unmatched')),
  -- What was held when it was opened, what is held now, and what was given back at its end.
  hold bigint not null check (hold between 0 and amount),
  held bigint not null check (held between 0 and amount),
  released bigint not null check (released between 0 and amount),
  -- The refund or the return that took the money last.
  refund_id uuid,
  deadline timestamptz,
  -- When the company is told of the deadline next.
  notice_at timestamptz,
  -- The text of the defense, sealed.
  defense_sealed bytea,
  defended_at timestamptz,
  -- When the bank took the defense, and why it did not.
  sent_at timestamptz,
  failure text,
  -- Set before the bank first gets the defense, so that whoever comes later asks before.
  ordered_at timestamptz,
  attempts integer not null default 0,
  -- When the bank gets the defense, or is asked about it. Null: there is nothing to send.
  next_attempt_at timestamptz,
  -- When the bank opened it.
  opened_at timestamptz not null,
  created_at timestamptz not null,
  closed_at timestamptz,
  primary key (company_id, id),
  check ((status in ('OPEN', 'DEFENDED')) = (closed_at is null)),
  check (status <> 'DEFENDED' or defended_at is not null),
  check (notice_at is null or status = 'OPEN')
);
comment on table disputes is
  'Claims of payers for money of payments (MED), with what is held for them and the defense.';
create unique index disputes_bank on disputes (company_id, payment_source, bank_id)
  where bank_id is not null;
-- A payment has one open dispute at a time.
create unique index disputes_open on disputes (company_id, end_to_end_id, payment_source)
  where status in ('OPEN', 'DEFENDED');
create index disputes_payment on disputes (company_id, end_to_end_id);
create index disputes_charge on disputes (company_id, charge_id) where charge_id is not null;
create index disputes_status on disputes (company_id, status, id);
create index disputes_held on disputes (company_id, charge_id) where held > 0;
create index disputes_notices on disputes (notice_at) where notice_at is not null;
create index disputes_defenses on disputes (next_attempt_at) where next_attempt_at is not null;

create table dispute_files (
  company_id uuid not null,
  dispute_id uuid not null,
  position integer not null check (position between 1 and 5),
  type text not null check (type in ('application/pdf', 'image/png', 'image/jpeg')),
  size integer not null check (size > 0),
  -- Name and content, sealed.
  sealed bytea not null,
  primary key (company_id, dispute_id, position)
);
comment on table dispute_files is 'Files of the defenses of disputes, sealed.';

create table simulated_disputes (
  account_id uuid not null,
  id uuid not null,
  -- The order that opened it: the same order again changes nothing.
  order_id text not null,
  end_to_end_id text not null,
  amount bigint not null constraint simulated_disputes_amount check (amount > 0),
  reason text not null constraint simulated_disputes_reason
    check (reason in ('FRAUD', 'OPERATIONAL_FAILURE', 'SUBSCRIPTION_CLAIM', 'OTHER')),
  status text not null constraint simulated_disputes_status
    check (status in ('OPEN', 'DEFENDED', 'WON', 'LOST', 'CANCELED')),
  opened_at timestamptz not null,
  deadline timestamptz not null,
  decided_at timestamptz,
  constraint simulated_disputes_pkey primary key (account_id, id)
);
comment on table simulated_disputes is 'Disputes of payments at the simulated bank.';
create unique index simulated_disputes_order on simulated_disputes (account_id, order_id);
create unique index simulated_disputes_open on simulated_disputes (account_id, end_to_end_id)
  where status in ('OPEN', 'DEFENDED');
create index simulated_disputes_payment on simulated_disputes (account_id, end_to_end_id);
