-- Enqueues jobs, each column an array of one length.
--   $1 queues  $2 kinds  $3 payloads  $4 run_at, NULL for now plus delay  $5 delays in seconds
--   $6 max_attempts  $7 idempotency keys, NULL for none
-- Rows: position (from 1) and id of each job inserted. A missing position has its key
-- in use by a live job: key_holders.sql tells which. Index: jobs_idempotency.
-- The ids follow the positions, but the rows go in by their keys: two statements that
-- wait for each other's keys in opposite orders would deadlock. Bytes decide the order,
-- as they do in the program, which may need several statements in one transaction.
WITH wanted AS (
  SELECT pg_catalog.nextval(pg_catalog.pg_get_serial_sequence('leasetop.jobs', 'id')) AS id, job.*
  FROM unnest($1::text[], $2::text[], $3::jsonb[], $4::timestamptz[], $5::float8[], $6::int[], $7::text[])
    WITH ORDINALITY AS job(queue, kind, payload, run_at, delay, max_attempts, idempotency_key, position)
), inserted AS (
  INSERT INTO leasetop.jobs (id, queue, kind, payload, run_at, max_attempts, idempotency_key)
  SELECT id, queue, kind, payload, coalesce(run_at, pg_catalog.now() + pg_catalog.make_interval(secs => delay)), max_attempts, idempotency_key
  FROM wanted
  ORDER BY queue COLLATE pg_catalog."C", idempotency_key COLLATE pg_catalog."C", position
  ON CONFLICT (queue, idempotency_key)
    WHERE status IN ('pending', 'processing') AND idempotency_key IS NOT NULL
    DO NOTHING
  RETURNING id)
SELECT wanted.position, wanted.id
FROM inserted JOIN wanted USING (id)
