-- no transaction
-- The keys of payments with their source. Indexes are built while payments go on being written.

create unique index concurrently payments_identity on payments (company_id, end_to_end_id, source);
alter table payments drop constraint payments_pkey, add constraint payments_pkey primary key using index payments_identity;

-- A paid charge is booked if its payment is. In a live company that is what tells a bank's payment
-- from a simulated one; in a sandbox there is one source only.
create unique index concurrently charges_payment on charges (company_id, end_to_end_id, booked)
  where end_to_end_id is not null;
drop index concurrently if exists charges_end_to_end_id;

-- Play money that 0013 has given the source of the rest.
update payments p set source = 'simulated'
where p.source = 'bank' and (not p.booked or exists (
  select from companies c where c.id = p.company_id and c.mode = 'sandbox'));
update refunds r set payment_source = 'simulated'
where r.payment_source = 'bank' and (not r.booked or exists (
  select from companies c where c.id = r.company_id and c.mode = 'sandbox'));

-- From here on every payment names its source.
alter table payments alter column source drop default;
alter table refunds alter column payment_source drop default;
alter table payments validate constraint payments_source;
alter table refunds validate constraint refunds_payment_source;
