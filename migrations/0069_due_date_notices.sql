-- no transaction
create index concurrently if not exists charges_notices on charges (notice_at)
  where notice_at is not null;
alter table charges validate constraint charges_received;
