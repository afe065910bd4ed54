-- The bank of a live company. What opens its account is sealed, and gone when it is disconnected.
create table bank_connections (
  company_id uuid primary key references companies,
  -- Another with every new connection: whoever remembers the old one notices.
  id uuid not null,
  profile text not null,
  sealed bytea not null,
  -- The half of the callback's address that nobody can guess.
  callback_id uuid not null,
  -- Who sends withdrawals: an operator by hand, or the bank.
  payouts text not null check (payouts in ('manual', 'bank')),
  -- Where withdrawals go, if not to the key by which the company collects.
  payout_key text,
  certificate_ends_at timestamptz not null,
  certificate_warned_at timestamptz,
  connected_at timestamptz not null
);

-- A charge that a bank may have been told of and that is not written down yet. It lasts for the
-- time of a request; what stays longer is taken back from the bank.
create table charge_intents (
  company_id uuid not null,
  id uuid not null,
  idempotency_key text,
  fingerprint bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- While it is in the future, somebody is at work on it.
  leased_until timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  primary key (company_id, id)
);
create unique index charge_intents_key on charge_intents (company_id, idempotency_key)
  where idempotency_key is not null;
create index charge_intents_due on charge_intents (next_attempt_at);

-- Once in a while a bank is asked further back, for what it listed late.
alter table reconciliations add column looked_back_at timestamptz;

-- Money that an operator sends by hand is not taken up by anybody else.
alter table withdrawals add column manual boolean not null default false;
alter table withdrawals drop constraint withdrawals_check3;
alter table withdrawals add constraint withdrawals_taken_up
  check ((status = 'PROCESSING' and not manual) = (next_attempt_at is not null));
