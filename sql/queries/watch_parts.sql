-- What the migrations made beside the rows of the table, and how it is: indexes, triggers,
-- the publication. This is the one list of what belongs there; a migration that adds to
-- it adds it here.
-- No parameters. Rows: what it is, the table it is of, its name, what happens without it,
-- its state, what it is made of, which columns it lacks (a publication). The states:
-- 'fine'; 'missing'; 'invalid', an index that no query uses; 'building'; 'changed', it has
-- the name but is another index, or lacks columns; 'off', a trigger; 'filtered', a
-- publication that leaves out some changes; 'spare', an invalid index of another name.
-- Reads the catalog alone, but PostgreSQL locks the table to describe an index (ACCESS
-- SHARE). An index counts by what it indexes, whatever its name.
WITH
want_index (name, is_unique, what, without) AS (VALUES
  ('jobs_pkey', true, '(id)', 'claims and outcomes fail while the table is published, read all of it while it is not, and ids may repeat'),
  ('jobs_ready', false, '(queue, run_at, id) WHERE (status = ''pending''::text)', 'each claim reads the whole table'),
  ('jobs_active', false, '(queue, id) WHERE (status = ''processing''::text)', 'each look for leases that ran out reads the whole table'),
  ('jobs_dead', false, '(queue, died_at, id) INCLUDE (status) WHERE (status = ANY (ARRAY[''failed''::text, ''dead''::text]))', 'each page of dead letters reads the whole table'),
  ('jobs_idempotency', true, '(queue, idempotency_key) WHERE ((status = ANY (ARRAY[''pending''::text, ''processing''::text])) AND (idempotency_key IS NOT NULL))', 'the library cannot enqueue, and keys may be in use twice')),
want_trigger (of, name, without) AS (VALUES
  ('jobs', 'jobs_notify_ready', 'workers find the jobs of others than this library when they look next, up to seconds later'),
  ('jobs', 'jobs_notify_dead_update', 'dead letters show a moment later'),
  ('jobs', 'jobs_notify_dead_insert', 'dead letters show a moment later'),
  ('jobs', 'jobs_notify_dead_delete', 'dead letters show a moment later'),
  ('jobs', 'jobs_notify_dead_truncate', 'dead letters show a moment later'),
  ('queues', 'queues_notify', 'pauses show, and take hold, when somebody looks next')),
want_column (of, columns, without) AS (VALUES
  ('jobs', '{id,queue,kind,status,attempts,max_attempts,run_at,locked_at,locked_by,lease_expires_at,created_at,updated_at,cancelled_by}'::text[], 'changes are not told, or told wrongly'),
  ('jobs_archive', '{id,queue,archived_by}', 'a discard is told as a deletion, and a restore as a new job')),
has_index AS (
  SELECT class.relname::text AS name, index.indisunique AS is_unique,
    index.indisvalid AND index.indisready AND index.indislive AS valid,
    EXISTS (SELECT FROM pg_catalog.pg_stat_progress_create_index AS p WHERE p.index_relid = index.indexrelid) AS building,
    -- (queue, run_at, id) WHERE …, without the name before and storage options within.
    pg_catalog.regexp_replace(pg_catalog.regexp_replace(pg_catalog.pg_get_indexdef(index.indexrelid), '^.*? USING btree ', ''), ' WITH \([^)]*\)', '') AS what
  FROM pg_catalog.pg_index AS index JOIN pg_catalog.pg_class AS class ON class.oid = index.indexrelid
  WHERE index.indrelid = pg_catalog.to_regclass('leasetop.jobs')::oid),
published AS (
  SELECT tablename::text AS of, pg_catalog.to_jsonb(t) -> 'attnames' AS columns, pg_catalog.to_jsonb(t) ->> 'rowfilter' AS only_rows -- both are new in 15
  FROM pg_catalog.pg_publication_tables AS t
  WHERE pubname = 'leasetop_jobs' AND schemaname = 'leasetop')
SELECT 'index', 'jobs', want.name, want.without,
  CASE
    WHEN EXISTS (SELECT FROM has_index AS has WHERE has.valid AND has.what = want.what AND has.is_unique = want.is_unique) THEN 'fine'
    WHEN named.building THEN 'building'
    WHEN NOT named.valid THEN 'invalid'
    WHEN named.name IS NOT NULL THEN 'changed'
    ELSE 'missing' END,
  want.what, ''
FROM want_index AS want LEFT JOIN has_index AS named ON named.name = want.name
UNION ALL
SELECT 'index', 'jobs', name, '', CASE WHEN building THEN 'building' ELSE 'spare' END, what, ''
FROM has_index AS has
WHERE NOT valid AND NOT EXISTS (SELECT FROM want_index AS want WHERE want.name = has.name)
UNION ALL
SELECT 'trigger', want.of, want.name, want.without,
  CASE WHEN has.tgenabled IN ('O', 'A') THEN 'fine' WHEN has.tgenabled IS NULL THEN 'missing' ELSE 'off' END, '', ''
FROM want_trigger AS want LEFT JOIN pg_catalog.pg_trigger AS has ON has.tgrelid = pg_catalog.to_regclass('leasetop.' || want.of)::oid AND has.tgname = want.name
UNION ALL
SELECT 'publication', want.of, 'leasetop_jobs', want.without,
  CASE
    WHEN has.of IS NULL THEN 'missing'
    WHEN has.only_rows IS NOT NULL OR NOT (made.pubinsert AND made.pubupdate AND made.pubdelete AND made.pubtruncate) THEN 'filtered'
    WHEN has.columns ?& want.columns THEN 'fine'
    WHEN has.columns IS NULL THEN 'fine' -- before 15 the whole row is published
    ELSE 'changed' END,
  CASE WHEN pg_catalog.current_setting('server_version_num')::int >= 150000 THEN '(' || pg_catalog.array_to_string(want.columns, ', ') || ')' ELSE '' END,
  CASE WHEN has.of IS NOT NULL THEN pg_catalog.array_to_string(ARRAY(
    SELECT name FROM pg_catalog.unnest(want.columns) AS name WHERE NOT has.columns ? name), ', ') ELSE '' END
FROM want_column AS want
  LEFT JOIN published AS has ON has.of = want.of
  LEFT JOIN pg_catalog.pg_publication AS made ON made.pubname = 'leasetop_jobs'
