-- no transaction
-- What the lists of the dashboard are filtered by.

create index concurrently customers_email on customers (company_id, email_index, id)
  where email_index is not null;

-- The subscriptions of a customer, and those in one state.
create index concurrently recurrences_customer on recurrences (company_id, customer_id, id)
  where customer_id is not null;
create index concurrently recurrences_state on recurrences
  (company_id, is_template, auth_status, id);
