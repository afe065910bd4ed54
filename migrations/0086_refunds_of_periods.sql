-- no transaction
-- The refunds of a period, which finance lists and sums.
create index concurrently if not exists refunds_created on refunds (company_id, created_at);
