-- A company that an operator has suspended. Null: it is not. In real time.
alter table companies add column suspended_at timestamptz;
create index companies_suspended on companies (id) where suspended_at is not null;
