-- no transaction
-- Open charges with a due date by what they ask before anything is added or taken off.
create index concurrently if not exists charges_due_amount on charges (company_id, amount, id)
  where due is not null and status = 'OPEN';
alter table static_codes validate constraint static_codes_external_id;
