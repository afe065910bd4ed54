create table counter_sales (
  company_id uuid not null,
  charge_id uuid not null,
  -- Who has typed the amount.
  person_id uuid not null,
  created_at timestamptz not null,
  primary key (company_id, charge_id),
  foreign key (company_id, charge_id) references charges (company_id, id)
);
comment on table counter_sales is
  'Charges that were made at a counter, for whoever stands there and gives no name.';
-- The sales of a day.
create index counter_sales_made on counter_sales (company_id, created_at);
