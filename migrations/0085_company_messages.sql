create table company_messages (
  company_id uuid not null references companies,
  -- What it is sent with.
  sort text not null check (sort in ('charge', 'link', 'overdue', 'receipt')),
  text text not null check (length(text) between 1 and 1000),
  primary key (company_id, sort)
);
comment on table company_messages is
  'What companies write to payers when they send a link or a receipt, where the words are their own.';
