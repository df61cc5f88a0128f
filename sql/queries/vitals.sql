-- A few figures of one queue or of all, by which monitoring tells whether they are well. To
-- be planned as depth_plan.sql says.
--   $1 queue, NULL for all   $2 cap: no count reads further than so many entries of its index
--   $3 how many seconds deaths are looked back for   $4 how many seconds after its expiry a lease counts
-- One row: dead letters; those that died within $3; the age of the oldest ready job in
-- seconds and its queue (NULL without one); leases that ran out $4 ago or earlier, of how
-- many that were looked at; the time of the reading.
-- Indexes: jobs_dead for the dead letters, from queue to queue and of each its newest for
-- the deaths; jobs_ready from queue to queue; jobs_active and the rows it leads to, which
-- alone hold the leases.
WITH RECURSIVE
pending_queues(queue) AS (
  (SELECT queue FROM leasetop.jobs
   WHERE status = 'pending' AND ($1::text IS NULL OR queue = $1::text)
   ORDER BY queue LIMIT 1)
  UNION ALL
  SELECT (SELECT jobs.queue FROM leasetop.jobs
          WHERE status = 'pending' AND jobs.queue > pending_queues.queue
          ORDER BY jobs.queue LIMIT 1)
  FROM pending_queues WHERE pending_queues.queue IS NOT NULL AND $1::text IS NULL
),
dead_queues(queue) AS (
  (SELECT queue FROM leasetop.jobs
   WHERE status IN ('failed', 'dead') AND ($1::text IS NULL OR queue = $1::text)
   ORDER BY queue LIMIT 1)
  UNION ALL
  SELECT (SELECT jobs.queue FROM leasetop.jobs
          WHERE status IN ('failed', 'dead') AND jobs.queue > dead_queues.queue
          ORDER BY jobs.queue LIMIT 1)
  FROM dead_queues WHERE dead_queues.queue IS NOT NULL AND $1::text IS NULL
),
dead AS (
  SELECT pg_catalog.count(*) AS n FROM (
    SELECT FROM leasetop.jobs
    WHERE status IN ('failed', 'dead') AND ($1::text IS NULL OR queue = $1::text)
    ORDER BY queue, died_at, id LIMIT $2::bigint) AS counted
),
died AS (
  SELECT pg_catalog.count(*) AS n FROM (
    SELECT FROM dead_queues CROSS JOIN LATERAL (
      SELECT FROM leasetop.jobs
      WHERE jobs.queue = dead_queues.queue AND status IN ('failed', 'dead')
        AND died_at > pg_catalog.now() - pg_catalog.make_interval(secs => $3::float8)
      ORDER BY jobs.queue DESC, died_at DESC, id DESC LIMIT $2::bigint) AS late
    LIMIT $2::bigint) AS counted
),
oldest AS (
  SELECT extract(epoch FROM pg_catalog.now() - first.run_at)::float8 AS age, pending_queues.queue
  FROM pending_queues CROSS JOIN LATERAL (
    SELECT run_at FROM leasetop.jobs
    WHERE jobs.queue = pending_queues.queue AND status = 'pending' AND run_at <= pg_catalog.now() AND run_at > '-infinity'
    ORDER BY jobs.queue, run_at, id LIMIT 1) AS first
  ORDER BY first.run_at LIMIT 1
),
leases AS (
  SELECT pg_catalog.count(*) AS looked, pg_catalog.count(*) FILTER (WHERE lease_expires_at <= pg_catalog.now() - pg_catalog.make_interval(secs => $4::float8)) AS over
  FROM (
    SELECT lease_expires_at FROM leasetop.jobs
    WHERE status = 'processing' AND ($1::text IS NULL OR queue = $1::text)
    ORDER BY queue, id LIMIT $2::bigint) AS counted
)
SELECT dead.n, died.n, oldest.age, coalesce(oldest.queue, ''), leases.over, leases.looked, pg_catalog.now()
FROM dead CROSS JOIN died CROSS JOIN leases LEFT JOIN oldest ON true
