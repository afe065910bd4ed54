-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- Whether a payment that names no charge settles the only charge that it fits.
alter table companies add column settles_exact_payments boolean not null default false;
-- The merchant's own name of a static code, which its sales have too.
alter table static_codes add column external_id text;
alter table static_codes add constraint static_codes_external_id
  check (length(external_id) between 1 and 255) not valid;
