-- If the table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

alter table postings drop constraint postings_debit_check;
-- contract since 0067: it refuses less than the one before.
alter table postings add constraint postings_debit_check check (
  debit in ('bank', 'available', 'pending', 'held', 'unmatched', 'disputed', 'recipients')
) not valid;
alter table postings drop constraint postings_credit_check;
-- contract since 0067: it refuses less than the one before.
alter table postings add constraint postings_credit_check check (
  credit in ('bank', 'available', 'pending', 'held', 'unmatched', 'disputed', 'recipients')
) not valid;
