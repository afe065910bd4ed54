-- Sandbox companies that others have made with their keys, and for how long.
create table sandboxes (
  company_id uuid primary key references companies,
  -- The company whose key has made it, or the first of several that have made each other.
  made_by uuid not null,
  -- In real time, whatever its clock says.
  expires_at timestamptz not null,
  -- Since when it has no keys. All that it has is removed some time after.
  ended_at timestamptz
);
comment on table sandboxes is
  'Sandbox companies made by POST /sandbox. They are the only ones that are ever removed.';
create index sandboxes_of_company on sandboxes (made_by, expires_at);
create index sandboxes_expiring on sandboxes (expires_at);

-- Only what is left behind by a company that lives elsewhere, or by a sandbox that has ended, may be
-- deleted.
create or replace function is_left_behind(company uuid) returns boolean language sql stable as $$
  select current_setting('vintem.mover', true) = 'on'
    and (exists (select from company_moves
                 where company_id = company and state in ('left', 'arriving'))
      or exists (select from sandboxes where company_id = company and ended_at is not null))
$$;
