-- Why somebody of the company has canceled a subscription, if they said so.
alter table recurrences add column end_reason text;
