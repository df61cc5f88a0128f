-- Whose search_path names other schemas before pg_catalog: who may create in these decides
-- what PostgreSQL's own functions and operators do there. Where a path does not name
-- pg_catalog, it comes first by itself.
-- No parameters. Rows: the role ('' for every role), the database ('' for each), the path;
-- of roles that may use the schema, in this database. Reads the catalog alone.
SELECT coalesce(rolname::text, ''), coalesce(datname::text, ''), pg_catalog.left(path, 200)
FROM (
  SELECT setrole, setdatabase, pg_catalog.substr(setting, 13) AS path
  FROM pg_catalog.pg_db_role_setting, pg_catalog.unnest(setconfig) AS setting
  WHERE pg_catalog.starts_with(setting, 'search_path=')
  UNION ALL
  SELECT 0::oid, 0::oid, reset_val FROM pg_catalog.pg_settings WHERE name = 'search_path' AND source IN ('configuration file', 'command line')
) AS paths
  LEFT JOIN pg_catalog.pg_roles ON pg_roles.oid = setrole
  LEFT JOIN pg_catalog.pg_database ON pg_database.oid = setdatabase
WHERE path ~ '\mpg_catalog\M' AND path !~ '^[ "]*(pg_temp[" ]*,[ "]*)?pg_catalog\M'
  AND (setdatabase = 0::oid OR datname = pg_catalog.current_database())
  AND (setrole = 0::oid OR pg_catalog.has_schema_privilege(setrole, pg_catalog.to_regnamespace('leasetop')::oid, 'USAGE'))
ORDER BY setrole, setdatabase
LIMIT 20
