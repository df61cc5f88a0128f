-- Claims up to $4 due jobs of one queue: they become processing, owned and leased.
--   $1 queue   $2 owner, the fencing token of this claim   $3 lease in seconds
--   $4 limit   $5, $6 mark: (run_at, id) below which no job is looked for
--   $7 ids to pass over: the server refused to change them a moment ago; '{}' none
-- Rows: the jobs claimed, in no particular order; none when nothing is due or the
-- queue is paused. cancelled_by is set when the job is to be ended, not run.
-- The subquery is an InitPlan, evaluated once, so it cannot claim more than its
-- limit whatever plan is chosen. Index: jobs_ready, then the primary key. Dead
-- entries that an old snapshot keeps at the head of jobs_ready cost every claim a
-- walk; the mark skips them. The attempts stop counting before they overflow: an
-- error here would stop the whole queue. A redrive by a program of the first release,
-- which does not know cancelled_by, leaves it; it is meant all the same. (A cancel that
-- came after a redrive stands in the history behind it: see cancel.sql.) When the server
-- refuses one of the rows, nothing is claimed: claimable.sql and claim_these.sql follow.
UPDATE leasetop.jobs
SET status = 'processing',
    locked_at = pg_catalog.now(),
    locked_by = $2::text,
    lease_expires_at = pg_catalog.now() + pg_catalog.make_interval(secs => $3::float8),
    attempts = least(attempts, 2147483646) + 1,
    cancelled_by = CASE WHEN cancelled_by IS NOT NULL AND errors -> -1 ->> 'outcome' = 'redriven' THEN NULL ELSE cancelled_by END,
    updated_at = pg_catalog.now()
WHERE id = ANY (ARRAY(
  SELECT id
  FROM leasetop.jobs
  WHERE queue = $1::text
    AND status = 'pending'
    AND run_at <= pg_catalog.now()
    AND (run_at, id) >= ($5::timestamptz, $6::bigint)
    AND id <> ALL ($7::bigint[])
    AND NOT EXISTS (SELECT FROM leasetop.queues WHERE queues.queue = $1::text AND paused_at IS NOT NULL)
  ORDER BY run_at, id
  LIMIT $4::int
  FOR UPDATE SKIP LOCKED))
RETURNING id, queue, kind, payload, status, attempts, max_attempts, run_at, locked_at, locked_by,
  lease_expires_at, coalesce(last_error, ''), coalesce(idempotency_key, ''), created_at, updated_at,
  coalesce(cancelled_by, '')
