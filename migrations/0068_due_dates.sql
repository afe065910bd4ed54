-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- The terms of a charge with a due date, and what its payer paid by them.
alter table charges add column due jsonb;
-- What was paid beyond the amount, as fine and interest, or below zero what was taken off it.
alter table charges add column adjustment bigint not null default 0;
-- When something is to be said about the due date next.
alter table charges add column notice_at timestamptz;
-- A bank has charges with a due date apart from the others.
alter table charge_intents add column has_due_date boolean not null default false;

alter table charges drop constraint charges_refunded;
alter table charges drop constraint charges_shortfall;
alter table charges add constraint charges_received check (
  adjustment > -amount and shortfall >= 0 and refunded >= 0
  and shortfall < amount + adjustment and refunded <= amount + adjustment - shortfall
  and (shortfall = 0 or status = 'COMPLETED') and (adjustment = 0 or status = 'COMPLETED')
) not valid;
