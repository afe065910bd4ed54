-- All tables of a new database. It makes what the migrations in `before-baseline` make one after
-- the other, and is recorded as all of them, so that later migrations find the same in every
-- database.
--
-- Every table of company data has company_id first in its primary key, and joins stay inside one
-- company. Companies live in several databases, the places, and people in the first of them. So a
-- table of a company names no person by a constraint, and a table of people no company.

-- An older version may have made this table, and nothing else.
alter table schema_migrations add column if not exists needs integer not null default 0;
comment on table schema_migrations is 'Migrations that were applied to this database.';

-- The installation, and its databases.

-- The id of the secret key is here, so that a server with another secret refuses to start instead
-- of writing what nobody can open.
create table installation (
  only_row boolean primary key default true check (only_row),
  secret_key_id text not null,
  created_at timestamptz not null default now(),
  -- The same in all places of an installation. Null: it has never had several.
  id uuid,
  -- Which of PLACES this database is, from 1 on.
  place integer check (place >= 1),
  -- How many there are. The first place knows it.
  places integer,
  -- Until when pages got addresses without a tag. The version before makes such addresses until its
  -- last server is replaced. A new installation has none, so it has no such time.
  plain_pages_end timestamptz
);
comment on table installation is 'What this database was set up with, in one row.';

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
comment on table company_moves is 'Companies that are being moved from or to this place.';

create table company_changes (
  id bigint generated always as identity primary key,
  company_id uuid not null,
  table_name text not null,
  key text[] not null
);
comment on table company_changes is
  'Rows of a company that moves which were changed while it was copied, by their keys.';
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

-- Each holds an advisory lock on its number for as long as it lives, so that the leases of a dead
-- one are noticed within seconds.
create table workers (
  id bigint primary key,
  started_at timestamptz not null default now()
);
comment on table workers is 'Processes that deliver events.';

-- It is written for operators to see; each worker keeps its own list in memory.
create table setbacks (
  task text not null,
  company_id uuid not null,
  failures integer not null,
  error text not null,
  since timestamptz not null,
  until timestamptz not null,
  primary key (task, company_id)
);
comment on table setbacks is
  'Companies whose work fails in a task, and until when the task leaves them alone.';

-- A row is deleted when its task is done.
create table backfills (
  name text primary key,
  company_id uuid not null,
  charge_id uuid not null
);
comment on table backfills is 'How far tasks have come that complete records of older versions.';

-- Companies.

-- Companies are never deleted, and a company_id is only ever taken from the row of an API key. So
-- the tables that are written thousands of times a second (charges, events, idempotency_keys) do
-- not ask again whether their company exists.
create table companies (
  id uuid primary key,
  name text not null check (length(name) between 1 and 255),
  tax_id text not null check (tax_id ~ '^([0-9]{11}|[A-Z0-9]{12}[0-9]{2})$'),
  email text not null,
  color text not null check (color ~ '^#[0-9a-f]{6}$'),
  image_url text,
  pix_key text not null check (length(pix_key) between 1 and 77),
  city text not null,
  mode text not null check (mode in ('sandbox', 'live')),
  api_version text not null,
  settlement_delay_s integer not null check (settlement_delay_s >= 0),
  static_sales_limit bigint check (static_sales_limit >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  language text not null default 'pt' check (language in ('pt', 'en')),
  -- For a day after a company has changed its e-mail address with its own key, one-time codes still
  -- go to the former address: whoever has stolen a key cannot let them be sent to themselves. Both
  -- are null when codes go to `email`. The end is in real time.
  code_email text,
  code_email_until timestamptz,
  -- Whether payers of the company get a mail when they have paid.
  mails_receipts boolean not null default true,
  -- A company that an operator has suspended. Null: it is not. In real time.
  suspended_at timestamptz,
  -- Whether a sandbox company checks the digits of tax ids as a live one does.
  strict_tax_ids boolean not null default false,
  constraint companies_code_email check ((code_email is null) = (code_email_until is null))
);
comment on table companies is 'Companies that collect money, with their settings.';
-- A payer's bank finds who is paid by the Pix key.
create index companies_pix_key on companies (pix_key);
create index companies_suspended on companies (id) where suspended_at is not null;

create table api_keys (
  company_id uuid not null references companies,
  id uuid not null,
  name text not null,
  hash bytea not null check (length(hash) = 32),
  scopes text[] not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  primary key (company_id, id)
);
comment on table api_keys is
  'API keys of companies: what they may do, and a keyed hash of their secret.';
-- A key arrives before its company is known: it is the one thing that is looked up by its id alone.
create unique index api_keys_id on api_keys (id);

create table logos (
  company_id uuid not null references companies (id),
  -- Of the bytes. It is in the URL, which never shows anything else.
  hash text not null check (hash ~ '^[0-9a-f]{32}$'),
  type text not null check (type in ('image/png', 'image/jpeg')),
  bytes bytea not null check (length(bytes) between 1 and 1048576),
  created_at timestamptz not null,
  primary key (company_id, hash)
);
comment on table logos is
  'Images of companies that we serve ourselves, rebuilt from their essential parts.';

-- The time of such a company is the real one and `ahead_ms`. All times in its records are in its
-- own time, and whoever looks for due work compares them with that. A company without a row has
-- real time.
create table test_clocks (
  company_id uuid primary key references companies,
  -- Never less than before. At most a hundred years.
  ahead_ms bigint not null check (ahead_ms between 0 and 3155760000000),
  -- The moment that the company's time is on its way to; null while it only goes by.
  target timestamptz
);
comment on table test_clocks is 'How far sandbox companies have moved their time forward.';
create index test_clocks_advancing on test_clocks (company_id) where target is not null;

-- People who sign in.

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
  updated_at timestamptz not null,
  -- How often in a row a wrong password was given for a person. After too many, the password no
  -- longer works, and the person chooses a new one by mail.
  wrong_passwords integer not null default 0,
  -- From when on the second factors of a person count. Null: since there was one.
  factor_counts_at timestamptz
);
comment on table people is 'People who sign in to the dashboard and to the operator''s pages.';

create table memberships (
  company_id uuid not null,
  person_id uuid not null references people,
  role text not null check (role in ('owner', 'finance', 'support', 'developer', 'viewer')),
  created_at timestamptz not null,
  primary key (company_id, person_id)
);
comment on table memberships is 'Which people belong to which companies, and in which role.';
create index memberships_person on memberships (person_id);

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
  device text not null,
  -- Whether the session began with a link that was mailed to the person, or that the operator gave.
  by_link boolean not null default false
);
comment on table sessions is 'Browsers that are signed in; a session that ends is deleted.';
create index sessions_person on sessions (person_id);

create table person_links (
  token_hash bytea primary key,
  kind text not null check (kind in ('sign-in', 'invitation', 'password')),
  -- Null: an invitation of somebody who is not known yet.
  person_id uuid references people,
  email text not null,
  company_id uuid,
  role text check (role in ('owner', 'finance', 'support', 'developer', 'viewer')),
  makes_operator boolean not null default false,
  language text not null default 'pt' check (language in ('pt', 'en')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  -- Who invites. Null: the command line. The invitation ends with their right to invite.
  invited_by uuid,
  check (kind <> 'invitation' or makes_operator or (company_id is not null and role is not null))
);
comment on table person_links is
  'Links that work once: to sign in, to accept an invitation, to choose a new password.';
create index person_links_company on person_links (company_id) where company_id is not null;
create index person_links_person on person_links (person_id) where person_id is not null;
create index person_links_expiry on person_links (expires_at);
-- The invitations of an e-mail.
create index person_links_email on person_links (email);

create table recovery_codes (
  person_id uuid not null references people,
  hash bytea not null,
  used_at timestamptz,
  primary key (person_id, hash)
);
comment on table recovery_codes is 'Hashes of the codes that replace a lost second factor once.';

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
comment on table passkeys is 'Public keys of the passkeys of people.';
create index passkeys_person on passkeys (person_id);

create table used_challenges (
  challenge text primary key,
  expires_at timestamptz not null
);
comment on table used_challenges is
  'Challenges that passkeys have signed: each is answered once, and deleted when it expires.';
create index used_challenges_expiry on used_challenges (expires_at);

-- When the hour is over they become one entry of the activity log, which is never changed, and the
-- row is deleted.
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
comment on table wrong_sign_ins is 'Wrong passwords and codes, counted by person and hour.';

-- Customers and products.

-- A name as it is searched for: in small letters and without accents. It is made for each new
-- payer, so it must be fast.
create function fold_name(name text) returns text language sql immutable parallel safe
return case
  -- A name of as many bytes as characters has no accents.
  when octet_length(name) = length(name) then lower(name)
  else translate(lower(normalize(name, NFC)),
    'áàâãäåéèêëíìîïóòôõöúùûüçñýÁÀÂÃÄÅÉÈÊËÍÌÎÏÓÒÔÕÖÚÙÛÜÇÑÝ',
    'aaaaaaeeeeiiiiooooouuuucnyaaaaaaeeeeiiiiooooouuuucny')
end;

-- The version before searched by this.
create function name_words(company_id uuid, name text) returns tsvector
language sql immutable parallel safe
return to_tsvector('simple'::regconfig, regexp_replace(
  regexp_replace(fold_name(name), '[^a-z0-9]+', ' ', 'g'),
  '[a-z0-9]+', replace(company_id::text, '-', '') || '\&', 'g'));

-- The words of a name, each with the company that it belongs to, so that an index finds those of
-- one company. The words are not parsed as a text, in which 019e6db8 is the number 019e6 and a
-- word. A name that ends with another character has the company alone as a word too, for which
-- nobody searches.
create function words_of_name(company_id uuid, name text) returns tsvector
language sql immutable parallel safe
return array_to_tsvector(string_to_array(btrim(replace(
  regexp_replace(' ' || fold_name(name), '[^a-z0-9]+', ' ', 'g'),
  ' ', ' ' || replace(company_id::text, '-', ''))), ' '));

create table customers (
  company_id uuid not null,
  id uuid not null,
  name text not null check (length(name) between 1 and 255),
  status text not null check (status in ('ACTIVE', 'INACTIVE')),
  tax_id_index bytea not null,
  sealed bytea not null,
  -- 'client' came through POST /client, 'charge' was made from a charge's payer.
  origin text not null check (origin in ('client', 'charge')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Lets customers be found by their e-mail address, which is sealed. Null
  -- are customers from before this column, who are found by their charges until they are changed.
  email_index bytea,
  -- Lets customers be found by their phone, which is sealed: a keyed hash of it, or nothing if
  -- there is none. Null are customers whom the task `index phones` has not come to.
  phone_index bytea,
  primary key (company_id, id)
);
comment on table customers is 'Customers of companies; what tells who they are is sealed.';
create index customers_tax_id on customers (company_id, tax_id_index, id);
create unique index customers_one_per_payer on customers (company_id, tax_id_index)
  where origin = 'charge';
create index customers_email on customers (company_id, email_index, id)
  where email_index is not null;
-- Customers by the start of their names.
create index customers_name on customers (company_id, (lower(name)) text_pattern_ops, id);
create index customers_phone on customers (company_id, phone_index, id) where phone_index > '';
create index customers_without_phone_index on customers (company_id, id) where phone_index is null;
create index customers_name_words on customers using gin (words_of_name(company_id, name));

-- The charges of a tax id are found through its customers, by the index that charges have on those.
create table former_tax_ids (
  company_id uuid not null,
  tax_id_index bytea not null,
  customer_id uuid not null,
  primary key (company_id, tax_id_index, customer_id)
);
comment on table former_tax_ids is
  'Tax ids that customers had before they were changed or deleted, as keyed hashes.';

create table products (
  company_id uuid not null,
  id uuid not null,
  name text not null check (length(name) between 1 and 255),
  description text not null,
  price bigint not null check (price between 0 and 999999999999),
  need_shipping boolean not null,
  sku text,
  image_url text,
  categories text[],
  status text not null check (status in ('ACTIVE', 'INACTIVE')),
  marketplace_status text not null
    check (marketplace_status in ('APPROVED', 'ANALYSIS', 'DECLINED', 'INACTIVE')),
  type text not null check (type in ('ONE_TIME', 'RECURRING')),
  frequency text check (frequency in ('WEEKLY', 'MONTHLY', 'SEMIANNUAL', 'ANNUAL')),
  day_due integer check (day_due between 1 and 7),
  day_generate_charge integer check (day_generate_charge between 1 and 28),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (company_id, id),
  check (type = 'ONE_TIME' or frequency is not null)
);
comment on table products is 'Products that companies sell, once or by subscription.';

-- Charges.

create table charges (
  company_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('PIX', 'LINK', 'STATIC', 'RECURRING')),
  amount bigint not null check (amount between 1 and 999999999999),
  status text not null check (status in ('OPEN', 'COMPLETED', 'EXPIRED', 'CANCELED')),
  payment_status text not null
    check (payment_status in ('PENDING', 'PROCESSING', 'PAID', 'RECEIVED', 'EXPIRED', 'REFUNDED')),
  dev_mode boolean not null,
  external_id text check (length(external_id) between 1 and 255),
  -- The hash of the request that made the charge: tells a blind retry from a new sale.
  fingerprint bytea,
  -- The customer that the payer was found as. It may be gone: the charge has its own copy of the
  -- payer, and thousands of inserts a second need not ask for a row that nothing depends on.
  customer_id uuid,
  -- The payer as the merchant named them for this sale; a later change of the customer leaves it
  -- alone.
  payer_name text,
  payer_index bytea,
  payer_sealed bytea,
  -- What only a payment link has: its products as they were when sold, where it leads, what it
  -- asks.
  link jsonb,
  br_code text check (length(br_code) <= 512),
  end_to_end_id text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  payment_date timestamptz,
  -- When the money becomes withdrawable: the payment and the company's delay.
  settles_at timestamptz,
  -- Whether its payment stands in the ledger. That of a live company's dev-mode charge does not.
  booked boolean not null default false,
  -- What was returned to the payer, or is on its way there.
  refunded bigint not null default 0,
  -- The static code that was paid, for kind STATIC.
  static_code_id uuid,
  -- The agreement that a charge is generated by. The payer's bank collects it, so it has no code.
  recurrence_id uuid,
  -- Where a payer wants what they bought sent, as they wrote it on the page of a payment link.
  -- Sealed like all that tells who somebody is or where they live.
  shipping_sealed bytea,
  -- The e-mail address that a charge names its payer by, as a keyed hash of its lower-case form.
  email_index bytea,
  -- What the payer of a charge reads on its page, and in the app of their bank.
  description text,
  -- Cents of the amount of a paid charge that have not arrived.
  shortfall bigint not null default 0,
  primary key (company_id, id),
  check (expires_at > created_at),
  check ((status = 'COMPLETED') = (payment_date is not null)),
  check ((status = 'COMPLETED') = (end_to_end_id is not null)),
  check ((status = 'COMPLETED') = (payment_status in ('PAID', 'RECEIVED', 'REFUNDED'))),
  check ((status = 'EXPIRED') = (payment_status = 'EXPIRED')),
  check ((payer_name is null) = (payer_sealed is null)),
  check (kind <> 'LINK' or link is not null),
  check (shipping_sealed is null or kind = 'LINK'),
  constraint charges_refunded check (refunded between 0 and amount),
  constraint charges_settles
    check (payment_status <> 'PAID' or settles_at is not null),
  -- A charge that waits for money has the code to pay it with.
  constraint charges_code
    check (payment_status <> 'PROCESSING' or br_code is not null or kind = 'RECURRING'),
  constraint charges_recurring check ((kind = 'RECURRING') = (recurrence_id is not null)),
  constraint charges_description check (length(description) between 1 and 140),
  constraint charges_shortfall check (
    shortfall >= 0 and shortfall < amount and refunded <= amount - shortfall
    and (shortfall = 0 or status = 'COMPLETED'))
);
comment on table charges is 'Charges in all states, each with its own copy of the payer.';
-- Sales through static codes, for the monthly limit of individuals.
create index charges_static_sales on charges (company_id, payment_date)
  where kind = 'STATIC' and status = 'COMPLETED';
create index charges_due on charges (expires_at) where status = 'OPEN';
create unique index charges_open_external_id on charges (company_id, external_id, fingerprint)
  where status = 'OPEN' and external_id is not null;
create index charges_external_id on charges (company_id, external_id, id)
  where external_id is not null;
create index charges_customer on charges (company_id, customer_id, id);
create index charges_unsettled on charges (settles_at) where payment_status = 'PAID';
-- What is due for one company is found without looking at the others. Open charges, withdrawals and
-- deliveries have their indexes; a charge enters this one when it is paid, and leaves it soon. It
-- says PAID in other words than charges_unsettled, which is there for all companies: whoever uses
-- them gets this index and not that one, whatever the planner believes.
create index charges_settling on charges (company_id, settles_at)
  where payment_date is not null and payment_status not in ('RECEIVED', 'REFUNDED');
-- Periods of creation and of payment, each newest first.
create index charges_created on charges (company_id, created_at, id);
create index charges_paid on charges (company_id, payment_date, id) where payment_date is not null;
-- Statuses, kind and devMode in any combination.
create index charges_state on charges (company_id, status, payment_status, kind, dev_mode, id);
create index charges_amount on charges (company_id, amount, id);
create index charges_email on charges (company_id, email_index, id) where email_index is not null;
-- The sales of a static code.
create index charges_static_code on charges (company_id, static_code_id, id)
  where static_code_id is not null;
-- A paid charge is booked if its payment is. In a live company that is what tells a bank's payment
-- from a simulated one; in a sandbox there is one source only.
create unique index charges_payment on charges (company_id, end_to_end_id, booked)
  where end_to_end_id is not null;

-- A table of its own, because filling the column of old charges would rewrite each of them and all
-- their indexes.
create table charge_emails (
  company_id uuid not null,
  email_index bytea not null,
  charge_id uuid not null,
  primary key (company_id, email_index, charge_id)
);
comment on table charge_emails is
  'Keyed hashes of payers'' e-mail addresses, of charges older than the column `email_index`.';

-- A row lasts for the time of a request; what stays longer is taken back from the bank.
create table charge_intents (
  company_id uuid not null,
  id uuid not null,
  idempotency_key text,
  fingerprint bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- While it is in the future, somebody is at work on it.
  leased_until timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  primary key (company_id, id)
);
comment on table charge_intents is
  'Charges that a bank may have been told of and that are not recorded yet.';
create unique index charge_intents_key on charge_intents (company_id, idempotency_key)
  where idempotency_key is not null;
create index charge_intents_due on charge_intents (next_attempt_at);

create table charge_openings (
  company_id uuid not null,
  charge_id uuid not null,
  opened_at timestamptz,
  code_at timestamptz,
  -- An id that was made just before the event of the code, which is found from here on.
  before_event uuid,
  primary key (company_id, charge_id),
  check ((code_at is null) = (before_event is null))
);
comment on table charge_openings is
  'When somebody first looked at the payment page of a charge, and when a link got its code.';

create table charge_mails (
  company_id uuid not null,
  charge_id uuid not null,
  -- That of the mail, which is deleted some time after it was sent.
  id uuid not null,
  created_at timestamptz not null,
  primary key (company_id, charge_id, id)
);
comment on table charge_mails is 'Mails about a charge that people have sent from the dashboard.';

create table static_codes (
  company_id uuid not null,
  id uuid not null,
  amount bigint not null check (amount between 1 and 999999999999),
  dev_mode boolean not null,
  br_code text not null check (length(br_code) <= 512),
  created_at timestamptz not null,
  primary key (company_id, id)
);
comment on table static_codes is 'QR codes that can be paid again and again.';

-- Subscriptions. A recurrence is an agreement with a payer, or a template of such agreements.

create table recurrences (
  company_id uuid not null,
  id uuid not null,
  is_template boolean not null,
  -- The template or the payment link that the payer came through.
  origin_id uuid,
  product_id uuid not null,
  -- What was agreed to, as it was then: a later change of the product leaves it alone.
  product_name text not null,
  value bigint not null check (value between 1 and 999999999999),
  frequency text not null check (frequency in ('WEEKLY', 'MONTHLY', 'SEMIANNUAL', 'ANNUAL')),
  day_due integer not null check (day_due between 1 and 7),
  day_generate_charge integer check (day_generate_charge between 1 and 28),
  customer_id uuid,
  payer_name text,
  payer_index bytea,
  payer_sealed bytea,
  status text not null check (status in ('OPEN', 'COMPLETED', 'CANCELED', 'EXPIRED')),
  auth_status text not null
    check (auth_status in ('CREATED', 'APPROVED', 'REJECTED', 'EXPIRED', 'CANCELED')),
  -- What the bank calls the agreement, and the code by which a payer finds it.
  external_id text,
  br_code text check (length(br_code) <= 512),
  created_at timestamptz not null,
  -- Undecided by then, an agreement has expired.
  expires_at timestamptz,
  decided_at timestamptz,
  -- The day on which the first charge is generated, how many there are, and when the last was due.
  first_on date,
  cycles integer not null default 0 check (cycles >= 0),
  last_due_on date,
  -- When something is to be done next: the bank asked, or the next charge generated.
  next_at timestamptz,
  -- Why somebody of the company has canceled a subscription, if they said so.
  end_reason text,
  primary key (company_id, id),
  check (is_template = (br_code is null)),
  check (is_template = (external_id is null)),
  check (is_template = (expires_at is null)),
  check (is_template or payer_name is not null),
  check (not is_template or next_at is null),
  check ((payer_name is null) = (payer_sealed is null)),
  check (auth_status <> 'APPROVED' or first_on is not null),
  check ((auth_status in ('CREATED', 'APPROVED')) = (status = 'OPEN') or is_template),
  check (status = 'OPEN' or next_at is null)
);
comment on table recurrences is
  'Subscriptions: agreements with payers, and templates from which payers start agreements.';
create unique index recurrences_external on recurrences (company_id, external_id)
  where external_id is not null;
create index recurrences_origin on recurrences (company_id, origin_id, id)
  where origin_id is not null;
-- The agreement of one payer among the many that come through a link.
create index recurrences_payer on recurrences (company_id, origin_id, payer_index, id)
  where origin_id is not null;
create index recurrences_due on recurrences (next_at) where next_at is not null;
create index recurrences_own_due on recurrences (company_id, next_at) where next_at is not null;
-- The subscriptions of a customer, and those in one state.
create index recurrences_customer on recurrences (company_id, customer_id, id)
  where customer_id is not null;
create index recurrences_state on recurrences (company_id, is_template, auth_status, id);

create table billings (
  company_id uuid not null,
  charge_id uuid not null,
  recurrence_id uuid not null,
  cycle integer not null check (cycle >= 0),
  due_on date not null,
  status text not null check (status in ('PLANNED', 'SCHEDULED', 'PAID', 'FAILED', 'CANCELED')),
  -- How often the bank was spoken to without an answer since the last one.
  unanswered integer not null default 0,
  -- Whether the bank may have been told of it.
  ordered boolean not null default false,
  next_at timestamptz,
  primary key (company_id, charge_id),
  check ((status in ('PLANNED', 'SCHEDULED')) = (next_at is not null))
);
comment on table billings is
  'How the bank collects each charge of a subscription: one row for each cycle.';
create unique index billings_cycle on billings (company_id, recurrence_id, cycle);
create index billings_due on billings (next_at) where next_at is not null;
create index billings_own_due on billings (company_id, next_at) where next_at is not null;

-- Payments, and the banks that report them.

-- The row is deleted when the bank is disconnected.
create table bank_connections (
  company_id uuid primary key references companies,
  -- Another with every new connection: whoever remembers the old one notices.
  id uuid not null,
  profile text not null,
  sealed bytea not null,
  -- The half of the callback's address that nobody can guess.
  callback_id uuid not null,
  -- Who sends withdrawals: an operator by hand, or the bank.
  payouts text not null check (payouts in ('manual', 'bank')),
  -- Where withdrawals go, if not to the key by which the company collects.
  payout_key text,
  certificate_ends_at timestamptz not null,
  certificate_warned_at timestamptz,
  connected_at timestamptz not null
);
comment on table bank_connections is
  'The bank of each live company; what opens its account is sealed.';

create table bank_callbacks (
  company_id uuid not null,
  id uuid not null,
  provider text not null,
  -- May name the payer, so it is sealed.
  sealed bytea not null,
  received_at timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  processed_at timestamptz,
  primary key (company_id, id)
);
comment on table bank_callbacks is
  'What banks have reported, stored before it is answered and confirmed before it counts.';
create index bank_callbacks_age on bank_callbacks (processed_at) where processed_at is not null;
-- Callbacks that wait take turns by company.
create index bank_callbacks_waiting on bank_callbacks (company_id, next_attempt_at)
  where processed_at is null;

create table reconciliations (
  company_id uuid primary key references companies,
  asked_until timestamptz not null,
  next_attempt_at timestamptz not null,
  -- Once in a while a bank is asked further back, for what it listed late.
  looked_back_at timestamptz,
  -- Up to when the returns of a bank were listed.
  returns_listed_at timestamptz
);
comment on table reconciliations is
  'Until when the bank of each company was asked what has arrived, and when it is asked next.';
create index reconciliations_due on reconciliations (next_attempt_at);

-- So a page with figures of 90 days does not read 90 days of charges. Hours start where those of
-- UTC do; so do the hours of São Paulo. An hour in which nothing happened has no row.
create table hourly_totals (
  company_id uuid not null,
  hour timestamptz not null,
  -- Payments of charges in this hour that are booked.
  received_count bigint not null default 0,
  received bigint not null default 0,
  -- Charges that were made in this hour, and how many of them are paid, whenever that was. Sales of
  -- static codes are left out, because they are made by being paid.
  made bigint not null default 0,
  made_paid bigint not null default 0,
  primary key (company_id, hour)
) with (fillfactor = 70);
comment on table hourly_totals is
  'How much each company has received by the hour, and how many of its charges were paid.';

-- A company has a row once somebody has asked for its figures.
create table counted_hours (
  company_id uuid primary key,
  -- Payments are counted from here on. New ones are added by the trigger below.
  received_from timestamptz not null,
  -- Charges that were made from here on and before `made_until` are counted.
  made_from timestamptz not null,
  made_until timestamptz not null,
  check (made_from <= made_until)
);
comment on table counted_hours is 'Which hours of a company are counted in `hourly_totals`.';

-- The source is part of what identifies a payment: `simulated` came through the simulated bank,
-- `bank` through the company's own. Neither can replace the other, whatever its endToEndId.
create table payments (
  company_id uuid not null,
  end_to_end_id text not null check (length(end_to_end_id) between 1 and 64),
  -- In the order of arrival.
  id uuid not null,
  txid text,
  amount bigint not null check (amount between 1 and 999999999999),
  -- The charge that it names, whether or not it has paid it.
  charge_id uuid,
  status text not null
    check (status in ('MATCHED', 'UNMATCHED', 'ACCEPTED', 'REFUNDING', 'REFUNDED')),
  -- Why it pays no charge.
  reason text check (reason in ('LATE', 'CANCELED', 'DUPLICATE', 'WRONG_AMOUNT', 'UNKNOWN')),
  booked boolean not null,
  received_at timestamptz not null,
  created_at timestamptz not null,
  -- Who has sent money that pays no charge, as the bank names them.
  payer_sealed bytea,
  source text not null,
  -- How much of a payment the bank has returned while it waited for a decision.
  returned bigint not null default 0,
  -- The charge that a payment settles, how many cents of the payment it got, and how many it lacks.
  -- What is left of the payment is kept, returned or waits, as its status says.
  settled_charge_id uuid,
  settled bigint not null default 0,
  shortfall bigint not null default 0,
  primary key (company_id, end_to_end_id, source),
  check ((status = 'MATCHED') = (reason is null)),
  constraint payments_payer check (payer_sealed is null or reason is not null),
  -- What a bank has received is always booked.
  constraint payments_source
    check (source in ('simulated', 'bank') and (source = 'simulated' or booked)),
  constraint payments_returned check (returned between 0 and amount),
  constraint payments_settled check (
    (settled_charge_id is null) = (settled = 0) and settled >= 0 and returned + settled <= amount
    and (settled = 0 or reason is not null)
    and shortfall >= 0 and (shortfall = 0 or (settled > 0 and returned + settled = amount)))
);
comment on table payments is
  'Pix payments that have arrived, each once, by the scheme''s own id and its source.';
create index payments_unmatched on payments (company_id, status, id) where reason is not null;
-- Payments that named a charge and did not pay it.
create index payments_charge on payments (company_id, charge_id)
  where reason is not null and charge_id is not null;

-- Adds payments that match or settle a charge to the hours that are counted. Whoever records a
-- payment has locked the books of the company, and so has whoever counts: none is forgotten, and
-- none is counted twice.
create function add_to_totals() returns trigger language plpgsql as $$
begin
  -- An update changes one payment. It counts if it is matched or settles a charge only now.
  if tg_op = 'UPDATE' then
    if exists (select from earlier where status = 'MATCHED' or settled > 0) then
      return null;
    end if;
  end if;
  insert into hourly_totals as t
    (company_id, hour, received_count, received, made_paid)
  select company_id, hour, sum(received_count), sum(received), sum(made_paid) from (
    select p.company_id, date_trunc('hour', p.received_at, 'UTC') as hour, 1 as received_count,
      case when p.settled > 0 then p.settled else p.amount end as received, 0 as made_paid
    from matched p join counted_hours k using (company_id)
    where p.booked and (p.status = 'MATCHED' or p.settled > 0)
      and p.received_at >= k.received_from
    union all
    select p.company_id, date_trunc('hour', c.created_at, 'UTC'), 0, 0, 1
    from matched p join counted_hours k using (company_id)
      join charges c on c.company_id = p.company_id
        and c.id = coalesce(p.settled_charge_id, p.charge_id)
    where p.booked and (p.status = 'MATCHED' or p.settled > 0) and c.kind <> 'STATIC'
      and c.created_at >= k.made_from and c.created_at < k.made_until
  ) added
  group by company_id, hour order by company_id, hour
  on conflict (company_id, hour) do update set
    received_count = t.received_count + excluded.received_count,
    received = t.received + excluded.received,
    made_paid = t.made_paid + excluded.made_paid;
  return null;
end $$;
create trigger add_new_to_totals after insert on payments
  referencing new table as matched for each statement execute function add_to_totals();

-- A payment that matched no charge is matched when the bank names its charge later.
create trigger add_matched_to_totals after update on payments
  referencing old table as earlier new table as matched for each statement
  execute function add_to_totals();

-- Refunds and withdrawals.

create table refunds (
  company_id uuid not null,
  id uuid not null,
  -- The payment that goes back, whole or in part.
  end_to_end_id text not null,
  charge_id uuid,
  amount bigint not null check (amount between 1 and 999999999999),
  comment text check (length(comment) <= 140),
  -- The account that the money is held from.
  source text not null check (source in ('available', 'pending', 'unmatched')),
  booked boolean not null,
  status text not null check (status in ('PROCESSING', 'COMPLETED', 'FAILED')),
  failure text,
  -- Set before the bank is first told, so that whoever comes later asks before telling again.
  ordered_at timestamptz,
  return_id text,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  payment_source text not null,
  -- Why the bank has returned the money. Null: the company has ordered the refund.
  bank_reason text
    check (bank_reason in ('FRAUD', 'OPERATIONAL_FAILURE', 'SUBSCRIPTION_CLAIM', 'OTHER')),
  primary key (company_id, id),
  check ((status = 'PROCESSING') = (finished_at is null)),
  check ((status = 'COMPLETED') = (return_id is not null)),
  check ((status = 'FAILED') = (failure is not null)),
  constraint refunds_payment_source
    check (payment_source in ('simulated', 'bank') and (payment_source = 'simulated' or booked)),
  constraint refunds_of_banks_are_done check (bank_reason is null or status = 'COMPLETED')
);
comment on table refunds is
  'Money that goes back to payers, ordered by the company or returned by the bank.';
create index refunds_charge on refunds (company_id, charge_id, id) where charge_id is not null;
create index refunds_due on refunds (next_attempt_at) where status = 'PROCESSING';
create index refunds_under_way on refunds (company_id, next_attempt_at) where status = 'PROCESSING';
create index refunds_payment on refunds (company_id, end_to_end_id);
-- A return is recorded once.
create unique index refunds_bank_return
  on refunds (company_id, end_to_end_id, payment_source, return_id) where bank_reason is not null;

create table withdrawals (
  company_id uuid not null,
  id uuid not null,
  value bigint not null check (value between 1 and 999999999999),
  -- The Pix key that the money goes to.
  destination text not null,
  status text not null
    check (status in ('PENDING_OTP', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED', 'CANCELED')),
  failure text,
  -- A keyed hash; the key is not in the database. Gone with the wait for it.
  otp_hash bytea,
  otp_expires_at timestamptz not null,
  otp_attempts integer not null default 0 check (otp_attempts between 0 and 5),
  otp_sent integer not null default 1,
  ordered_at timestamptz,
  end_to_end_id text,
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  confirmed_at timestamptz,
  finished_at timestamptz,
  -- Money that an operator sends by hand is not taken up by anybody else.
  manual boolean not null default false,
  -- The bank's own id of a payout. Some banks can be asked about a payout by nothing else.
  bank_reference text,
  -- Who has started it in the dashboard. Null: an API key.
  requested_by uuid,
  -- Decided when it is started, so that another limit later changes nothing.
  needs_approval boolean not null default false,
  approved_by uuid,
  approved_at timestamptz,
  primary key (company_id, id),
  check ((status = 'PENDING_OTP') = (otp_hash is not null)),
  check ((status in ('PENDING_OTP', 'PROCESSING')) = (finished_at is null)),
  check ((status = 'COMPLETED') = (end_to_end_id is not null)),
  constraint withdrawals_check4
    check (status not in ('PROCESSING', 'COMPLETED', 'FAILED') or confirmed_at is not null),
  constraint withdrawals_taken_up
    check ((status = 'PROCESSING' and not manual) = (next_attempt_at is not null)),
  -- Whatever a process does, no money leaves before the approval, and nobody approves their own.
  constraint withdrawals_approved check (
    status not in ('PROCESSING', 'COMPLETED', 'FAILED') or not needs_approval
      or approved_at is not null),
  constraint withdrawals_approval check (
    (approved_at is null) = (approved_by is null) and (approved_at is null or needs_approval)
  ),
  constraint withdrawals_approved_by_another check (
    approved_by is null or requested_by is null or approved_by <> requested_by)
);
comment on table withdrawals is
  'Money that companies take out, from the one-time code to the outcome at the bank.';
-- The 409 of the contract: one pending withdrawal a company, under any parallelism.
create unique index withdrawals_one_pending on withdrawals (company_id)
  where status in ('PENDING_OTP', 'PROCESSING');
create index withdrawals_due on withdrawals (next_attempt_at) where status = 'PROCESSING';
create index withdrawals_expiring on withdrawals (otp_expires_at) where status = 'PENDING_OTP';
-- The first withdrawal after a moment.
create index withdrawals_completed on withdrawals (company_id, created_at)
  where status = 'COMPLETED';

create table approval_limits (
  company_id uuid primary key references companies,
  -- A withdrawal of more than this needs an approval. Without a row none does.
  above bigint not null check (above between 0 and 999999999999),
  set_by uuid not null,
  set_at timestamptz not null
);
comment on table approval_limits is
  'Amounts above which withdrawals of a company need a second person.';

-- The ledger. Every movement is one posting with a debit, a credit and an amount above zero, so
-- that the books sum to zero by their form. `bank` is what the bank holds for the company: a debit
-- raises it. The other accounts are what we owe the company: a credit raises them.

create table balances (
  company_id uuid primary key references companies,
  -- How many postings the company has: the number of its last one.
  entries bigint not null check (entries >= 0),
  -- What the bank returns by itself is gone, however little is available. Nothing else that lowers
  -- the available balance may leave it below zero.
  available bigint not null
    check (available between -9007199254740991 and 9007199254740991),
  pending bigint not null check (pending between 0 and 9007199254740991),
  held bigint not null check (held between 0 and 9007199254740991),
  unmatched bigint not null check (unmatched between 0 and 9007199254740991)
);
comment on table balances is 'The present balances of each company.';

create table postings (
  company_id uuid not null,
  -- Counts from 1 without a gap, in the order in which the balance row was locked.
  entry bigint not null check (entry > 0),
  kind text not null,
  -- The business event: endToEndId of a payment, id of a refund or of a withdrawal.
  ref text not null,
  debit text not null check (debit in ('bank', 'available', 'pending', 'held', 'unmatched')),
  credit text not null check (credit in ('bank', 'available', 'pending', 'held', 'unmatched')),
  amount bigint not null check (amount > 0),
  charge_id uuid,
  -- The balances after this posting.
  available bigint not null,
  pending bigint not null check (pending >= 0),
  held bigint not null check (held >= 0),
  unmatched bigint not null check (unmatched >= 0),
  created_at timestamptz not null,
  primary key (company_id, entry),
  check (debit <> credit),
  constraint postings_available_check
    check (available >= 0 or debit <> 'available' or kind = 'BANK_RETURN')
);
comment on table postings is 'All movements of money; rows are never changed or deleted.';
-- Nothing is booked twice.
create unique index postings_once on postings (company_id, kind, ref);
-- A statement that is filtered by a kind which is rare. Most entries are of the two kinds that are
-- left out: they need no index to be found, and booking a payment must not become slower.
create index postings_rare on postings (company_id, kind, entry)
  where kind not in ('CHARGE_PAID', 'CHARGE_SETTLED');

create function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if is_left_behind(old.company_id) then
      return old;
    end if;
  end if;
  raise exception 'postings are never changed or deleted: post the correction';
end $$;
create trigger postings_append_only before update or delete on postings
  for each row execute function refuse_change();

create trigger postings_not_truncated before truncate on postings
  for each statement execute function refuse_change();

create table audits (
  company_id uuid primary key references companies,
  checked_entry bigint not null,
  bank_checked_until timestamptz,
  difference text,
  audited_at timestamptz not null
);
comment on table audits is
  'How far each company''s books were checked, and what was wrong if they were not right.';
create index audits_differing on audits (company_id) where difference is not null;

-- Events, and their deliveries.

-- An event is written in the transaction of the change that it tells about.
create table events (
  company_id uuid not null,
  id uuid not null,
  type text not null,
  -- The exact body that every receiver gets.
  payload text not null,
  created_at timestamptz not null,
  position bigint not null,
  -- Whether an event is about play money: all of a sandbox company's is, and what comes of a
  -- dev-mode charge of a live one. Null for events from before this column.
  mode text,
  primary key (company_id, id),
  constraint events_mode check (mode in ('sandbox', 'dev', 'live'))
);
comment on table events is 'What has happened to records of companies; rows are never changed.';
create index events_feed on events (company_id, position, id);
create index events_charge on events
  (company_id, (substr(payload, strpos(payload, '"charge_') + 8, 26)), id)
  where type not in ('charge.pending', 'charge.processing') and strpos(payload, '"charge_') > 0;

-- A transaction that writes events counts it up, which locks the row until it commits. So positions
-- become visible in their order, and whoever reads on from one misses nothing. The row is locked
-- last, just before the commit, and by one company only. A changed row finds room on its page, so
-- that no index has to be changed with it.
create table feeds (
  company_id uuid primary key,
  last bigint not null,
  constraint feeds_company foreign key (company_id) references companies
) with (fillfactor = 50);
comment on table feeds is 'The position at which events of each company were last written.';

-- A transaction that writes events notifies the servers only of these, because a notification makes
-- commits wait for each other.
create table followed_feeds (
  company_id uuid primary key,
  until timestamptz not null
);
comment on table followed_feeds is 'Companies whose events somebody waits for.';

create table webhooks (
  company_id uuid not null references companies,
  id uuid not null,
  url text not null,
  name text not null,
  events text[] not null check (cardinality(events) > 0),
  status text not null check (status in ('ACTIVE', 'INACTIVE')),
  secret_sealed bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Signs beside the present secret until then.
  previous_secret_sealed bytea,
  previous_secret_until timestamptz,
  -- Since when nothing was delivered, how often in a row that was tried, and when the last time.
  failing_since timestamptz,
  failures integer not null default 0,
  failed_at timestamptz,
  -- A receiver that fails again and again is left alone for a while.
  paused_until timestamptz,
  warned_at timestamptz,
  -- Why it is inactive, when that was not the company's wish.
  deactivated text check (deactivated in ('GONE', 'FAILING')),
  primary key (company_id, id),
  constraint webhooks_previous_secret
    check ((previous_secret_sealed is null) = (previous_secret_until is null))
);
comment on table webhooks is 'Addresses to which companies want their events delivered.';
create index webhooks_failing on webhooks (failing_since) where failing_since is not null;

-- That worker alone has their deliveries, so that a delivery needs no claim of its own. Times are
-- real, whatever the clock of a company.
create table webhook_leases (
  company_id uuid not null,
  webhook_id uuid not null,
  worker bigint not null,
  until timestamptz not null,
  -- When a lease was taken, which is compared with the end of the lease before: Citus takes no
  -- now() in the condition of a conflict.
  taken_at timestamptz not null default now(),
  primary key (company_id, webhook_id)
) with (fillfactor = 50);
comment on table webhook_leases is 'Webhooks that are being delivered to, each by one worker.';

-- What has come to an end is moved to `delivery_log`, so that the table that is searched stays
-- small.
create table deliveries (
  company_id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  -- How often it was tried since it was due for the first time, or again by an order.
  tries integer not null default 0,
  -- Every attempt, the oldest first.
  attempts jsonb not null default '[]',
  next_attempt_at timestamptz not null,
  created_at timestamptz not null,
  primary key (company_id, webhook_id, event_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0);
comment on table deliveries is 'Events that are still to be delivered to a webhook.';
create index deliveries_due on deliveries (company_id, webhook_id, next_attempt_at, event_id);

create table delivery_log (
  company_id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  status text not null check (status in ('DELIVERED', 'FAILED')),
  attempts jsonb not null,
  created_at timestamptz not null,
  finished_at timestamptz not null,
  primary key (company_id, webhook_id, event_id)
);
comment on table delivery_log is 'Deliveries that have succeeded or were given up.';
-- What failed is looked for among the many that did not.
create index delivery_log_failed on delivery_log (company_id, webhook_id, event_id)
  where status = 'FAILED';
create index delivery_log_age on delivery_log using brin (finished_at) with (pages_per_range = 16);

create table redeliveries (
  company_id uuid not null,
  position bigint not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  asked_at timestamptz not null,
  written_at timestamptz not null default now(),
  primary key (company_id, position, id)
);
comment on table redeliveries is
  'Deliveries that a company has asked for again while somebody followed its feed, for a week.';
-- Finds redeliveries that are a week old, whatever company they are of.
create index redeliveries_written on redeliveries (written_at);

-- Mails.

-- What a mail says is sealed, and deleted once it is sent.
create table mails (
  company_id uuid not null,
  id uuid not null,
  kind text not null,
  sealed bytea,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  -- A one-time code or a link is of no use after its end; other mails have none.
  expires_at timestamptz,
  created_at timestamptz not null,
  finished_at timestamptz,
  outcome text check (outcome in ('SENT', 'FAILED', 'EXPIRED')),
  -- Why a mail waits or was not sent, if no mail server has refused it, and the charge it is about.
  reason text,
  charge_id uuid,
  primary key (company_id, id),
  check ((finished_at is null) = (outcome is null)),
  check ((finished_at is null) = (sealed is not null))
);
comment on table mails is 'Mails that are to be sent, and the outcome of those that were.';
create index mails_due on mails (next_attempt_at) where finished_at is null;
create index mails_age on mails (finished_at) where finished_at is not null;
-- How many codes a company was sent lately.
create index mails_codes_sent on mails (company_id, created_at) where kind = 'withdrawal-code';
-- How often a company has changed its address lately.
create index mails_of_changes on mails (company_id, created_at) where kind = 'email-confirmed';
-- Mails that were not accepted, among the many that were.
create index mails_failed on mails (id) where outcome = 'FAILED';
-- How many invitations a company has sent lately.
create index mails_of_invitations on mails (company_id, created_at) where kind = 'invitation';
-- Mails to payers are sent after all others, one company after the other, links before receipts.
create index mails_first_due on mails (company_id, next_attempt_at)
  where finished_at is null and kind not in ('payment-link', 'receipt');
create index mails_to_payers_due on mails (company_id, kind, next_attempt_at)
  where finished_at is null and kind in ('payment-link', 'receipt');
-- Mails about a charge that its payer has not got.
create index mails_not_sent on mails (company_id, charge_id)
  where charge_id is not null and outcome in ('FAILED', 'EXPIRED');

-- A limit that is whole has no row. All places count in the first one.
create table mail_budgets (
  name text primary key,
  full_at timestamptz not null
);
comment on table mail_budgets is
  'What is left of the limits on mails: the moment at which each limit is whole again.';

-- What clients have asked for.

-- Inserted in the transaction of the effect, so that a crash takes the key away with the effect.
create table idempotency_keys (
  company_id uuid not null,
  key text not null check (length(key) between 1 and 255),
  fingerprint bytea not null,
  status smallint not null,
  sealed_body bytea not null,
  created_at timestamptz not null,
  -- The header X-Warnings of a stored answer: the body of an older version does not have it.
  warnings text,
  primary key (company_id, key)
);
comment on table idempotency_keys is
  'Answers that are stored under the Idempotency-Key of a request.';
create index idempotency_keys_age on idempotency_keys (created_at);

create table activity (
  company_id uuid not null,
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
comment on table activity is
  'What was changed in companies, by whom, and from where; rows are only added.';
-- A charge has its entry too, so entries must cost little: one index serves all filters, and the
-- company is not looked up for each entry.
create index activity_use on activity (company_id, author_id, action, id);
create index activity_charge on activity (company_id, record_id, id)
  where record_type = 'charge' and action not in ('createPixCharge', 'createPaymentLink');

create function refuse_change_of_activity() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('vintem.mover', true) = 'on' then
    return null;
  end if;
  raise exception 'the activity log is never changed or deleted';
end $$;
create trigger activity_append_only before update or delete or truncate on activity
  for each statement execute function refuse_change_of_activity();

create function refuse_removal_of_activity() returns trigger language plpgsql as $$
begin
  if is_left_behind(old.company_id) then
    return old;
  end if;
  raise exception 'the activity log is never changed or deleted';
end $$;
create trigger activity_removed before delete on activity
  for each row execute function refuse_removal_of_activity();

-- `part` is the day of the request (UTC) modulo 9: 8 days can hold requests of the last 7, and the
-- part of tomorrow is emptied before it is used again. So nothing has to be deleted row by row.
create table api_requests (
  company_id uuid not null,
  -- The request id as a UUID. Its time orders the requests.
  id uuid not null,
  part smallint not null check (part between 0 and 8),
  key_id uuid not null,
  operation text not null,
  status smallint not null,
  error_code text,
  ms integer not null,
  -- What the caller has sent as X-Request-Id, to find a request by the id that its own logs have.
  caller_id text,
  primary key (company_id, id, part)
) partition by list (part);
comment on table api_requests is
  'Requests that companies have sent to the API in the last 7 days, without their bodies.';
-- Nothing depends on the request log, so its parts are not in the write-ahead log: a read of the
-- API then writes none. If PostgreSQL crashes, or a standby takes over, the request log is empty.
-- Citus, which changes such tables in other ways, gets ordinary ones.
do $$
declare
  kind text := case when exists (select from pg_extension where extname = 'citus')
    then '' else 'unlogged' end;
begin
  for part in 0..8 loop
    execute format(
      'create %2$s table api_requests_%1$s partition of api_requests for values in (%1$s);
       create index api_requests_%1$s_operation on api_requests_%1$s (company_id, operation, id);
       create index api_requests_%1$s_class on api_requests_%1$s (company_id, (status / 100), id)
         where status >= 400', part, kind);
  end loop;
end $$;
-- Requests of one operation, and refused and failed ones, each in the order of their ids. They are
-- made of the indexes of the parts.
create index api_requests_operation on api_requests (company_id, operation, id);
create index api_requests_class on api_requests (company_id, (status / 100), id)
  where status >= 400;

-- The simulated bank. Its tables once had a schema of their own: constraints and indexes are named
-- as there. Nothing here says who a payer is.

-- It is counted with every transfer, so that payments that arrive at the same moment cannot fill an
-- account beyond its limit together.
create table simulated_accounts (
  account_id uuid constraint accounts_pkey primary key,
  balance bigint not null
);
comment on table simulated_accounts is 'What each account at the simulated bank holds.';

create table simulated_transfers (
  account_id uuid not null,
  end_to_end_id text not null,
  direction text not null
    constraint transfers_direction_check check (direction in ('received', 'sent', 'returned')),
  -- The order that it carries out: the same order again changes nothing.
  order_id text,
  -- What it pays (received), or the payment that goes back (returned).
  txid text,
  returns text,
  amount bigint not null constraint transfers_amount_check check (amount > 0),
  at timestamptz not null,
  payer_sealed bytea,
  -- Why the simulated bank has returned money by itself. Null if it was ordered to.
  reason text,
  constraint transfers_pkey primary key (account_id, end_to_end_id),
  -- The simulated bank gives out ids with its own number only.
  constraint transfers_own_ids check (end_to_end_id ~ '^[ED]99999999'),
  constraint transfers_reason
    check (reason in ('FRAUD', 'OPERATIONAL_FAILURE', 'SUBSCRIPTION_CLAIM', 'OTHER'))
);
comment on table simulated_transfers is 'Payments, payouts and returns of the simulated bank.';
create unique index transfers_order on simulated_transfers (account_id, order_id)
  where order_id is not null;
create index transfers_time on simulated_transfers (account_id, at);
-- Finds what the simulated bank has returned of a payment.
create index transfers_returns on simulated_transfers (account_id, returns)
  where returns is not null;

-- Counts transfers. An account that is not counted yet begins with what it had before them. If it
-- would then hold more than R$ 100 billion, what adds to it is refused. Accounts are locked in
-- their order, so that two statements cannot wait for each other.
create function count_transfers() returns trigger language plpgsql as $$
begin
  insert into simulated_accounts (account_id, balance)
  select i.account_id, (
      select sum(case t.direction when 'received' then t.amount else -t.amount end)
      from simulated_transfers t where t.account_id = i.account_id
    ) - sum(case i.direction when 'received' then i.amount else -i.amount end)
  from inserted i
  where not exists (
    select from simulated_accounts a where a.account_id = i.account_id)
  group by i.account_id order by i.account_id
  on conflict (account_id) do nothing;

  perform 1 from simulated_accounts
  where account_id in (select account_id from inserted) order by account_id for update;

  update simulated_accounts a set balance = a.balance + i.moved
  from (select account_id,
          sum(case direction when 'received' then amount else -amount end) as moved
        from inserted group by account_id) i
  where a.account_id = i.account_id;

  if exists (select from simulated_accounts a join inserted i using (account_id)
             where i.direction = 'received' and a.balance > 10000000000000) then
    raise exception 'the account would hold more than it may'
      using errcode = 'check_violation', constraint = 'account_is_full';
  end if;
  return null;
end $$;
create trigger count_transfers after insert on simulated_transfers
  referencing new table as inserted for each statement
  execute function count_transfers();

create table simulated_agreements (
  account_id uuid not null,
  -- The id of the order, given by whoever asks for the agreement.
  id uuid not null,
  external_id text not null
    constraint agreements_external_id_check check (external_id ~ '^R[RN][0-9]{16}[A-Za-z0-9]{11}$'),
  br_code text not null,
  value bigint not null constraint agreements_value_check check (value between 1 and 999999999999),
  frequency text not null
    constraint agreements_frequency_check
    check (frequency in ('WEEKLY', 'MONTHLY', 'SEMIANNUAL', 'ANNUAL')),
  -- EXPIRED is never stored: an undecided one is expired from its end on.
  status text not null
    constraint agreements_status_check
    check (status in ('CREATED', 'APPROVED', 'REJECTED', 'CANCELED')),
  -- Whether the payer's account can pay.
  funds boolean not null,
  retries boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  constraint agreements_pkey primary key (account_id, id),
  constraint agreements_check check ((status = 'CREATED') = (decided_at is null))
);
comment on table simulated_agreements is
  'Agreements of Pix Automático that the simulated bank knows.';
create unique index agreements_external on simulated_agreements (account_id, external_id);

create table simulated_collections (
  account_id uuid not null,
  id uuid not null,
  agreement_id uuid not null,
  amount bigint not null
    constraint collections_amount_check check (amount between 1 and 999999999999),
  due_on date not null,
  status text not null
    constraint collections_status_check check (status in ('SCHEDULED', 'PAID', 'FAILED', 'CANCELED')),
  -- [{on, status, endToEndId}], in the order of their days.
  attempts jsonb not null,
  -- When the scheduled attempt is made.
  next_at timestamptz,
  constraint collections_pkey primary key (account_id, id),
  constraint collections_account_id_agreement_id_fkey
    foreign key (account_id, agreement_id) references simulated_agreements,
  constraint collections_check check ((status = 'SCHEDULED') = (next_at is not null))
);
comment on table simulated_collections is
  'Charges that the simulated bank collects under agreements.';
create index collections_due on simulated_collections (next_at) where next_at is not null;
create index collections_account_due on simulated_collections (account_id, next_at)
  where next_at is not null;
create index collections_scheduled on simulated_collections (account_id, agreement_id)
  where status = 'SCHEDULED';
