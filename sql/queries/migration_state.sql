-- What there is before a migration, and what this role may do about it.
-- No parameters, one row: database, role, the database's encoding; may the role make
-- schemas; is there the schema, may it be used, may things be made in it; is there the
-- table of migrations, may it be read, may it be written; the owner of the jobs table
-- ('' when there is none), and may the role act as that owner.
-- Reads catalogs alone, and asks for no right: it works for every role.
SELECT pg_catalog.current_database()::text, current_user::text, pg_catalog.current_setting('server_encoding'),
  pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE'),
  schema IS NOT NULL,
  coalesce(pg_catalog.has_schema_privilege(schema, 'USAGE'), false),
  coalesce(pg_catalog.has_schema_privilege(schema, 'CREATE'), false),
  migrations IS NOT NULL,
  coalesce(pg_catalog.has_table_privilege(migrations, 'SELECT'), false),
  coalesce(pg_catalog.has_table_privilege(migrations, 'INSERT'), false),
  coalesce(owner::regrole::text, ''),
  coalesce(pg_catalog.pg_has_role(owner, 'USAGE'), true)
FROM (SELECT pg_catalog.to_regnamespace('leasetop')::oid AS schema) AS named
LEFT JOIN LATERAL (SELECT oid AS migrations FROM pg_catalog.pg_class WHERE relnamespace = schema AND relname = 'migrations') AS steps ON true
LEFT JOIN LATERAL (SELECT relowner AS owner FROM pg_catalog.pg_class WHERE relnamespace = schema AND relname = 'jobs') AS jobs ON true
