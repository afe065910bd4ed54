-- When the secret key is replaced. `installation` names the present one.
create table secret_keys (
  -- As `secret_key_id` of the installation names it.
  id text primary key,
  -- The keys by which it made hashes that nobody can make again. Sealed with the present secret.
  hashing bytea not null,
  replaced_at timestamptz not null,
  -- How far each table is sealed again in this place: the key of the last row, or an empty key when
  -- it is done.
  progress jsonb not null default '{}',
  -- From when on nothing is sealed with it, in any place. Null: something may be.
  gone_at timestamptz
);
comment on table secret_keys is
  'Former secret keys: how far what they have sealed is sealed again, and what is kept of them.';
