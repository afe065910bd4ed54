-- no transaction
-- Nobody waits for this. A place may have rows of a company that was arriving when this version was
-- installed, and whose own row still comes. Then the constraint only holds for what is written.
do $$ begin alter table customers validate constraint customers_company; exception
  when foreign_key_violation then null; end $$;
do $$ begin alter table products validate constraint products_company; exception
  when foreign_key_violation then null; end $$;
do $$ begin alter table recurrences validate constraint recurrences_company; exception
  when foreign_key_violation then null; end $$;
do $$ begin alter table static_codes validate constraint static_codes_company; exception
  when foreign_key_violation then null; end $$;
