-- Marks the schema of a play, in the transaction of scenario_make_schema.sql: names alone are
-- anybody's. See scenario_schemas.sql.
-- No parameters, no rows.
COMMENT ON SCHEMA leasetop IS 'of a play: removed when that is over'
