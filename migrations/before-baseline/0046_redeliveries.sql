-- Deliveries that a company has asked for again while somebody followed its feed, at the position
-- at which that was asked for. They are kept for a week.
create table redeliveries (
  company_id uuid not null,
  position bigint not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  asked_at timestamptz not null,
  written_at timestamptz not null default now(),
  primary key (company_id, position, id)
);
