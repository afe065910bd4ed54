-- Functions in another form for Citus, which does not join the new rows of a statement with tables
-- that it holds. They are read into arrays first. On plain PostgreSQL that is slower, so there the
-- functions stay as in the baseline. If one of them changes in a migration,
-- change it here too: this file is run after each migration of a place that Citus holds.
create or replace function count_transfers() returns trigger language plpgsql as $$
declare
  accounts uuid[];
  sums bigint[];
  receiving uuid[];
begin
  select array_agg(account_id order by account_id), array_agg(moved order by account_id),
    array_agg(account_id) filter (where receives)
  into accounts, sums, receiving
  from (select account_id, bool_or(direction = 'received') as receives,
          sum(case direction when 'received' then amount else -amount end)::bigint as moved
        from inserted group by account_id) i;
  if accounts is null then
    return null;
  end if;

  insert into simulated_accounts (account_id, balance)
  select i.account_id, (
      select sum(case t.direction when 'received' then t.amount else -t.amount end)
      from simulated_transfers t where t.account_id = i.account_id
    ) - i.moved
  from unnest(accounts, sums) i (account_id, moved)
  where not exists (
    select from simulated_accounts a where a.account_id = i.account_id)
  order by i.account_id
  on conflict (account_id) do nothing;

  -- In the order of accounts, so that two statements cannot wait for each other.
  perform 1 from simulated_accounts
  where account_id = any (accounts) order by account_id for update;

  update simulated_accounts a set balance = a.balance + i.moved
  from unnest(accounts, sums) i (account_id, moved)
  where a.account_id = i.account_id;

  if exists (select from simulated_accounts
             where account_id = any (receiving) and balance > 10000000000000) then
    raise exception 'the account would hold more than it may'
      using errcode = 'check_violation', constraint = 'account_is_full';
  end if;
  return null;
end $$;

create or replace function add_to_totals() returns trigger language plpgsql as $$
declare
  companies uuid[];
  paid uuid[];
  times timestamptz[];
  amounts bigint[];
begin
  -- An update changes one payment. It counts if it is matched or settles a charge only now.
  if tg_op = 'UPDATE' then
    if exists (select from earlier where status = 'MATCHED' or settled > 0) then
      return null;
    end if;
  end if;
  select array_agg(company_id), array_agg(coalesce(settled_charge_id, charge_id)),
    array_agg(received_at), array_agg(case when settled > 0 then settled else amount end)
  into companies, paid, times, amounts
  from matched where booked and (status = 'MATCHED' or settled > 0);
  if companies is null then
    return null;
  end if;
  with added as materialized (
    select p.company_id, date_trunc('hour', h.at, 'UTC') as hour, sum(h.received_count),
      sum(h.received), sum(h.made_paid)
    from unnest(companies, paid, times, amounts) p (company_id, charge_id, received_at, amount)
      join counted_hours k using (company_id)
      left join charges c on c.company_id = p.company_id and c.id = p.charge_id
      cross join lateral (values
        (case when p.received_at >= k.received_from then p.received_at end, 1, p.amount, 0),
        (case when c.kind <> 'STATIC' and c.created_at >= k.made_from
                and c.created_at < k.made_until then c.created_at end, 0, 0, 1)
      ) h (at, received_count, received, made_paid)
    where h.at is not null
    group by p.company_id, 2 order by p.company_id, 2
  )
  insert into hourly_totals as t (company_id, hour, received_count, received, made_paid)
  select * from added
  on conflict (company_id, hour) do update set
    received_count = t.received_count + excluded.received_count,
    received = t.received + excluded.received,
    made_paid = t.made_paid + excluded.made_paid;
  return null;
end $$;
