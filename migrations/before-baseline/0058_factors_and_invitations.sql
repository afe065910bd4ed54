-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- From when on the second factors of a person count. Null: since there was one.
alter table people add column factor_counts_at timestamptz;

-- Whether the session began with a link that was mailed to the person, or that the operator gave.
alter table sessions add column by_link boolean not null default false;

-- Who invites. Null: the command line. The invitation ends with their right to invite.
alter table person_links add column invited_by uuid;

-- Wrong passwords and codes of an hour. When the hour is over they become one entry of the activity
-- log, which is never changed, and the row goes.
create table wrong_sign_ins (
  -- Whose account. Zeros: an e-mail that nobody has, or an account whose password no longer works.
  person_id uuid not null,
  kind text not null check (kind in ('password', 'code')),
  hour timestamptz not null,
  tries integer not null,
  -- Where the last one came from.
  address text not null,
  primary key (person_id, kind, hour)
);
