create table saved_views (
  company_id uuid not null references companies,
  person_id uuid not null,
  id uuid not null,
  -- Which list it is of.
  list text not null check (list in ('charges', 'customers', 'subscriptions')),
  -- Its name and filters. What somebody searches for may tell who a payer is, so both are sealed.
  sealed bytea not null,
  created_at timestamptz not null,
  primary key (company_id, person_id, id)
);
comment on table saved_views is 'Filters of lists that a person keeps under a name, for themselves.';
