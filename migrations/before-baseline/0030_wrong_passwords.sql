-- How often in a row a wrong password was given for a person. After too many, the password no longer
-- works, and the person chooses a new one by mail.
alter table people add column wrong_passwords integer not null default 0;

-- The invitations of an e-mail.
create index person_links_email on person_links (email);
