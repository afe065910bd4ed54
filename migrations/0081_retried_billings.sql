-- no transaction
-- Debits that have failed and are tried again: few, and none of those that wait for their first day.
create index concurrently if not exists billings_retried on billings (company_id, recurrence_id)
  where status in ('PLANNED', 'SCHEDULED')
    and (next_at at time zone 'America/Sao_Paulo')::date > due_on;
