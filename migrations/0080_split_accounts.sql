-- If the table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

alter table postings drop constraint if exists postings_debit_check;
alter table postings drop constraint if exists postings_debit;
-- contract since 0067: it refuses less than the one before.
alter table postings add constraint postings_debit check (
  debit in ('bank', 'available', 'pending', 'held', 'unmatched', 'disputed', 'recipients')
) not valid;
alter table postings drop constraint if exists postings_credit_check;
alter table postings drop constraint if exists postings_credit;
-- contract since 0067: it refuses less than the one before.
alter table postings add constraint postings_credit check (
  credit in ('bank', 'available', 'pending', 'held', 'unmatched', 'disputed', 'recipients')
) not valid;
