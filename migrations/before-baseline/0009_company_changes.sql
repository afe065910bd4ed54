-- For a day after a company has changed its e-mail address with its own key, one-time codes still
-- go to the former address: whoever has stolen a key cannot let them be sent to themselves. Both
-- are null when codes go to `email`. The end is in real time.
alter table companies
  add column code_email text,
  add column code_email_until timestamptz,
  add constraint companies_code_email check ((code_email is null) = (code_email_until is null));
