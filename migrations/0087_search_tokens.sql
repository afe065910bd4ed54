-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- Lets customers be found by parts of their names, phones, e-mail addresses and tax ids, most of
-- which are sealed: keyed hashes of the parts. Null are customers whom the task `index customers`
-- has not come to.
alter table customers add column search_tokens integer[];
