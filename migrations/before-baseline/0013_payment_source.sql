-- Play money and real money. The source of a payment is part of what identifies it: `simulated` came
-- through the simulated bank, `bank` through the company's own. Neither can stand in the place of
-- the other, whatever its endToEndId.

-- Existing payments get their source by a default, so that no row is rewritten. Migration 0014
-- corrects those that are of the other source. A company never changes its mode.
do $$
declare
  source text := case when exists (select from companies where mode = 'live')
    then 'bank' else 'simulated' end;
begin
  execute format('alter table payments add column source text not null default %L', source);
  execute format('alter table refunds add column payment_source text not null default %L', source);
end $$;

-- What a bank has received is always booked. Checked for new rows now, for all in 0014.
alter table payments add constraint payments_source
  check (source in ('simulated', 'bank') and (source = 'simulated' or booked)) not valid;
alter table refunds add constraint refunds_payment_source
  check (payment_source in ('simulated', 'bank') and (payment_source = 'simulated' or booked))
  not valid;

-- The simulated bank gives out ids with its own number only. Older rows may have others.
alter table simulated_bank.transfers add constraint transfers_own_ids
  check (end_to_end_id ~ '^[ED]99999999') not valid;

-- Whether an event is about play money: all of a sandbox company's is, and what comes of a dev-mode
-- charge of a live one. Null for events from before this migration.
alter table events add column mode text;
alter table events add constraint events_mode check (mode in ('sandbox', 'dev', 'live')) not valid;
