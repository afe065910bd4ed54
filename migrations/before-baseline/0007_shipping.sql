-- Where a payer wants what they bought sent, as they wrote it on the page of a payment link. Sealed
-- like all that tells who somebody is or where they live.
alter table charges add column shipping_sealed bytea;
alter table charges add check (shipping_sealed is null or kind = 'LINK');
