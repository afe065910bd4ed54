-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- The feed of each company, and the position at which events were last written to it. A transaction
-- that writes events counts it up, which locks the row until it commits. So positions become
-- visible in their order, and whoever reads on from one misses nothing. The row is locked last, just
-- before the commit, and by one company only.
create table feeds (
  company_id uuid primary key,
  last bigint not null
-- A changed row finds room on its page, so that no index has to be changed with it.
) with (fillfactor = 50);

-- Until now the number of the transaction was the position. New ones come after all of those.
insert into feeds (company_id, last) select id, event_position() + 1000000 from companies;
drop function event_position();
drop function feed_horizon();
alter table installation drop column position_offset;
alter table installation drop column last_position;
