-- no transaction
-- The open charges with a due date of a company, which follow changed rules of reminders.
create index concurrently if not exists charges_open_due on charges (company_id, id)
  where status = 'OPEN' and due is not null;
-- Reminders are sent after all other mails, which are found without them. The version before uses
-- mails_first_due.
create index concurrently if not exists mails_before_reminders_due
  on mails (company_id, next_attempt_at)
  where finished_at is null and kind not in ('payment-link', 'receipt', 'reminder');
create index concurrently if not exists mails_reminders_due on mails (company_id, next_attempt_at)
  where finished_at is null and kind = 'reminder';
