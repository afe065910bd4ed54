-- no transaction
-- A statement that is filtered by a kind which is rare. Most entries are of the two kinds that are
-- left out: they need no index to be found, and booking a payment must not become slower.
create index concurrently postings_rare on postings (company_id, kind, entry)
  where kind not in ('CHARGE_PAID', 'CHARGE_SETTLED');
