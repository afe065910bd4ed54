-- no transaction
-- The open charges with a due date of a company, which follow changed rules of reminders.
create index concurrently if not exists charges_open_due on charges (company_id, id)
  where status = 'OPEN' and due is not null;
-- Mails to payers, reminders too. The version before uses mails_to_payers_due.
create index concurrently if not exists mails_payers_due on mails (company_id, kind, next_attempt_at)
  where finished_at is null and kind in ('payment-link', 'receipt', 'reminder');
