-- A charge has its entry too, so entries must cost little: one index serves all filters, and the
-- company is not looked up for each entry.
create index activity_use on activity (company_id, author_id, action, id);
drop index activity_author;
drop index activity_action;
alter table activity drop constraint activity_company_id_fkey;

-- The requests that companies have sent to the API in the last 7 days, without their bodies.
-- `part` is the day of the request (UTC) modulo 9: 8 days can hold requests of the last 7, and the
-- part of tomorrow is emptied before it is used again. So nothing has to be deleted row by row.
create table api_requests (
  company_id uuid not null,
  -- The request id as a UUID. Its time orders the requests.
  id uuid not null,
  part smallint not null check (part between 0 and 8),
  key_id uuid not null,
  operation text not null,
  status smallint not null,
  error_code text,
  ms integer not null,
  primary key (company_id, id, part)
) partition by list (part);
create index api_requests_use on api_requests (company_id, operation, key_id, id);
create index api_requests_failed on api_requests (company_id, id) where status >= 400;

do $$
begin
  for part in 0..8 loop
    execute format(
      'create table api_requests_%1$s partition of api_requests for values in (%1$s)', part);
  end loop;
end $$;
