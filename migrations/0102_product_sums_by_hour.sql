-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- As `posting_sums`, so that what was sold until now is compared with the period before until the
-- same time.
-- contract since 0067: no release has this table
drop table product_sums;
create table product_sums (
  company_id uuid not null,
  span text not null check (span in ('hour', 'day')),
  starts_at timestamptz not null,
  product_id uuid not null,
  -- As it was sold last in that time: a product may be renamed or deleted.
  name text not null,
  quantity bigint not null,
  sum bigint not null,
  primary key (company_id, span, starts_at, product_id)
) with (fillfactor = 70);
comment on table product_sums is
  'What each company has sold by hour, day and product: items of paid links, and of subscriptions.';

-- All is counted again by whoever looks at figures. No release has counted anything yet.
delete from posting_sums;
delete from charge_counts;
delete from late_receipts;
delete from counted_figures;
