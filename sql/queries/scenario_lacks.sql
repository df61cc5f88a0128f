-- Which rights on tables of a schema the role lacks.
--   $1 the schema   $2 its tables   $3 a privilege on each
-- Rows: table, privilege.
SELECT r.object, r.privilege
FROM unnest($2::text[], $3::text[]) AS r (object, privilege)
WHERE NOT pg_catalog.has_table_privilege(pg_catalog.to_regclass(pg_catalog.format('%I.%I', $1::text, r.object)), r.privilege)
ORDER BY 1, 2
