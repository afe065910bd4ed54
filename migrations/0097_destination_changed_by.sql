-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- Who has changed where the money of a company goes: they do not approve a withdrawal meanwhile.
alter table companies add column destination_changed_by uuid;
