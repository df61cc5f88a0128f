-- How far the building of an index has come.
--   $1 the process that builds it
-- Rows: blocks read and how many there are to read; none when it is not building one.
SELECT blocks_done, blocks_total
FROM pg_catalog.pg_stat_progress_create_index
WHERE pid = $1::int AND blocks_total > 0
