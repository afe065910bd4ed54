-- no transaction
-- The request log is for looking up what a client has sent. Nothing depends on it, so it is not in the
-- write-ahead log: a read of the API then writes none. If PostgreSQL crashes, or a standby takes over,
-- the request log is empty. Each part is locked while its rows are copied, and requests of that time
-- may be missing. With Citus, which changes such tables in other ways, they stay as they are.
do $$ begin if not exists (select from pg_extension where extname = 'citus') then set local lock_timeout = '5s'; alter table api_requests_0 set unlogged; end if; end $$;
do $$ begin if not exists (select from pg_extension where extname = 'citus') then set local lock_timeout = '5s'; alter table api_requests_1 set unlogged; end if; end $$;
do $$ begin if not exists (select from pg_extension where extname = 'citus') then set local lock_timeout = '5s'; alter table api_requests_2 set unlogged; end if; end $$;
do $$ begin if not exists (select from pg_extension where extname = 'citus') then set local lock_timeout = '5s'; alter table api_requests_3 set unlogged; end if; end $$;
do $$ begin if not exists (select from pg_extension where extname = 'citus') then set local lock_timeout = '5s'; alter table api_requests_4 set unlogged; end if; end $$;
do $$ begin if not exists (select from pg_extension where extname = 'citus') then set local lock_timeout = '5s'; alter table api_requests_5 set unlogged; end if; end $$;
do $$ begin if not exists (select from pg_extension where extname = 'citus') then set local lock_timeout = '5s'; alter table api_requests_6 set unlogged; end if; end $$;
do $$ begin if not exists (select from pg_extension where extname = 'citus') then set local lock_timeout = '5s'; alter table api_requests_7 set unlogged; end if; end $$;
do $$ begin if not exists (select from pg_extension where extname = 'citus') then set local lock_timeout = '5s'; alter table api_requests_8 set unlogged; end if; end $$;
