-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- A server that has slept while its company moved to another place may write here when it wakes up.
-- With the first event that is refused, and with it all that was to be committed with the event.
delete from feeds f where not exists (select from companies c where c.id = f.company_id);
alter table feeds add constraint feeds_company foreign key (company_id) references companies;
