-- no transaction
-- Defenses of disputes that were closed, the oldest first, which are erased when they are old.
drop index concurrently if exists disputes_old_defenses;
create index concurrently disputes_old_defenses on disputes (closed_at)
  where defense_sealed is not null and closed_at is not null;
