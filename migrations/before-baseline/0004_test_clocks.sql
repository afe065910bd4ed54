-- Test clocks. A sandbox company can move its time forward: its now is the real one and `ahead_ms`
-- more. Whatever the company's records say of time, when they are due too, is said in the company's
-- own time, and who looks for due work compares it with that. A company without a row lives in real
-- time.
create table test_clocks (
  company_id uuid primary key references companies,
  -- Never less than before. At most a hundred years.
  ahead_ms bigint not null check (ahead_ms between 0 and 3155760000000),
  -- The moment that the company's time is on its way to; null while it only goes by.
  target timestamptz
);
create index test_clocks_advancing on test_clocks (company_id) where target is not null;

-- What is due for one company is found without looking at the others. Open charges, withdrawals and
-- deliveries have their indexes; a charge enters this one when it is paid, and leaves it soon. It says
-- PAID in other words than charges_unsettled, which is there for all companies: whoever uses them
-- gets this index and not that one, whatever the planner believes.
create index charges_settling on charges (company_id, settles_at)
  where payment_date is not null and payment_status not in ('RECEIVED', 'REFUNDED');
create index refunds_under_way on refunds (company_id, next_attempt_at)
  where status = 'PROCESSING';
