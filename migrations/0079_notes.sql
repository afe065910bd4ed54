-- What people of a company write down about a charge or a customer, for each other.
create table notes (
  company_id uuid not null,
  id uuid not null,
  record_type text not null check (record_type in ('charge', 'customer')),
  record_id uuid not null,
  -- Who has written it, and the name that they had then.
  author_id uuid not null,
  author_name text not null,
  -- The text. It is sealed, because people write about payers.
  sealed bytea not null,
  created_at timestamptz not null,
  primary key (company_id, id)
);
comment on table notes is 'Notes of a company’s people on charges and customers; the texts are sealed.';
create index notes_record on notes (company_id, record_id, id);
