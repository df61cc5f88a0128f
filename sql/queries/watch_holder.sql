-- Which other relations hold rows of the jobs table, as text: a stream of the table's own
-- changes has none of theirs. By the simple protocol.
-- No parameters, one row: '' when the table holds its rows itself, or none; no row without it.
-- Partitions are published under the table's name where the publication says so. A row that
-- comes from another relation without inheritance is a shard's, of Citus: its decoders give
-- changes of shards on this server the table's name. Such a shard is hidden in pg_class.
-- Index: primary key, one entry.
SELECT CASE
  WHEN jobs.relkind = 'p' AND NOT coalesce((SELECT pubviaroot FROM pg_catalog.pg_publication WHERE pubname = 'leasetop_jobs'), false) THEN 'its partitions'
  WHEN jobs.relkind = 'p' THEN ''
  WHEN EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = jobs.oid) THEN 'tables that inherit from it'
  WHEN newest.holder <> jobs.oid AND NOT (
    coalesce(pg_catalog.current_setting('citus.enable_change_data_capture', true), '') = 'on'
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_settings WHERE name = 'dynamic_library_path' AND setting !~ 'citus_decoders')
    AND coalesce((pg_catalog.pg_identify_object('pg_catalog.pg_class'::regclass, newest.holder, 0)).schema = jobs.relnamespace::regnamespace::text, false)) THEN 'shards of it'
  ELSE '' END
FROM pg_catalog.pg_class AS jobs
LEFT JOIN (SELECT tableoid AS holder FROM leasetop.jobs ORDER BY id DESC LIMIT 1) AS newest ON true
WHERE jobs.oid = pg_catalog.to_regclass('leasetop.jobs')::oid
