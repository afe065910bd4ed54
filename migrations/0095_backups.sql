-- If the table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- The moment of the last backup that was made, which is known in all places.
alter table installation add column backed_up_at timestamptz;
-- The secret of which the operator has shown a copy that is kept elsewhere.
alter table installation add column saved_secret_key_id text;
-- While a backup is restored, no server starts: it would send what has been sent already.
alter table installation add column restoring_since timestamptz;
-- The moment that the data was restored to, and when. Null: it was never restored.
alter table installation add column restored_to timestamptz;
alter table installation add column restored_at timestamptz;
