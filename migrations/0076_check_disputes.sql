-- no transaction
alter table balances validate constraint balances_disputed;
alter table postings validate constraint postings_disputed;
alter table postings validate constraint postings_debit_check;
alter table postings validate constraint postings_credit_check;
alter table postings validate constraint postings_available_check;
alter table payments validate constraint payments_status_check;
alter table refunds validate constraint refunds_disputed;
