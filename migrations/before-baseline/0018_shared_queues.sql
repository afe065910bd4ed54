-- no transaction
-- Accounts that had transfers before they were counted. What is counted meanwhile is left as it is.
insert into simulated_bank.accounts (account_id, balance)
select account_id, sum(case direction when 'received' then amount else -amount end)
from simulated_bank.transfers group by account_id
on conflict (account_id) do nothing;

-- Callbacks that wait take turns by company.
create index concurrently bank_callbacks_waiting on bank_callbacks (company_id, next_attempt_at)
  where processed_at is null;
drop index concurrently if exists bank_callbacks_due;

-- How often a company has changed its address lately.
create index concurrently mails_of_changes on mails (company_id, created_at)
  where kind = 'email-confirmed';
