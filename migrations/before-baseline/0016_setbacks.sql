-- Companies whose work fails in a task, and until when the task leaves them alone. It is written for
-- operators to see; each worker keeps its own list in memory.
create table setbacks (
  task text not null,
  company_id uuid not null,
  failures integer not null,
  error text not null,
  since timestamptz not null,
  until timestamptz not null,
  primary key (task, company_id)
);
