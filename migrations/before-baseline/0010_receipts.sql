-- Whether payers of the company get a mail when they have paid.
alter table companies add column mails_receipts boolean not null default true;

-- A receipt waits for whoever is in a hurry: a code that ends in ten minutes must not stand in a
-- line of thousands of receipts.
create index mails_due_first on mails (next_attempt_at)
  where finished_at is null and kind <> 'receipt';
