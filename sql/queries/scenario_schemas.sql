-- Schemas of plays, going on or killed.
--   $1 what their names begin with
-- Rows: the schema's name.
SELECT nspname::text FROM pg_catalog.pg_namespace WHERE starts_with(nspname, $1::text) ORDER BY nspname
