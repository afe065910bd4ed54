-- no transaction
-- Why a mail waits or was not sent, if no mail server has refused it, and the charge it is about.
alter table mails add column if not exists reason text;
alter table mails add column if not exists charge_id uuid;

-- What is left of the limits on mails: the moment at which each budget is whole again. A budget that
-- is whole has no row. All places count in the first one.
create table if not exists mail_budgets (
  name text primary key,
  full_at timestamptz not null
);

-- Mails to payers are sent after all others, one company after the other, links before receipts.
create index concurrently mails_first_due on mails (company_id, next_attempt_at)
  where finished_at is null and kind not in ('payment-link', 'receipt');
create index concurrently mails_to_payers_due on mails (company_id, kind, next_attempt_at)
  where finished_at is null and kind in ('payment-link', 'receipt');
drop index concurrently if exists mails_codes_due;
drop index concurrently if exists mails_others_due;

-- Mails about a charge that its payer has not got.
create index concurrently mails_not_sent on mails (company_id, charge_id)
  where charge_id is not null and outcome in ('FAILED', 'EXPIRED');
