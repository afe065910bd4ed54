-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

create table links (
  company_id uuid not null references companies,
  id uuid not null,
  -- What its address ends with now; `link_slugs` has the former ones too.
  slug text not null,
  title text not null check (length(title) between 1 and 120),
  description text check (length(description) <= 2000),
  -- What one costs: cents, products with quantities, or what the payer types, between bounds.
  amount bigint check (amount between 1 and 999999999999),
  items jsonb,
  open_amount jsonb,
  -- How many one payer may buy at once.
  min_quantity bigint not null check (min_quantity >= 1),
  max_quantity bigint not null check (max_quantity <= 1000000),
  ends_at timestamptz,
  -- How many sales there may be. Null: as many as there are payers.
  stock bigint check (stock between 1 and 1000000000),
  enabled boolean not null,
  need_shipping boolean not null,
  success_url text,
  -- How long each charge of it can be paid.
  lifetime_s bigint not null check (lifetime_s between 60 and 604800),
  split jsonb,
  -- Counted by each change of its charges, so that nobody has to count those.
  opened bigint not null default 0 check (opened >= 0),
  made bigint not null default 0 check (made >= 0),
  -- Sales of the stock that are paid, or reserved by an open charge.
  used bigint not null default 0 check (used >= 0),
  paid bigint not null default 0 check (paid >= 0),
  -- In cents, with what was returned later.
  received bigint not null default 0 check (received >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (company_id, id),
  check (num_nonnulls(amount, items, open_amount) = 1),
  check (max_quantity >= min_quantity)
);
comment on table links is
  'Links that many payers use: each gets a charge of their own, with the id of the link.';

create table link_slugs (
  company_id uuid not null,
  slug text not null check (length(slug) <= 60),
  link_id uuid not null,
  created_at timestamptz not null,
  primary key (company_id, slug),
  foreign key (company_id, link_id) references links
);
comment on table link_slugs is
  'The present address of each link and the former ones, which lead to the present one.';
create index link_slugs_of_link on link_slugs (company_id, link_id, created_at);

-- The link that the charge is a sale of.
alter table charges add column link_id uuid;

create table charge_renewals (
  company_id uuid not null,
  -- The new charge.
  charge_id uuid not null,
  -- The first one, whose page, and all pages that came after it, lead to the newest.
  first_id uuid not null,
  created_at timestamptz not null,
  primary key (company_id, charge_id),
  foreign key (company_id, charge_id) references charges (company_id, id)
);
comment on table charge_renewals is
  'Charges that payers have asked for on the page of an expired one, in its place.';
create index charge_renewals_newest on charge_renewals (company_id, first_id, charge_id);

-- How payers reach the company when something has gone wrong.
alter table companies add column contact_email text;
alter table companies add column contact_phone text;
alter table companies add column contact_whatsapp text;
-- On the pages of which expired charges payers may ask for a new code: NONE, LINKS or ALL.
alter table companies add column new_codes text not null default 'LINKS';
alter table companies add constraint companies_new_codes
  check (new_codes in ('NONE', 'LINKS', 'ALL')) not valid;
