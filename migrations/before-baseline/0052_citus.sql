-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- When a lease was taken, which is compared with the end of the lease before: Citus takes no now()
-- in the condition of a conflict.
alter table webhook_leases add column taken_at timestamptz not null default now();
