-- no transaction
-- Finds redeliveries that are a week old, whatever company they are of.
create index concurrently redeliveries_written on redeliveries (written_at);
