-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- The tables of the simulated bank move to those of all others, because a place is one schema, which
-- may have any name. No row is written.
do $$
declare
  one text;
begin
  foreach one in array array['transfers', 'agreements', 'collections', 'accounts'] loop
    execute format('alter table simulated_bank.%I rename to %I', one, 'simulated_' || one);
    execute format('alter table simulated_bank.%I set schema %I', 'simulated_' || one,
      current_schema());
  end loop;
  execute format('alter function simulated_bank.count_transfers() set schema %I', current_schema());
end $$;
drop schema simulated_bank;

-- See 0017_bank_accounts. Only the names of tables are others.
create or replace function count_transfers() returns trigger language plpgsql as $$
begin
  insert into simulated_accounts (account_id, balance)
  select i.account_id, (
      select sum(case t.direction when 'received' then t.amount else -t.amount end)
      from simulated_transfers t where t.account_id = i.account_id
    ) - sum(case i.direction when 'received' then i.amount else -i.amount end)
  from inserted i
  where not exists (
    select from simulated_accounts a where a.account_id = i.account_id)
  group by i.account_id order by i.account_id
  on conflict (account_id) do nothing;

  perform 1 from simulated_accounts
  where account_id in (select account_id from inserted) order by account_id for update;

  update simulated_accounts a set balance = a.balance + i.moved
  from (select account_id,
          sum(case direction when 'received' then amount else -amount end) as moved
        from inserted group by account_id) i
  where a.account_id = i.account_id;

  if exists (select from simulated_accounts a join inserted i using (account_id)
             where i.direction = 'received' and a.balance > 10000000000000) then
    raise exception 'the account would hold more than it may'
      using errcode = 'check_violation', constraint = 'account_is_full';
  end if;
  return null;
end $$;
