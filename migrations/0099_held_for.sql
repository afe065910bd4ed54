-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- Who had changed where the money goes when a withdrawal was started, if that was a short time
-- before. They never approve it, whatever is changed afterwards.
alter table withdrawals add column held_for uuid;
alter table withdrawals add constraint withdrawals_approved_by_another_than_changer
  check (approved_by <> held_for) not valid;
