-- Deliveries. What is still to be delivered stands in `deliveries`, and only that, so that the table
-- that is searched stays small; what has come to an end is moved to `delivery_log`.

-- Where an event stands in the feed: the number of the transaction that wrote it. Whoever reads up
-- to the oldest transaction that is still open has read all that can ever stand there, so a reader
-- that goes on from its last event misses none. Numbers begin again when a dump is restored into a new
-- cluster; the offset makes up for that.
alter table installation
  add column position_offset bigint not null default 0,
  add column last_position bigint not null default 0;
create function event_position() returns bigint language sql volatile as $$
  select pg_current_xact_id()::text::bigint
    + coalesce((select position_offset from installation), 0)
$$;
create function feed_horizon() returns bigint language sql stable as $$
  select pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    + coalesce((select position_offset from installation), 0)
$$;
alter table events add column position bigint not null default 0;
alter table events alter column position drop default;
create index events_feed on events (company_id, position, id);

alter table webhooks
  -- Signs beside the present secret until then.
  add column previous_secret_sealed bytea,
  add column previous_secret_until timestamptz,
  -- Since when nothing was delivered, how often in a row that was tried, and when the last time.
  add column failing_since timestamptz,
  add column failures integer not null default 0,
  add column failed_at timestamptz,
  -- A receiver that fails again and again is left alone for a while.
  add column paused_until timestamptz,
  add column warned_at timestamptz,
  -- Why it is inactive, when that was not the company's wish.
  add column deactivated text check (deactivated in ('GONE', 'FAILING')),
  add constraint webhooks_previous_secret
    check ((previous_secret_sealed is null) = (previous_secret_until is null));
create index webhooks_failing on webhooks (failing_since) where failing_since is not null;

create table deliveries (
  company_id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  -- How often it was tried since it was due for the first time, or again by an order.
  tries integer not null default 0,
  -- Every attempt, the oldest first.
  attempts jsonb not null default '[]',
  next_attempt_at timestamptz not null,
  created_at timestamptz not null,
  primary key (company_id, webhook_id, event_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0);
create index deliveries_due on deliveries (company_id, webhook_id, next_attempt_at, event_id);

create table delivery_log (
  company_id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  status text not null check (status in ('DELIVERED', 'FAILED')),
  attempts jsonb not null,
  created_at timestamptz not null,
  finished_at timestamptz not null,
  primary key (company_id, webhook_id, event_id)
);
-- What failed is looked for among the many that did not.
create index delivery_log_failed on delivery_log (company_id, webhook_id, event_id)
  where status = 'FAILED';
create index delivery_log_age on delivery_log using brin (finished_at) with (pages_per_range = 16);

-- Workers that deliver. Each holds an advisory lock on its number for as long as it lives, so that
-- what a dead one had in its hands is noticed within seconds.
create table workers (
  id bigint primary key,
  started_at timestamptz not null default now()
);

-- The webhooks that are being delivered to, each by one worker: it alone has their deliveries in its
-- hands, so that a delivery needs no claim of its own. Real time, whatever the clock of a company.
create table delivery_lines (
  company_id uuid not null,
  webhook_id uuid not null,
  worker bigint not null,
  until timestamptz not null,
  primary key (company_id, webhook_id)
) with (fillfactor = 50);
