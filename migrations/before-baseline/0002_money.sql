-- Money. Every movement is one posting with a debit, a credit and an amount above zero, so that the
-- books sum to zero by their form. `bank` is what the bank holds for the company: a debit raises it. The
-- other accounts are what we owe the company: a credit raises them.

create table balances (
  company_id uuid primary key references companies,
  -- How many postings the company has: the number of its last one.
  entries bigint not null check (entries >= 0),
  available bigint not null check (available between 0 and 9007199254740991),
  pending bigint not null check (pending between 0 and 9007199254740991),
  held bigint not null check (held between 0 and 9007199254740991),
  unmatched bigint not null check (unmatched between 0 and 9007199254740991)
);

create table postings (
  company_id uuid not null,
  -- Counts from 1 without a gap, in the order in which the balance row was locked.
  entry bigint not null check (entry > 0),
  kind text not null,
  -- The business event: endToEndId of a payment, id of a refund or of a withdrawal.
  ref text not null,
  debit text not null check (debit in ('bank', 'available', 'pending', 'held', 'unmatched')),
  credit text not null check (credit in ('bank', 'available', 'pending', 'held', 'unmatched')),
  amount bigint not null check (amount > 0),
  charge_id uuid,
  -- The balances after this posting.
  available bigint not null check (available >= 0),
  pending bigint not null check (pending >= 0),
  held bigint not null check (held >= 0),
  unmatched bigint not null check (unmatched >= 0),
  created_at timestamptz not null,
  primary key (company_id, entry),
  check (debit <> credit)
);
-- Nothing is booked twice.
create unique index postings_once on postings (company_id, kind, ref);
-- Periods of a statement. Rows lie in the order of their time, so the smallest of indexes serves.
create index postings_time on postings using brin (created_at) with (pages_per_range = 16);
create index charges_time on charges using brin (created_at) with (pages_per_range = 16);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'postings are never changed or deleted: post the correction';
end $$;
create trigger postings_append_only before update or delete on postings
  for each row execute function refuse_change();
create trigger postings_not_truncated before truncate on postings
  for each statement execute function refuse_change();

-- A payer's bank finds who is paid by the Pix key.
create index companies_pix_key on companies (pix_key);
alter table companies add column language text not null default 'pt' check (language in ('pt', 'en'));

alter table charges
  -- When the money becomes withdrawable: the payment and the company's delay.
  add column settles_at timestamptz,
  -- Whether its payment stands in the ledger. That of a live company's dev-mode charge does not.
  add column booked boolean not null default false,
  -- What was returned to the payer, or is on its way there.
  add column refunded bigint not null default 0,
  -- The static code that was paid, for kind STATIC.
  add column static_code_id uuid,
  add constraint charges_refunded check (refunded between 0 and amount);
update charges set settles_at = payment_date where payment_status = 'PAID';
create index charges_unsettled on charges (settles_at) where payment_status = 'PAID';
alter table charges add constraint charges_settles
  check (payment_status <> 'PAID' or settles_at is not null);

-- Every Pix that arrived, once, by the scheme's own id.
create table payments (
  company_id uuid not null,
  end_to_end_id text not null check (length(end_to_end_id) between 1 and 64),
  -- In the order of arrival.
  id uuid not null,
  txid text,
  amount bigint not null check (amount between 1 and 999999999999),
  -- The charge that it names, whether or not it has paid it.
  charge_id uuid,
  status text not null
    check (status in ('MATCHED', 'UNMATCHED', 'ACCEPTED', 'REFUNDING', 'REFUNDED')),
  -- Why it pays no charge.
  reason text check (reason in ('LATE', 'CANCELED', 'DUPLICATE', 'WRONG_AMOUNT', 'UNKNOWN')),
  booked boolean not null,
  received_at timestamptz not null,
  created_at timestamptz not null,
  primary key (company_id, end_to_end_id),
  check ((status = 'MATCHED') = (reason is null))
);
create index payments_unmatched on payments (company_id, status, id) where reason is not null;

-- What a bank has told us, as it told it: stored before it is answered, confirmed before it counts.
create table bank_callbacks (
  company_id uuid not null,
  id uuid not null,
  provider text not null,
  -- May name the payer, so it is sealed.
  sealed bytea not null,
  received_at timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  processed_at timestamptz,
  primary key (company_id, id)
);
create index bank_callbacks_due on bank_callbacks (next_attempt_at) where processed_at is null;
create index bank_callbacks_age on bank_callbacks (processed_at) where processed_at is not null;

-- Up to when the bank was asked what has arrived, and when it is asked next.
create table reconciliations (
  company_id uuid primary key references companies,
  asked_until timestamptz not null,
  next_attempt_at timestamptz not null
);
create index reconciliations_due on reconciliations (next_attempt_at);

create table refunds (
  company_id uuid not null,
  id uuid not null,
  -- The payment that goes back, whole or in part.
  end_to_end_id text not null,
  charge_id uuid,
  amount bigint not null check (amount between 1 and 999999999999),
  comment text check (length(comment) <= 140),
  -- The account that the money is held from.
  source text not null check (source in ('available', 'pending', 'unmatched')),
  booked boolean not null,
  status text not null check (status in ('PROCESSING', 'COMPLETED', 'FAILED')),
  failure text,
  -- Set before the bank is first told, so that whoever comes later asks before telling again.
  ordered_at timestamptz,
  return_id text,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  primary key (company_id, id),
  check ((status = 'PROCESSING') = (finished_at is null)),
  check ((status = 'COMPLETED') = (return_id is not null)),
  check ((status = 'FAILED') = (failure is not null))
);
create index refunds_charge on refunds (company_id, charge_id, id) where charge_id is not null;
create index refunds_due on refunds (next_attempt_at) where status = 'PROCESSING';

create table withdrawals (
  company_id uuid not null,
  id uuid not null,
  value bigint not null check (value between 1 and 999999999999),
  -- The Pix key that the money goes to.
  destination text not null,
  status text not null
    check (status in ('PENDING_OTP', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED', 'CANCELED')),
  failure text,
  -- A keyed hash; the key is not in the database. Gone with the wait for it.
  otp_hash bytea,
  otp_expires_at timestamptz not null,
  otp_attempts integer not null default 0 check (otp_attempts between 0 and 5),
  otp_sent integer not null default 1,
  ordered_at timestamptz,
  end_to_end_id text,
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  confirmed_at timestamptz,
  finished_at timestamptz,
  primary key (company_id, id),
  check ((status = 'PENDING_OTP') = (otp_hash is not null)),
  check ((status in ('PENDING_OTP', 'PROCESSING')) = (finished_at is null)),
  check ((status = 'COMPLETED') = (end_to_end_id is not null)),
  check ((status = 'PROCESSING') = (next_attempt_at is not null)),
  check (status not in ('PROCESSING', 'COMPLETED', 'FAILED') or confirmed_at is not null)
);
-- The 409 of the contract: one pending withdrawal a company, under any parallelism.
create unique index withdrawals_one_pending on withdrawals (company_id)
  where status in ('PENDING_OTP', 'PROCESSING');
create index withdrawals_due on withdrawals (next_attempt_at) where status = 'PROCESSING';
create index withdrawals_expiring on withdrawals (otp_expires_at) where status = 'PENDING_OTP';

-- A mail is due work like any other. What it says is sealed, and gone once it is sent.
create table mails (
  company_id uuid not null,
  id uuid not null,
  kind text not null,
  sealed bytea,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  -- A one-time code or a link is of no use after its end; other mails have none.
  expires_at timestamptz,
  created_at timestamptz not null,
  finished_at timestamptz,
  outcome text check (outcome in ('SENT', 'FAILED', 'EXPIRED')),
  primary key (company_id, id),
  check ((finished_at is null) = (outcome is null)),
  check ((finished_at is null) = (sealed is not null))
);
create index mails_due on mails (next_attempt_at) where finished_at is null;
create index mails_age on mails (finished_at) where finished_at is not null;

-- How far a company's books were checked and found right, and what was wrong when they were not.
create table audits (
  company_id uuid primary key references companies,
  checked_entry bigint not null,
  bank_checked_until timestamptz,
  difference text,
  audited_at timestamptz not null
);
create index audits_differing on audits (company_id) where difference is not null;

-- The simulated bank keeps books of its own, apart from the product's and written in transactions
-- of its own, as a bank would: what it says can be compared with what we have booked.
create schema simulated_bank;
create table simulated_bank.transfers (
  account_id uuid not null,
  end_to_end_id text not null,
  direction text not null check (direction in ('received', 'sent', 'returned')),
  -- The order that it carries out: the same order again changes nothing.
  order_id text,
  -- What it pays (received), or the payment that goes back (returned).
  txid text,
  returns text,
  amount bigint not null check (amount > 0),
  at timestamptz not null,
  primary key (account_id, end_to_end_id)
);
create unique index transfers_order on simulated_bank.transfers (account_id, order_id)
  where order_id is not null;
create index transfers_time on simulated_bank.transfers (account_id, at);

-- Companies that were there before the ledger: a sandbox gets its play money now.
insert into balances (company_id, entries, available, pending, held, unmatched)
select id, case mode when 'sandbox' then 1 else 0 end, case mode when 'sandbox' then 100000 else 0 end,
  0, 0, 0 from companies;
insert into postings (company_id, entry, kind, ref, debit, credit, amount, available, pending, held,
  unmatched, created_at)
select id, 1, 'OPENING', 'opening', 'bank', 'available', 100000, 100000, 0, 0, 0, now()
from companies where mode = 'sandbox';
insert into reconciliations (company_id, asked_until, next_attempt_at)
select id, now(), now() from companies;
