-- Images of companies that we serve ourselves. They are rebuilt from their essential parts before.
create table logos (
  company_id uuid not null references companies (id),
  -- Of the bytes. It is in the URL, which never shows anything else.
  hash text not null check (hash ~ '^[0-9a-f]{32}$'),
  type text not null check (type in ('image/png', 'image/jpeg')),
  bytes bytea not null check (length(bytes) between 1 and 1048576),
  created_at timestamptz not null,
  primary key (company_id, hash)
);
