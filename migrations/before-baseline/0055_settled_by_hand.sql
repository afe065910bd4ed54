-- Charges that the merchant settles with a payment that did not match.
-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- Cents of the amount of a paid charge that have not arrived. The constraint holds for all that was
-- there before, because nothing had a shortfall.
alter table charges add column shortfall bigint not null default 0;
alter table charges add constraint charges_shortfall check (
  shortfall >= 0 and shortfall < amount and refunded <= amount - shortfall
  and (shortfall = 0 or status = 'COMPLETED')) not valid;

-- The charge that a payment settles, how many cents of the payment it got, and how many it lacks.
-- What is left of the payment is kept, returned or waits, as its status says.
alter table payments add column settled_charge_id uuid;
alter table payments add column settled bigint not null default 0;
alter table payments add column shortfall bigint not null default 0;
alter table payments add constraint payments_settled check (
  (settled_charge_id is null) = (settled = 0) and settled >= 0 and returned + settled <= amount
  and (settled = 0 or reason is not null)
  and shortfall >= 0 and (shortfall = 0 or (settled > 0 and returned + settled = amount))) not valid;

-- A payment that settles a charge is added to the hours as one that matches it.
create or replace function add_to_totals() returns trigger language plpgsql as $$
begin
  -- An update changes one payment. It counts if it is matched or settles a charge only now.
  if tg_op = 'UPDATE' then
    if exists (select from earlier where status = 'MATCHED' or settled > 0) then
      return null;
    end if;
  end if;
  insert into hourly_totals as t
    (company_id, hour, received_count, received, made_paid)
  select company_id, hour, sum(received_count), sum(received), sum(made_paid) from (
    select p.company_id, date_trunc('hour', p.received_at, 'UTC') as hour, 1 as received_count,
      case when p.settled > 0 then p.settled else p.amount end as received, 0 as made_paid
    from matched p join counted_hours k using (company_id)
    where p.booked and (p.status = 'MATCHED' or p.settled > 0)
      and p.received_at >= k.received_from
    union all
    select p.company_id, date_trunc('hour', c.created_at, 'UTC'), 0, 0, 1
    from matched p join counted_hours k using (company_id)
      join charges c on c.company_id = p.company_id
        and c.id = coalesce(p.settled_charge_id, p.charge_id)
    where p.booked and (p.status = 'MATCHED' or p.settled > 0) and c.kind <> 'STATIC'
      and c.created_at >= k.made_from and c.created_at < k.made_until
  ) added
  group by company_id, hour order by company_id, hour
  on conflict (company_id, hour) do update set
    received_count = t.received_count + excluded.received_count,
    received = t.received + excluded.received,
    made_paid = t.made_paid + excluded.made_paid;
  return null;
end $$;
