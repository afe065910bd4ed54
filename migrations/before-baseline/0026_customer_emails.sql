-- Lets customers be found by their e-mail address, which is sealed. A customer who is older than
-- this is found by their charges until they are changed.
alter table customers add column email_index bytea;
