-- A name as it is searched for: in small letters and without accents.
create function fold_name(name text) returns text language sql immutable parallel safe
return translate(lower(normalize(name, NFC)),
  'áàâãäåéèêëíìîïóòôõöúùûüçñýÁÀÂÃÄÅÉÈÊËÍÌÎÏÓÒÔÕÖÚÙÛÜÇÑÝ',
  'aaaaaaeeeeiiiiooooouuuucnyaaaaaaeeeeiiiiooooouuuucny');

-- The words of a name, each with the company that it belongs to, so that an index finds those of
-- one company.
create function name_words(company_id uuid, name text) returns tsvector
language sql immutable parallel safe
return to_tsvector('simple'::regconfig, regexp_replace(
  regexp_replace(fold_name(name), '[^a-z0-9]+', ' ', 'g'),
  '[a-z0-9]+', replace(company_id::text, '-', '') || '\&', 'g'));
