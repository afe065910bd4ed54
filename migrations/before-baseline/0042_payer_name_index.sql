-- no transaction
-- Finds customers by the words of their names.
create index concurrently customers_words on customers using gin (name_words(company_id, name));
