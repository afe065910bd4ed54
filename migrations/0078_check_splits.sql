-- no transaction
alter table balances validate constraint balances_recipients;
alter table postings validate constraint postings_recipients;
alter table withdrawals validate constraint withdrawals_recipient;
alter table withdrawals validate constraint withdrawals_recipient_key;
-- The mails that bound how often keys of recipients are changed.
drop index concurrently if exists mails_of_keys;
create index concurrently mails_of_keys on mails (company_id, created_at)
  where kind = 'recipient-key-changed';
