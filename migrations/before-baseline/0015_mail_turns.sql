-- no transaction
-- One-time codes go out first. All other mails take turns by company; of a company what tells it of
-- its money comes first, then links, then receipts.

create index concurrently mails_codes_due on mails (company_id, next_attempt_at)
  where finished_at is null and kind = 'withdrawal-code';

create index concurrently mails_others_due on mails (company_id,
    (case kind when 'payment-link' then 1 when 'receipt' then 2 else 0 end), next_attempt_at)
  where finished_at is null and kind <> 'withdrawal-code';

-- How many codes a company was sent lately.
create index concurrently mails_codes_sent on mails (company_id, created_at)
  where kind = 'withdrawal-code';

drop index concurrently if exists mails_due_first;
