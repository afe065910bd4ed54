-- Withdrawals above an amount need the approval of a second person.

create table approval_limits (
  company_id uuid primary key references companies,
  -- A withdrawal of more than this needs an approval. Without a row none does.
  above bigint not null check (above between 0 and 999999999999),
  set_by uuid not null references people,
  set_at timestamptz not null
);

alter table withdrawals
  -- Who has started it in the dashboard. Null: an API key.
  add column requested_by uuid references people,
  -- Decided when it is started, so that another limit later changes nothing.
  add column needs_approval boolean not null default false,
  add column approved_by uuid references people,
  add column approved_at timestamptz;

-- Whatever a process does, no money leaves before the approval, and nobody approves their own.
alter table withdrawals
  add constraint withdrawals_approved check (
    status not in ('PROCESSING', 'COMPLETED', 'FAILED') or not needs_approval
      or approved_at is not null) not valid,
  add constraint withdrawals_approval check (
    (approved_at is null) = (approved_by is null) and (approved_at is null or needs_approval)
  ) not valid,
  add constraint withdrawals_approved_by_another check (
    approved_by is null or requested_by is null or approved_by <> requested_by) not valid;
