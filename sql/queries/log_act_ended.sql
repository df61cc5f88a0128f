-- Completes an entry of the operator log with what came of its act.
--   $1 id   $2 how many were done   $3 how many were skipped   $4 why it ended before its end
-- Rows: the entry's id; none when it has ended already, or is gone. Index: primary key.
UPDATE leasetop.operator_log
SET ended = pg_catalog.now(), done = $2::bigint, skips = $3::bigint, error = $4::text
WHERE id = $1::bigint
  AND ended IS NULL
RETURNING id
