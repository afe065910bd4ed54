-- no transaction
-- Lets customers be found by their phone, which is sealed: a keyed hash of it, or nothing if there
-- is none. Null are customers whom the task `index phones` has not come to.
alter table customers add column if not exists phone_index bytea;
create index concurrently customers_phone on customers (company_id, phone_index, id)
  where phone_index > '';
create index concurrently customers_without_phone_index on customers (company_id, id)
  where phone_index is null;
