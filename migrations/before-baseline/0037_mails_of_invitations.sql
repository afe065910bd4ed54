-- no transaction
-- How many invitations a company has sent lately.
create index concurrently mails_of_invitations on mails (company_id, created_at)
  where kind = 'invitation';
