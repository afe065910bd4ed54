-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- Also the messages with which plans, links for many and subscriptions are sent.
alter table company_messages drop constraint company_messages_sort_check;
-- contract since 0067: it refuses less than the one before.
alter table company_messages add constraint company_messages_sort_check check (
  sort in ('charge', 'link', 'overdue', 'receipt', 'plan', 'reusable', 'subscription')
) not valid;
