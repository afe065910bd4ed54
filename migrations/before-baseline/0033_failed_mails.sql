-- no transaction
-- Mails that were not accepted, among the many that were.
create index concurrently mails_failed on mails (id) where outcome = 'FAILED';
