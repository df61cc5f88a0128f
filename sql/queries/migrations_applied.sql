-- The steps that the schema has.
-- No parameters. Rows: version, and when it was taken in UTC; oldest first.
SELECT version_id, pg_catalog.max(tstamp)
FROM leasetop.migrations
WHERE version_id > 0 AND is_applied
GROUP BY version_id
ORDER BY version_id
