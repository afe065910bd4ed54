-- What the payer of a charge reads on its page, and in the app of their bank. The constraint holds
-- for all that was there before, because nothing had a description.
alter table charges add column description text,
  add constraint charges_description check (length(description) between 1 and 140) not valid;
