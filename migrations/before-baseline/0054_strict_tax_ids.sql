-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- Whether a sandbox company checks the digits of tax ids as a live one does.
alter table companies add column strict_tax_ids boolean not null default false;
