-- Schemas of plays, going on or killed, that this role may drop.
--   $1 what their names begin with, before the name of a scenario and six digits of the run
-- Rows: the schema's name. The comment is that of scenario_mark_schema.sql.
SELECT nspname::text
FROM pg_catalog.pg_namespace
WHERE nspname ~ ('^' || $1::text || '[a-z0-9_]+_[0-9a-f]{6}$')
  AND pg_catalog.obj_description(oid, 'pg_namespace') = 'of a play: removed when that is over'
  AND pg_catalog.pg_has_role(nspowner, 'MEMBER')
ORDER BY nspname
