-- no transaction
-- The words of a name are found for each new payer, which took longer than all indexes of customers
-- together. The results of `fold_name` are the same.
create or replace function fold_name(name text) returns text language sql immutable parallel safe
return case
  -- A name of as many bytes as characters has no accents.
  when octet_length(name) = length(name) then lower(name)
  else translate(lower(normalize(name, NFC)),
    'áàâãäåéèêëíìîïóòôõöúùûüçñýÁÀÂÃÄÅÉÈÊËÍÌÎÏÓÒÔÕÖÚÙÛÜÇÑÝ',
    'aaaaaaeeeeiiiiooooouuuucnyaaaaaaeeeeiiiiooooouuuucny')
end;

-- The words are not parsed as a text, in which 019e6db8 is the number 019e6 and a word. A name that
-- ends with another character has the company alone as a word too, for which nobody searches.
create or replace function words_of_name(company_id uuid, name text) returns tsvector
language sql immutable parallel safe
return array_to_tsvector(string_to_array(btrim(replace(
  regexp_replace(' ' || fold_name(name), '[^a-z0-9]+', ' ', 'g'),
  ' ', ' ' || replace(company_id::text, '-', ''))), ' '));

create index concurrently customers_name_words on customers
  using gin (words_of_name(company_id, name));
drop index concurrently if exists customers_words;
