-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- The header X-Warnings of a stored answer: the body of an older version does not have it.
alter table idempotency_keys add column warnings text;
