-- no transaction
-- Requests of one operation, whatever their key, and refused and failed ones, each in the order of
-- their ids. Two indexes take the place of two, so that writing the log costs no more. They are built
-- on each part, because an index of the whole table cannot be built beside writers.

create index if not exists api_requests_operation on only api_requests (company_id, operation, id);
create index concurrently api_requests_0_operation on api_requests_0 (company_id, operation, id);
create index concurrently api_requests_1_operation on api_requests_1 (company_id, operation, id);
create index concurrently api_requests_2_operation on api_requests_2 (company_id, operation, id);
create index concurrently api_requests_3_operation on api_requests_3 (company_id, operation, id);
create index concurrently api_requests_4_operation on api_requests_4 (company_id, operation, id);
create index concurrently api_requests_5_operation on api_requests_5 (company_id, operation, id);
create index concurrently api_requests_6_operation on api_requests_6 (company_id, operation, id);
create index concurrently api_requests_7_operation on api_requests_7 (company_id, operation, id);
create index concurrently api_requests_8_operation on api_requests_8 (company_id, operation, id);
alter index api_requests_operation attach partition api_requests_0_operation;
alter index api_requests_operation attach partition api_requests_1_operation;
alter index api_requests_operation attach partition api_requests_2_operation;
alter index api_requests_operation attach partition api_requests_3_operation;
alter index api_requests_operation attach partition api_requests_4_operation;
alter index api_requests_operation attach partition api_requests_5_operation;
alter index api_requests_operation attach partition api_requests_6_operation;
alter index api_requests_operation attach partition api_requests_7_operation;
alter index api_requests_operation attach partition api_requests_8_operation;

create index if not exists api_requests_class on only api_requests (company_id, (status / 100), id)
  where status >= 400;
create index concurrently api_requests_0_class on api_requests_0 (company_id, (status / 100), id)
  where status >= 400;
create index concurrently api_requests_1_class on api_requests_1 (company_id, (status / 100), id)
  where status >= 400;
create index concurrently api_requests_2_class on api_requests_2 (company_id, (status / 100), id)
  where status >= 400;
create index concurrently api_requests_3_class on api_requests_3 (company_id, (status / 100), id)
  where status >= 400;
create index concurrently api_requests_4_class on api_requests_4 (company_id, (status / 100), id)
  where status >= 400;
create index concurrently api_requests_5_class on api_requests_5 (company_id, (status / 100), id)
  where status >= 400;
create index concurrently api_requests_6_class on api_requests_6 (company_id, (status / 100), id)
  where status >= 400;
create index concurrently api_requests_7_class on api_requests_7 (company_id, (status / 100), id)
  where status >= 400;
create index concurrently api_requests_8_class on api_requests_8 (company_id, (status / 100), id)
  where status >= 400;
alter index api_requests_class attach partition api_requests_0_class;
alter index api_requests_class attach partition api_requests_1_class;
alter index api_requests_class attach partition api_requests_2_class;
alter index api_requests_class attach partition api_requests_3_class;
alter index api_requests_class attach partition api_requests_4_class;
alter index api_requests_class attach partition api_requests_5_class;
alter index api_requests_class attach partition api_requests_6_class;
alter index api_requests_class attach partition api_requests_7_class;
alter index api_requests_class attach partition api_requests_8_class;

drop index if exists api_requests_use;
drop index if exists api_requests_failed;
