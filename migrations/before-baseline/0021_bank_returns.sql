-- Money that a bank has returned by itself, without an order of ours.

-- Why the bank has returned the money. Null: the company has ordered the refund.
alter table refunds add column bank_reason text
  check (bank_reason in ('FRAUD', 'OPERATIONAL_FAILURE', 'SUBSCRIPTION_CLAIM', 'OTHER'));
alter table refunds add constraint refunds_of_banks_are_done
  check (bank_reason is null or status = 'COMPLETED') not valid;
create index refunds_payment on refunds (company_id, end_to_end_id);
-- A return is recorded once.
create unique index refunds_bank_return
  on refunds (company_id, end_to_end_id, payment_source, return_id) where bank_reason is not null;

-- How much of a payment the bank has returned while it waited for a decision.
alter table payments add column returned bigint not null default 0;
alter table payments add constraint payments_returned
  check (returned between 0 and amount) not valid;

-- What the bank returns by itself is gone, however little is available. Nothing else that lowers
-- the available balance may leave it below zero.
alter table balances drop constraint balances_available_check;
alter table balances add constraint balances_available_check
  check (available between -9007199254740991 and 9007199254740991);
alter table postings drop constraint postings_available_check;
alter table postings add constraint postings_available_check
  check (available >= 0 or debit <> 'available' or kind = 'BANK_RETURN') not valid;

-- Up to when the returns of a bank were listed.
alter table reconciliations add column returns_listed_at timestamptz;
