-- The people who sign in to the dashboard and to the operator's pages.

create table people (
  id uuid primary key,
  -- In lower case.
  email text not null unique check (email = lower(email) and length(email) between 3 and 254),
  name text not null check (length(name) between 1 and 255),
  -- A hash by argon2id, with its parameters. Null: none was chosen yet.
  password text,
  language text not null default 'pt' check (language in ('pt', 'en')),
  -- Whether the person may see the whole installation.
  is_operator boolean not null default false,
  -- The sealed secret of the app that makes codes. It counts once it is confirmed.
  totp_secret bytea,
  totp_confirmed_at timestamptz,
  -- The period of the last code that was accepted, because each code works once.
  totp_last_period bigint,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table memberships (
  company_id uuid not null references companies,
  person_id uuid not null references people,
  role text not null check (role in ('owner', 'finance', 'support', 'developer', 'viewer')),
  created_at timestamptz not null,
  primary key (company_id, person_id)
);
create index memberships_person on memberships (person_id);

-- One row for each browser that is signed in. A session that ends is deleted.
create table sessions (
  id uuid primary key,
  person_id uuid not null references people,
  -- The cookie has the token, and the database only its keyed hash.
  token_hash bytea not null unique,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- When the person has last proved who they are, by password or passkey.
  confirmed_at timestamptz,
  -- Whether a second factor was given in this session.
  has_second_factor boolean not null default false,
  address text not null,
  device text not null
);
create index sessions_person on sessions (person_id);

-- Links that work once: to sign in, to accept an invitation, to choose a new password.
create table person_links (
  token_hash bytea primary key,
  kind text not null check (kind in ('sign-in', 'invitation', 'password')),
  -- Null: an invitation of somebody who is not known yet.
  person_id uuid references people,
  email text not null,
  company_id uuid references companies,
  role text check (role in ('owner', 'finance', 'support', 'developer', 'viewer')),
  makes_operator boolean not null default false,
  language text not null default 'pt' check (language in ('pt', 'en')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  check (kind <> 'invitation' or makes_operator or (company_id is not null and role is not null))
);
create index person_links_company on person_links (company_id) where company_id is not null;
create index person_links_person on person_links (person_id) where person_id is not null;
create index person_links_expiry on person_links (expires_at);

create table recovery_codes (
  person_id uuid not null references people,
  hash bytea not null,
  used_at timestamptz,
  primary key (person_id, hash)
);

create table passkeys (
  -- As the browser names it, in base64url.
  id text primary key,
  person_id uuid not null references people,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null check (length(name) between 1 and 100),
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_person on passkeys (person_id);
