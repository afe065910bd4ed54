-- Until when pages got addresses without a tag. The version before makes such addresses until its
-- last server is replaced. A new installation has none, so it has no such time.
alter table installation add column plain_pages_end timestamptz;
update installation set plain_pages_end = now() + interval '1 day';
