-- If a table is in use for long, nothing waits behind this: it is tried again at the next start.
set local lock_timeout = '5s';

-- These tables are always in the database of their company, and a company that moves comes first. So
-- the constraints that 0049_places dropped are back. Rows that are there are looked at by the next
-- migration, while others work. If the version before moves a company between places meanwhile, its
-- move ends with an error and the company stays where it is; it is moved again with this version.
-- contract since 0064: a server writes a company first; only `place move` of that version stops here
alter table customers add constraint customers_company
  foreign key (company_id) references companies not valid;
-- contract since 0064: a server writes a company first; only `place move` of that version stops here
alter table products add constraint products_company
  foreign key (company_id) references companies not valid;
-- contract since 0064: a server writes a company first; only `place move` of that version stops here
alter table recurrences add constraint recurrences_company
  foreign key (company_id) references companies not valid;
-- contract since 0064: a server writes a company first; only `place move` of that version stops here
alter table static_codes add constraint static_codes_company
  foreign key (company_id) references companies not valid;
