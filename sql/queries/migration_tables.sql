-- The tables that the schema has.
-- No parameters. Rows: their names, of any role's tables. Reads the catalog alone.
SELECT relname::text
FROM pg_catalog.pg_class
WHERE relnamespace = pg_catalog.to_regnamespace('leasetop')::oid
  AND relkind IN ('r', 'p', 'f')
