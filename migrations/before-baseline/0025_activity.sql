-- What was changed in a company, by whom, and from where. Rows are only added.
create table activity (
  company_id uuid not null references companies,
  -- Its time orders the entries.
  id uuid not null,
  at timestamptz not null,
  author_kind text not null check (author_kind in ('person', 'key', 'command-line', 'service')),
  -- The person or the API key.
  author_id uuid,
  -- At that time: the e-mail address, the name of the key, or the user of the machine.
  author_name text not null,
  -- The address that the request came from.
  address text,
  -- An operationId of the API, or a name such as key.create.
  action text not null,
  record_type text,
  -- As clients know the record.
  record_id text,
  -- Names of changed fields, amounts: no personal data and no secrets.
  details jsonb,
  primary key (company_id, id)
);
create index activity_author on activity (company_id, author_kind, author_id, id);
create index activity_action on activity (company_id, action, id);

create function refuse_change_of_activity() returns trigger language plpgsql as $$
begin
  raise exception 'the activity log is never changed or deleted';
end $$;
create trigger activity_append_only before update or delete or truncate on activity
  for each statement execute function refuse_change_of_activity();
