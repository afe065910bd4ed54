-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- When somebody has changed in the dashboard where the money of a company goes.
alter table companies add column destination_changed_at timestamptz;
-- Until when a withdrawal waits for a second person because of that. Then it is sent without one.
alter table withdrawals add column held_until timestamptz;
