-- What passkeys have signed. A challenge is answered once, and then expires.
create table used_challenges (
  challenge text primary key,
  expires_at timestamptz not null
);
create index used_challenges_expiry on used_challenges (expires_at);
