-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- The last migration that a version must know to work on the tables as this migration leaves them.
alter table schema_migrations add column if not exists needs integer not null default 0;

-- What each table holds. The baseline says the same.

comment on table schema_migrations is 'Migrations that were applied to this database.';
comment on table installation is 'What this database was set up with, in one row.';
comment on table company_moves is 'Companies that are being moved from or to this place.';
comment on table company_changes is
  'Rows of a company that moves which were changed while it was copied, by their keys.';
comment on table workers is 'Processes that deliver events.';
comment on table setbacks is
  'Companies whose work fails in a task, and until when the task leaves them alone.';
comment on table backfills is 'How far tasks have come that complete records of older versions.';
comment on table companies is 'Companies that collect money, with their settings.';
comment on table api_keys is
  'API keys of companies: what they may do, and a keyed hash of their secret.';
comment on table logos is
  'Images of companies that we serve ourselves, rebuilt from their essential parts.';
comment on table test_clocks is 'How far sandbox companies have moved their time forward.';
comment on table people is 'People who sign in to the dashboard and to the operator''s pages.';
comment on table memberships is 'Which people belong to which companies, and in which role.';
comment on table sessions is 'Browsers that are signed in; a session that ends is deleted.';
comment on table person_links is
  'Links that work once: to sign in, to accept an invitation, to choose a new password.';
comment on table recovery_codes is 'Hashes of the codes that replace a lost second factor once.';
comment on table passkeys is 'Public keys of the passkeys of people.';
comment on table used_challenges is
  'Challenges that passkeys have signed: each is answered once, and deleted when it expires.';
comment on table wrong_sign_ins is 'Wrong passwords and codes, counted by person and hour.';
comment on table customers is 'Customers of companies; what tells who they are is sealed.';
comment on table former_tax_ids is
  'Tax ids that customers had before they were changed or deleted, as keyed hashes.';
comment on table products is 'Products that companies sell, once or by subscription.';
comment on table charges is 'Charges in all states, each with its own copy of the payer.';
comment on table charge_emails is
  'Keyed hashes of payers'' e-mail addresses, of charges older than the column `email_index`.';
comment on table charge_intents is
  'Charges that a bank may have been told of and that are not recorded yet.';
comment on table charge_openings is
  'When somebody first looked at the payment page of a charge, and when a link got its code.';
comment on table charge_mails is 'Mails about a charge that people have sent from the dashboard.';
comment on table static_codes is 'QR codes that can be paid again and again.';
comment on table recurrences is
  'Subscriptions: agreements with payers, and templates from which payers start agreements.';
comment on table billings is
  'How the bank collects each charge of a subscription: one row for each cycle.';
comment on table bank_connections is
  'The bank of each live company; what opens its account is sealed.';
comment on table bank_callbacks is
  'What banks have reported, stored before it is answered and confirmed before it counts.';
comment on table reconciliations is
  'Until when the bank of each company was asked what has arrived, and when it is asked next.';
comment on table hourly_totals is
  'How much each company has received by the hour, and how many of its charges were paid.';
comment on table counted_hours is 'Which hours of a company are counted in `hourly_totals`.';
comment on table payments is
  'Pix payments that have arrived, each once, by the scheme''s own id and its source.';
comment on table refunds is
  'Money that goes back to payers, ordered by the company or returned by the bank.';
comment on table withdrawals is
  'Money that companies take out, from the one-time code to the outcome at the bank.';
comment on table approval_limits is
  'Amounts above which withdrawals of a company need a second person.';
comment on table balances is 'The present balances of each company.';
comment on table postings is 'All movements of money; rows are never changed or deleted.';
comment on table audits is
  'How far each company''s books were checked, and what was wrong if they were not right.';
comment on table events is 'What has happened to records of companies; rows are never changed.';
comment on table feeds is 'The position at which events of each company were last written.';
comment on table followed_feeds is 'Companies whose events somebody waits for.';
comment on table webhooks is 'Addresses to which companies want their events delivered.';
comment on table webhook_leases is 'Webhooks that are being delivered to, each by one worker.';
comment on table deliveries is 'Events that are still to be delivered to a webhook.';
comment on table delivery_log is 'Deliveries that have succeeded or were given up.';
comment on table redeliveries is
  'Deliveries that a company has asked for again while somebody followed its feed, for a week.';
comment on table mails is 'Mails that are to be sent, and the outcome of those that were.';
comment on table mail_budgets is
  'What is left of the limits on mails: the moment at which each limit is whole again.';
comment on table idempotency_keys is
  'Answers that are stored under the Idempotency-Key of a request.';
comment on table activity is
  'What was changed in companies, by whom, and from where; rows are only added.';
comment on table api_requests is
  'Requests that companies have sent to the API in the last 7 days, without their bodies.';
comment on table simulated_accounts is 'What each account at the simulated bank holds.';
comment on table simulated_transfers is 'Payments, payouts and returns of the simulated bank.';
comment on table simulated_agreements is
  'Agreements of Pix Automático that the simulated bank knows.';
comment on table simulated_collections is
  'Charges that the simulated bank collects under agreements.';
