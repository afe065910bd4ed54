-- no transaction
create index concurrently if not exists customers_search_tokens on customers using gin (search_tokens);
create index concurrently if not exists customers_unindexed on customers (company_id, id)
  where search_tokens is null;
-- The parts of names are among those tokens, so a new payer has one index fewer. Until the version
-- before has stopped, it finds words of names by reading the customers of their company.
drop index concurrently if exists customers_name_words;
-- References in any case and by their beginning. It takes the place of an index, so that a charge is
-- created at the same cost. Until the version before has stopped, it finds references by reading
-- the charges of their company.
create index concurrently if not exists charges_reference
  on charges (company_id, lower(external_id) text_pattern_ops, id) where external_id is not null;
drop index concurrently if exists charges_external_id;
-- Withdrawals by their amounts and by the scheme's ids.
create index concurrently if not exists withdrawals_value on withdrawals (company_id, value, id);
create index concurrently if not exists withdrawals_end_to_end
  on withdrawals (company_id, end_to_end_id text_pattern_ops) where end_to_end_id is not null;
