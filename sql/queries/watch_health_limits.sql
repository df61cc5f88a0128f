-- Bounds what follows in the same transaction: a checkup waits for nobody's lock, and
-- others wait for it. To describe an index, or a publication of whole rows, PostgreSQL
-- locks the table.
-- No parameters. Rows: the settings.
SELECT pg_catalog.set_config(name, setting, true)
FROM (VALUES ('lock_timeout', '200ms'), ('statement_timeout', '800ms')) AS bounds(name, setting)
