-- What a person can ask of a job in the filter language, as one JSON list: a filter is a
-- jsonpath predicate over it, and queue/filter/path.go has the names of its places. A
-- list, since an object of the same is built in two and a half times the time. The
-- payload is part of it only when it is asked for: it may be large.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION leasetop.facts(job leasetop.jobs, wide boolean) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_array(
    job.id,
    job.queue,
    job.kind,
    job.status,
    job.run_at <= now(),
    job.attempts,
    coalesce(job.idempotency_key, ''),
    coalesce(job.last_error, ''),
    coalesce(job.fingerprint, ''),
    coalesce(job.locked_by, job.errors -> -1 ->> 'worker', ''), -- who has it, or had it last
    extract(epoch FROM now() - job.created_at),
    extract(epoch FROM now() - job.died_at),
    CASE WHEN wide THEN job.payload END)
$$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION leasetop.facts(leasetop.jobs, boolean);
