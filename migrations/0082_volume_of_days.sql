-- no transaction
-- What all companies have received on the last days, for operators.
drop index concurrently if exists posting_sums_received;
create index concurrently posting_sums_received on posting_sums (starts_at)
  where span = 'day' and debit = 'bank';
