-- no transaction
-- What subscriptions bring in, and how many began and ended in a period.
drop index concurrently if exists recurrences_active;
create index concurrently recurrences_active on recurrences (company_id) include (frequency, value)
  where auth_status = 'APPROVED' and not is_template;
drop index concurrently if exists recurrences_started;
create index concurrently recurrences_started on recurrences (company_id, created_at)
  where first_on is not null and not is_template;
drop index concurrently if exists recurrences_canceled;
create index concurrently recurrences_canceled on recurrences (company_id, decided_at)
  where auth_status = 'CANCELED' and first_on is not null and not is_template;
-- Charges of subscriptions that were due and are not paid.
drop index concurrently if exists billings_overdue;
create index concurrently billings_overdue on billings (company_id, due_on)
  where status in ('PLANNED', 'SCHEDULED', 'FAILED');
