-- no transaction
-- Customers by the start of their names.
create index concurrently customers_name on customers
  (company_id, (lower(name)) text_pattern_ops, id);
