-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

create table recipients (
  company_id uuid not null references companies,
  id uuid not null,
  name text not null,
  -- Names the sealed data, as in customers.
  tax_id_index bytea not null,
  -- Tax id and Pix key.
  sealed bytea not null,
  status text not null check (status in ('ACTIVE', 'INACTIVE')),
  -- When its Pix key was changed last, in real time. Null: it is the first one.
  key_changed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (company_id, id)
);
comment on table recipients is 'Those who get parts of what a company is paid.';

-- What the company owes its recipients. No posting of the version before changes it.
alter table balances add column recipients bigint not null default 0;
alter table balances add constraint balances_recipients
  check (recipients between 0 and 9007199254740991) not valid;
alter table postings add column recipients bigint default 0;
-- contract since 0067: no version before knows the column.
alter table postings alter column recipients drop default;
alter table postings add constraint postings_recipients check (recipients >= 0) not valid;

create table recipient_entries (
  company_id uuid not null,
  recipient_id uuid not null,
  -- Counts from 1 without a gap for each recipient.
  entry bigint not null check (entry > 0),
  -- The kind and the reference of the posting that it belongs to.
  kind text not null,
  ref text not null,
  charge_id uuid,
  -- What is added to what the recipient is owed or, below zero, taken off it.
  amount bigint not null check (amount <> 0),
  -- After this entry. Below zero the recipient owes the company, which has paid for it.
  balance bigint not null check (balance between -9007199254740991 and 9007199254740991),
  -- The company's last posting when this was written.
  posted bigint not null check (posted > 0),
  created_at timestamptz not null,
  primary key (company_id, recipient_id, entry),
  foreign key (company_id, recipient_id) references recipients
);
comment on table recipient_entries is
  'What the account recipients holds for each of them; rows are never changed or deleted.';
-- Nothing is given or taken twice.
create unique index recipient_entries_once
  on recipient_entries (company_id, ref, kind, recipient_id);
create index recipient_entries_of_charge on recipient_entries (company_id, charge_id)
  where charge_id is not null;
-- What an audit has not looked at.
create index recipient_entries_posted on recipient_entries (company_id, posted);

create trigger recipient_entries_append_only before update or delete on recipient_entries
  for each row execute function refuse_change();
create trigger recipient_entries_not_truncated before truncate on recipient_entries
  for each statement execute function refuse_change();

-- Who gets which part of a charge, and of the charges of a subscription. Null: nobody.
alter table charges add column split jsonb;
alter table recurrences add column split jsonb;

-- A payout to a recipient. Its Pix key is sealed, and `destination` has it masked.
alter table withdrawals add column recipient_id uuid;
alter table withdrawals add column key_sealed bytea;
alter table withdrawals add constraint withdrawals_recipient
  foreign key (company_id, recipient_id) references recipients not valid;
alter table withdrawals add constraint withdrawals_recipient_key
  check ((recipient_id is null) = (key_sealed is null)) not valid;
