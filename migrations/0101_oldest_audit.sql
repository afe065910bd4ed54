-- no transaction
-- The audit that is longest ago, which /metrics reads however many companies there are.
create index concurrently if not exists audits_by_time on audits (audited_at);
