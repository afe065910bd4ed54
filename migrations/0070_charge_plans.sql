-- One sale as several charges with due dates. Its charges have its id in their terms; the state of a
-- plan is that of its charges.
create table charge_plans (
  company_id uuid not null,
  id uuid not null,
  -- In cents. The amounts of the charges add up to it.
  total bigint not null check (total between 1000 and 999999999999),
  -- In the order of their due dates.
  charge_ids uuid[] not null check (cardinality(charge_ids) between 2 and 60),
  dev_mode boolean not null,
  external_id text check (length(external_id) between 1 and 255),
  description text check (length(description) <= 130),
  -- Of the request that made it, by which a repeated one finds it while something of it is open.
  fingerprint bytea,
  created_at timestamptz not null,
  primary key (company_id, id),
  constraint charge_plans_company foreign key (company_id) references companies
);
comment on table charge_plans is 'Sales that are paid in several charges with due dates.';
create unique index charge_plans_open_external_id
  on charge_plans (company_id, external_id, fingerprint) where fingerprint is not null;
