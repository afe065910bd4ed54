-- A row is the lease that one worker has on a webhook. The old name called it a line. A rename changes
-- the catalog only: no row is read or written. If a running statement keeps the table, give up soon,
-- because later statements would wait behind this one.
set local lock_timeout = '5s';
alter table delivery_lines rename to webhook_leases;
alter table webhook_leases rename constraint delivery_lines_pkey to webhook_leases_pkey;
