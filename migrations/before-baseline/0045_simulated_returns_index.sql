-- no transaction
-- Finds what the simulated bank has returned of a payment.
create index concurrently transfers_returns on simulated_bank.transfers (account_id, returns)
  where returns is not null;
