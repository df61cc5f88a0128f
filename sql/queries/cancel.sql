-- Cancels jobs: one that is pending is dead at once; the worker of one in processing is
-- asked to end it, by its next heartbeat and, sooner, on the control channel.
--   $1 ids   $2 who cancels   $3 whether also jobs in processing: only with a single id,
--   since whoever waits for one row must not keep the heartbeats off others
-- Rows: id and status of each, dead or processing. A missing one is neither pending nor
-- in processing, or was left for that. A request that comes after a redrive is noted in
-- the history: a name that stands there before it is not meant any more, whether or not
-- the redrive took it away, as the first release's does not. Locks in id order. Index: primary key, kept by IS
-- NOT DISTINCT FROM: see complete.sql.
WITH wanted AS (
  SELECT id
  FROM leasetop.jobs
  WHERE id = ANY ($1::bigint[])
    AND (status IS NOT DISTINCT FROM 'pending' OR $3::boolean AND status IS NOT DISTINCT FROM 'processing')
  ORDER BY id
  FOR NO KEY UPDATE),
cancelled AS (
  UPDATE leasetop.jobs
  SET cancelled_by = CASE WHEN errors -> -1 ->> 'outcome' = 'redriven' THEN $2::text ELSE coalesce(cancelled_by, $2::text) END,
      status = CASE status WHEN 'pending' THEN 'dead' ELSE status END,
      last_error = CASE status WHEN 'pending' THEN 'cancelled by ' ||
        CASE WHEN errors -> -1 ->> 'outcome' = 'redriven' THEN $2::text ELSE pg_catalog.left(coalesce(cancelled_by, $2::text), 1000) END ELSE last_error END,
      errors = CASE WHEN status = 'pending' THEN leasetop.with_attempt(errors, attempts, $2::text, 'cancelled', '')
        WHEN errors -> -1 ->> 'outcome' = 'redriven' THEN leasetop.with_attempt(errors, attempts, $2::text, 'cancel asked', '')
        ELSE errors END,
      updated_at = pg_catalog.now()
  FROM wanted
  WHERE jobs.id = wanted.id
  RETURNING jobs.id, jobs.status)
SELECT id, status, CASE WHEN status = 'processing' AND pg_catalog.pg_notification_queue_usage() <= 0.9::float8
  THEN pg_catalog.pg_notify('leasetop_control', 'cancel ' || id::text)::text END
FROM cancelled
