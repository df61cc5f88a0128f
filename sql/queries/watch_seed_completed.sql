-- How many completed jobs each queue has, from a sample of the table's pages: they are
-- in no index. A sample of all pages is exact.
--   $1 percentage of the pages to read
-- Rows: queue, count.
SELECT pg_catalog.left(queue, 300), pg_catalog.round((pg_catalog.count(*) * 100)::float8 / $1::float8)::bigint
FROM leasetop.jobs TABLESAMPLE SYSTEM ($1::float8) REPEATABLE (1)
WHERE status = 'completed'
GROUP BY queue
