-- How much a company has received and how many of its charges were paid, by the hour, so that a
-- page with figures of 90 days does not read 90 days of charges. Hours start where those of UTC do;
-- so do the hours of São Paulo.

-- An hour in which nothing happened has no row.
create table hourly_totals (
  company_id uuid not null,
  hour timestamptz not null,
  -- Payments of charges in this hour that are booked.
  received_count bigint not null default 0,
  received bigint not null default 0,
  -- Charges that were made in this hour, and how many of them are paid, whenever that was. Sales of
  -- static codes are left out, because they are made by being paid.
  made bigint not null default 0,
  made_paid bigint not null default 0,
  primary key (company_id, hour)
) with (fillfactor = 70);

-- Which hours are counted. A company has a row once somebody has asked for its figures.
create table counted_hours (
  company_id uuid primary key,
  -- Payments are counted from here on. New ones are added by the trigger below.
  received_from timestamptz not null,
  -- Charges that were made from here on and before `made_until` are counted.
  made_from timestamptz not null,
  made_until timestamptz not null,
  check (made_from <= made_until)
);

-- Adds payments to the hours that are counted. Whoever records a payment has locked the books of the
-- company, and so has whoever counts: none is forgotten, and none is counted twice.
create function add_to_totals() returns trigger language plpgsql as $$
begin
  -- An update changes one payment. It counts if it is matched only now.
  if tg_op = 'UPDATE' then
    if exists (select from earlier where status = 'MATCHED') then
      return null;
    end if;
  end if;
  insert into hourly_totals as t
    (company_id, hour, received_count, received, made_paid)
  select company_id, hour, sum(received_count), sum(received), sum(made_paid) from (
    select p.company_id, date_trunc('hour', p.received_at, 'UTC') as hour,
      1 as received_count, p.amount as received, 0 as made_paid
    from matched p join counted_hours k using (company_id)
    where p.booked and p.status = 'MATCHED' and p.received_at >= k.received_from
    union all
    select p.company_id, date_trunc('hour', c.created_at, 'UTC'), 0, 0, 1
    from matched p join counted_hours k using (company_id)
      join charges c on c.company_id = p.company_id and c.id = p.charge_id
    where p.booked and p.status = 'MATCHED' and c.kind <> 'STATIC'
      and c.created_at >= k.made_from and c.created_at < k.made_until
  ) added
  group by company_id, hour order by company_id, hour
  on conflict (company_id, hour) do update set
    received_count = t.received_count + excluded.received_count,
    received = t.received + excluded.received,
    made_paid = t.made_paid + excluded.made_paid;
  return null;
end $$;

-- If a running statement keeps the table, give up soon, because later statements would wait behind
-- this one.
set local lock_timeout = '5s';
create trigger add_new_to_totals after insert on payments
  referencing new table as matched for each statement execute function add_to_totals();

-- A payment that matched no charge is matched when the bank names its charge later.
create trigger add_matched_to_totals after update on payments
  referencing old table as earlier new table as matched for each statement execute function add_to_totals();
