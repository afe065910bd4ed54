-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- The days of a company's reminders, which every charge with a due date that is made asks for.
alter table companies add column reminder_days jsonb not null default '[]';

create table reminder_rules (
  company_id uuid not null references companies,
  -- The due date of a charge, or a charge of a subscription that was not collected.
  occasion text not null check (occasion in ('DUE_DATE', 'COLLECTION_FAILED')),
  -- From the due date; 0 where there is none.
  day integer not null check (day between -30 and 30),
  enabled boolean not null,
  channel text not null check (channel in ('EMAIL', 'WEBHOOK')),
  -- Subject and text by language, where the company has written them itself.
  texts jsonb not null default '{}',
  primary key (company_id, occasion, day),
  check (occasion = 'DUE_DATE' or day = 0)
);
comment on table reminder_rules is 'When a company reminds its payers, and in which words.';

-- A row is there until the open charges of the company follow its new rules.
create table reminder_changes (
  company_id uuid primary key references companies,
  due_at timestamptz not null,
  -- The last charge that follows them already.
  after uuid
);
comment on table reminder_changes is
  'Companies whose open charges are to follow new rules of reminders.';
create index reminder_changes_due on reminder_changes (due_at);

create table reminders (
  company_id uuid not null,
  charge_id uuid not null,
  occasion text not null,
  -- The day of its rule, or which attempt has failed; 0: all of them.
  number integer not null,
  said_at timestamptz not null,
  -- That of the mail, which is deleted some time after it was sent.
  mail_id uuid,
  -- Why there is no mail.
  unmailed text check (unmailed in ('CHANNEL', 'NO_ADDRESS', 'UNSUBSCRIBED')),
  primary key (company_id, charge_id, occasion, number),
  foreign key (company_id, charge_id) references charges (company_id, id),
  check ((mail_id is null) = (unmailed is not null))
);
comment on table reminders is 'Reminders of charges. Each is written once, with its event and mail.';

create table reminder_stops (
  company_id uuid not null,
  -- The keyed hash of an address.
  email_index bytea not null,
  created_at timestamptz not null,
  primary key (company_id, email_index)
);
comment on table reminder_stops is 'Payers who want no reminders of a company by e-mail.';
