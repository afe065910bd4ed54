-- no transaction
alter table companies validate constraint companies_new_codes;
-- The charges of a link, newest first.
create index concurrently if not exists charges_of_link on charges (company_id, link_id, id)
  where link_id is not null;
