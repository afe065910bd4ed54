-- no transaction
-- Each filter of GET /charge by an index. They are built while charges go on being written.

-- Periods of creation and of payment, each newest first.
create index concurrently charges_created on charges (company_id, created_at, id);
create index concurrently charges_paid on charges (company_id, payment_date, id)
  where payment_date is not null;

-- Statuses, kind and devMode in any combination, in the place of the index on the status alone.
create index concurrently charges_state on charges
  (company_id, status, payment_status, kind, dev_mode, id);

create index concurrently charges_amount on charges (company_id, amount, id);

create index concurrently charges_email on charges (company_id, email_index, id)
  where email_index is not null;

-- The sales of a static code.
create index concurrently charges_static_code on charges (company_id, static_code_id, id)
  where static_code_id is not null;

drop index concurrently if exists charges_status;
drop index concurrently if exists charges_time;
