-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- The trace and the span of the request that has caused an event, 16 and 8 bytes, so that its
-- deliveries are part of the same trace. Null if nothing was traced.
alter table events add column trace bytea;
