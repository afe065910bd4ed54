-- Every table of company data has company_id first in its primary key, and joins stay inside one
-- company. Companies are never deleted, and a company_id is only ever taken from the row of an API
-- key, so the tables written thousands of times a second (charges, events, idempotency_keys) do not
-- ask again whether their company exists.

-- What this database was set up with. The id of the secret key stands here, so that a server with another
-- secret refuses to start instead of writing what nobody can open.
create table installation (
  only_row boolean primary key default true check (only_row),
  secret_key_id text not null,
  created_at timestamptz not null default now()
);

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
  updated_at timestamptz not null
);

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
-- A key arrives before its company is known: it is the one thing that is looked up by its id alone.
create unique index api_keys_id on api_keys (id);

create table customers (
  company_id uuid not null references companies,
  id uuid not null,
  name text not null check (length(name) between 1 and 255),
  status text not null check (status in ('ACTIVE', 'INACTIVE')),
  tax_id_index bytea not null,
  sealed bytea not null,
  -- 'client' came through POST /client, 'charge' was made from a charge's payer.
  origin text not null check (origin in ('client', 'charge')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (company_id, id)
);
create index customers_tax_id on customers (company_id, tax_id_index, id);
create unique index customers_one_per_payer on customers (company_id, tax_id_index)
  where origin = 'charge';

create table products (
  company_id uuid not null references companies,
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

create table charges (
  company_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('PIX', 'LINK', 'STATIC')),
  amount bigint not null check (amount between 1 and 999999999999),
  status text not null check (status in ('OPEN', 'COMPLETED', 'EXPIRED', 'CANCELED')),
  payment_status text not null
    check (payment_status in ('PENDING', 'PROCESSING', 'PAID', 'RECEIVED', 'EXPIRED', 'REFUNDED')),
  dev_mode boolean not null,
  external_id text check (length(external_id) between 1 and 255),
  -- The hash of the request that made the charge: tells a blind retry from a new sale.
  fingerprint bytea,
  -- The customer that the payer was found as. It may be gone: the charge has its own copy of the payer,
  -- and thousands of inserts a second need not ask for a row that nothing depends on.
  customer_id uuid,
  -- The payer as the merchant named them for this sale; a later change of the customer leaves it alone.
  payer_name text,
  payer_index bytea,
  payer_sealed bytea,
  -- What only a payment link has: its products as they were when sold, where it leads, what it asks.
  link jsonb,
  br_code text check (length(br_code) <= 512),
  end_to_end_id text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  payment_date timestamptz,
  primary key (company_id, id),
  check (expires_at > created_at),
  check ((status = 'COMPLETED') = (payment_date is not null)),
  check ((status = 'COMPLETED') = (end_to_end_id is not null)),
  check ((status = 'COMPLETED') = (payment_status in ('PAID', 'RECEIVED', 'REFUNDED'))),
  check ((status = 'EXPIRED') = (payment_status = 'EXPIRED')),
  check ((payer_name is null) = (payer_sealed is null)),
  check (kind <> 'LINK' or link is not null),
  -- A charge that waits for money has the code to pay it with.
  check (payment_status <> 'PROCESSING' or br_code is not null)
);
-- Sales through static codes, for the monthly limit of individuals.
create index charges_static_sales on charges (company_id, payment_date)
  where kind = 'STATIC' and status = 'COMPLETED';
create index charges_due on charges (expires_at) where status = 'OPEN';
create index charges_status on charges (company_id, status, id);
create unique index charges_open_external_id on charges (company_id, external_id, fingerprint)
  where status = 'OPEN' and external_id is not null;
create index charges_external_id on charges (company_id, external_id, id)
  where external_id is not null;
create index charges_customer on charges (company_id, customer_id, id);
create unique index charges_end_to_end_id on charges (company_id, end_to_end_id)
  where end_to_end_id is not null;

create table static_codes (
  company_id uuid not null references companies,
  id uuid not null,
  amount bigint not null check (amount between 1 and 999999999999),
  dev_mode boolean not null,
  br_code text not null check (length(br_code) <= 512),
  created_at timestamptz not null,
  primary key (company_id, id)
);

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
  primary key (company_id, id)
);

-- Written in the transaction of the change it tells about, and never changed.
create table events (
  company_id uuid not null,
  id uuid not null,
  type text not null,
  -- The exact body that every receiver gets.
  payload text not null,
  created_at timestamptz not null,
  primary key (company_id, id)
);

-- Inserted in the transaction of the effect, so that a crash takes the key away with the effect.
create table idempotency_keys (
  company_id uuid not null,
  key text not null check (length(key) between 1 and 255),
  fingerprint bytea not null,
  status smallint not null,
  sealed_body bytea not null,
  created_at timestamptz not null,
  primary key (company_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
