-- Finding charges by what people know of them.

-- The e-mail address that a charge names its payer by, as a keyed hash of its lower-case form.
alter table charges add column email_index bytea;
-- The same of charges from before this migration. A table of its own, because filling the column of
-- old charges would rewrite each of them and all their indexes.
create table charge_emails (
  company_id uuid not null,
  email_index bytea not null,
  charge_id uuid not null,
  primary key (company_id, email_index, charge_id)
);

-- Tax ids that customers had before they were changed or deleted. The charges of a tax id are found
-- through its customers, by the index that charges have on those.
create table former_tax_ids (
  company_id uuid not null,
  tax_id_index bytea not null,
  customer_id uuid not null,
  primary key (company_id, tax_id_index, customer_id)
);

-- Work on charges from before this migration: up to where a task has come. The row is deleted when
-- it is done.
create table backfills (
  name text primary key,
  company_id uuid not null,
  charge_id uuid not null
);
insert into backfills (name, company_id, charge_id)
select 'charge search', '00000000-0000-0000-0000-000000000000',
  '00000000-0000-0000-0000-000000000000'
where exists (select from charges);

-- Who has sent money that pays no charge, as the bank names them.
alter table payments add column payer_sealed bytea;
alter table payments add constraint payments_payer check (payer_sealed is null or reason is not null)
  not valid;
alter table simulated_bank.transfers add column payer_sealed bytea;
