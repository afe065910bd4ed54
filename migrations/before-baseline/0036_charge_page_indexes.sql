-- no transaction
-- Finds what belongs to a charge. Creating a charge must not become slower, so what is written with
-- the charge is left out: its id is near that of the charge, and is found by that.

create index concurrently events_charge on events
  (company_id, (substr(payload, strpos(payload, '"charge_') + 8, 26)), id)
  where type not in ('charge.pending', 'charge.processing') and strpos(payload, '"charge_') > 0;

create index concurrently activity_charge on activity (company_id, record_id, id)
  where record_type = 'charge' and action not in ('createPixCharge', 'createPaymentLink');

-- Payments that named a charge and did not pay it.
create index concurrently payments_charge on payments (company_id, charge_id)
  where reason is not null and charge_id is not null;

-- The first withdrawal after a moment.
create index concurrently withdrawals_completed on withdrawals (company_id, created_at)
  where status = 'COMPLETED';
