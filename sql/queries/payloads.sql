-- The payloads of some jobs, for exports: lists leave them out. Of large ones come as many as
-- fit, at least one; ask for those after the last again.
--   $1 ids   $2 how many characters of each; NULL for all   $3 how many bytes fit, as stored
-- Rows: id and payload of each job that exists, in the order of the ids. Index: primary key.
SELECT id, CASE WHEN $2::int IS NULL THEN payload::text ELSE pg_catalog.left(payload::text, $2::int) END
FROM (
  SELECT id, payload, place, pg_catalog.sum(pg_catalog.pg_column_size(payload)) OVER (ORDER BY place) - pg_catalog.pg_column_size(payload) AS bytes_before
  FROM pg_catalog.unnest($1::bigint[]) WITH ORDINALITY AS wanted(wanted_id, place)
  JOIN leasetop.jobs ON id = wanted_id
) AS measured
WHERE bytes_before < $3::bigint
ORDER BY place
