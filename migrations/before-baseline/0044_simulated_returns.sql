-- Why the simulated bank has returned money by itself. Null if it was ordered to.
alter table simulated_bank.transfers add column reason text;
alter table simulated_bank.transfers add constraint transfers_reason
  check (reason in ('FRAUD', 'OPERATIONAL_FAILURE', 'SUBSCRIPTION_CLAIM', 'OTHER')) not valid;
