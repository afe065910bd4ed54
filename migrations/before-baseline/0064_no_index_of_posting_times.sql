-- no transaction
-- The first entry of a period is found by halving, because entries are numbered in the order of time.
drop index concurrently if exists postings_time;
