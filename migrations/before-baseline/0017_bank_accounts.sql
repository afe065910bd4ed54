-- What each account at the simulated bank holds. The bank counts it with every transfer, so that
-- payments that arrive at the same moment cannot fill an account beyond its limit together.

create table simulated_bank.accounts (
  account_id uuid primary key,
  balance bigint not null
);

-- Counts transfers. An account that is not counted yet begins with what it had before them. If it
-- would then hold more than R$ 100 billion, what adds to it is refused.
create function simulated_bank.count_transfers() returns trigger language plpgsql as $$
begin
  insert into simulated_bank.accounts (account_id, balance)
  select i.account_id, (
      select sum(case t.direction when 'received' then t.amount else -t.amount end)
      from simulated_bank.transfers t where t.account_id = i.account_id
    ) - sum(case i.direction when 'received' then i.amount else -i.amount end)
  from inserted i
  where not exists (
    select from simulated_bank.accounts a where a.account_id = i.account_id)
  group by i.account_id order by i.account_id
  on conflict (account_id) do nothing;

  -- In the order of accounts, so that two statements cannot wait for each other.
  perform 1 from simulated_bank.accounts
  where account_id in (select account_id from inserted) order by account_id for update;

  update simulated_bank.accounts a set balance = a.balance + i.moved
  from (select account_id,
          sum(case direction when 'received' then amount else -amount end) as moved
        from inserted group by account_id) i
  where a.account_id = i.account_id;

  if exists (select from simulated_bank.accounts a join inserted i using (account_id)
             where i.direction = 'received' and a.balance > 10000000000000) then
    raise exception 'the account would hold more than it may'
      using errcode = 'check_violation', constraint = 'account_is_full';
  end if;
  return null;
end $$;

create trigger count_transfers after insert on simulated_bank.transfers
  referencing new table as inserted for each statement
  execute function simulated_bank.count_transfers();
