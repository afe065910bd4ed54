-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- Companies live in several databases, the places, and people in the first of them. So a table of a
-- company names no person by a constraint, and a table of people no company.
alter table memberships drop constraint memberships_company_id_fkey;
alter table person_links drop constraint person_links_company_id_fkey;
alter table approval_limits drop constraint approval_limits_set_by_fkey;
alter table withdrawals
  drop constraint withdrawals_requested_by_fkey,
  drop constraint withdrawals_approved_by_fkey;
-- A company that moves comes last: its many records are copied before.
alter table customers drop constraint customers_company_id_fkey;
alter table products drop constraint products_company_id_fkey;
alter table recurrences drop constraint recurrences_company_id_fkey;
alter table static_codes drop constraint static_codes_company_id_fkey;

alter table installation
  -- The same in all places of an installation. Null: it has never had several.
  add column id uuid,
  -- Which of PLACES this database is, from 1 on.
  add column place integer check (place >= 1),
  -- How many there are. The first place knows it.
  add column places integer;

-- Companies that are being moved from or to this place.
create table company_moves (
  company_id uuid primary key,
  -- leaving: it is copied, and lives here. left: it lives in the other place.
  -- arriving: it is copied to here. ready: it lives here as soon as the other place has 'left'.
  state text not null check (state in ('leaving', 'left', 'arriving', 'ready')),
  other_place integer not null,
  -- Until then tasks leave it alone in the old place too, because it is about to leave.
  quiet_until timestamptz,
  -- How far each table is copied: the key of the last row, or an empty key when it is done.
  progress jsonb not null default '{}',
  since timestamptz not null default now()
);

-- Rows of a company that is being copied that were changed meanwhile, by their keys.
create table company_changes (
  id bigint generated always as identity primary key,
  company_id uuid not null,
  table_name text not null,
  key text[] not null
);
create index company_changes_company on company_changes (company_id, id);

-- Is called for each row of a company that moves, by triggers that exist only meanwhile. Writers
-- share a lock, which the mover takes alone for the moment in which the company changes its place.
-- Whoever writes then is refused with SQLSTATE VM001, and is to come again.
create function watch_moving_company() returns trigger language plpgsql as $$
declare
  company uuid := tg_argv[0];
  now_state text;
begin
  if current_setting('vintem.mover', true) = 'on' then
    return null;
  end if;
  if not pg_try_advisory_xact_lock_shared(1986618989, hashtext(company::text)) then
    raise exception 'the company is changing its place' using errcode = 'VM001';
  end if;
  select state into now_state from company_moves where company_id = company;
  if now_state is null then
    return null;
  end if;
  if now_state <> 'leaving' then
    -- What is deleted here because it is old is deleted in the other place too.
    if tg_op = 'DELETE' then
      return null;
    end if;
    raise exception 'the company lives in another place' using errcode = 'VM001';
  end if;
  insert into company_changes (company_id, table_name, key)
  select company, tg_argv[1], array(
    select to_jsonb(case when tg_op = 'DELETE' then old else new end) ->> c.name
    from unnest(tg_argv[2:]) with ordinality c (name, n) order by c.n);
  return null;
end $$;

-- The same for logs that are written after the answer: they are copied once more after the move.
create function note_moving_log() returns trigger language plpgsql as $$
begin
  if current_setting('vintem.mover', true) is distinct from 'on'
    and exists (select from company_moves where company_id = tg_argv[0]::uuid) then
    insert into company_changes (company_id, table_name, key)
    select tg_argv[0]::uuid, tg_argv[1], array(
      select to_jsonb(new) ->> c.name
      from unnest(tg_argv[2:]) with ordinality c (name, n) order by c.n);
  end if;
  return null;
end $$;

-- Only what is left behind by a company that lives elsewhere may be deleted.
create function is_left_behind(company uuid) returns boolean language sql stable as $$
  select current_setting('vintem.mover', true) = 'on'
    and exists (select from company_moves
                where company_id = company and state in ('left', 'arriving'))
$$;
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if is_left_behind(old.company_id) then
      return old;
    end if;
  end if;
  raise exception 'postings are never changed or deleted: post the correction';
end $$;
create or replace function refuse_change_of_activity() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('vintem.mover', true) = 'on' then
    return null;
  end if;
  raise exception 'the activity log is never changed or deleted';
end $$;
create function refuse_removal_of_activity() returns trigger language plpgsql as $$
begin
  if is_left_behind(old.company_id) then
    return old;
  end if;
  raise exception 'the activity log is never changed or deleted';
end $$;
create trigger activity_removed before delete on activity
  for each row execute function refuse_removal_of_activity();
