-- The bank's own id of a payout. Some banks can be asked about a payout by nothing else.
alter table withdrawals add column bank_reference text;
