-- Once, at the primary, as postgres.
create role vintem login password 'VINTEM_PASSWORD';
create database vintem owner vintem;
