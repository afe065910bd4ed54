-- The charges of somebody whose data were erased have the id of the erasure in place of that of the
-- customer, so that the facts which stay can still be shown to whoever knows it.
create table erasures (
  company_id uuid not null references companies,
  id uuid not null,
  -- While it goes on: by what it is found again after an interruption, and what it looks for. Both
  -- are destroyed at its end, so that nothing leads from a tax id to it.
  tax_id_index bytea,
  sealed bytea,
  -- How much was erased, by kind.
  counts jsonb not null default '{}',
  began_at timestamptz not null,
  finished_at timestamptz,
  primary key (company_id, id),
  constraint erasures_finished
    check ((finished_at is null) = (sealed is not null)
      and (finished_at is null) = (tax_id_index is not null))
);
comment on table erasures is
  'Erasures of the data of payers: that they were done, and nothing of whom they were about.';
create unique index erasures_under_way on erasures (company_id, tax_id_index)
  where finished_at is null;
