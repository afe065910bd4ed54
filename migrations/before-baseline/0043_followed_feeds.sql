-- Companies whose feed of events somebody follows by waiting for the next event. A transaction that
-- writes events notifies the servers only of these, because a notification makes commits wait for
-- each other.
create table followed_feeds (
  company_id uuid primary key,
  until timestamptz not null
);
