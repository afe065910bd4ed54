-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- So figures of a year do not read the postings of a year. They are counted when somebody looks, or
-- by the audit: whoever books money pays nothing for it. Hours are those of UTC, which start where
-- those of São Paulo do, and days are those of São Paulo.
create table posting_sums (
  company_id uuid not null,
  span text not null check (span in ('hour', 'day')),
  starts_at timestamptz not null,
  kind text not null,
  debit text not null,
  credit text not null,
  -- Where received money came from. Empty: the posting is no receipt.
  source text not null,
  count bigint not null,
  sum bigint not null,
  -- The last posting in it. An hour and all before it end with the greatest one of its rows.
  last_entry bigint not null,
  primary key (company_id, span, starts_at, kind, debit, credit, source)
) with (fillfactor = 70);
comment on table posting_sums is
  'What was posted in each company by the hour and by the day, by kind, accounts and source.';

create table charge_counts (
  company_id uuid not null,
  hour timestamptz not null,
  -- Charges that were made in this hour, and how many of them are paid, whenever that was. Sales of
  -- static codes are left out, because they are made by being paid.
  made bigint not null default 0,
  paid bigint not null default 0,
  primary key (company_id, hour)
) with (fillfactor = 70);
comment on table charge_counts is
  'How many charges each company has made by the hour, and how many of those are paid.';

create table product_sums (
  company_id uuid not null,
  day date not null,
  product_id uuid not null,
  -- As it was sold last on that day: a product may be renamed or deleted.
  name text not null,
  quantity bigint not null,
  sum bigint not null,
  primary key (company_id, day, product_id)
) with (fillfactor = 70);
comment on table product_sums is
  'What each company has sold by day and product: items of paid links, and of subscriptions.';

create table late_receipts (
  company_id uuid not null,
  -- The first day of the month in which the bank has received it.
  month date not null,
  -- Its posting, which is in a later month.
  entry bigint not null,
  end_to_end_id text not null,
  received_at timestamptz not null,
  primary key (company_id, month, entry)
);
comment on table late_receipts is
  'Payments that the bank has received in one month and that were booked in a later one.';

-- A company has a row once its figures were counted.
create table counted_figures (
  company_id uuid primary key,
  -- Postings are counted up to this entry, and the latest moment of any of them. A later entry
  -- counts at its own moment or at this one, so that hours and days are parts of the books.
  entries bigint not null check (entries >= 0),
  latest timestamptz,
  -- Charges that were made from here on and before `made_until` are counted.
  made_from timestamptz not null,
  made_until timestamptz not null,
  check (made_from <= made_until)
);
comment on table counted_figures is 'Up to where the figures of each company are counted.';

create table closings (
  company_id uuid not null,
  -- The first day of the month.
  month date not null,
  -- The last posting of the month and of all before it.
  last_entry bigint not null check (last_entry >= 0),
  -- Balances, movements, and what waited for a decision at its end.
  record jsonb not null,
  closed_at timestamptz not null,
  primary key (company_id, month)
);
comment on table closings is 'Months that are over, as their books were at the end. Never changed.';
create function refuse_change_of_closing() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if is_left_behind(old.company_id) then
      return old;
    end if;
  end if;
  raise exception 'a closing is never changed or deleted';
end $$;
create trigger closings_append_only before update or delete on closings
  for each row execute function refuse_change_of_closing();
