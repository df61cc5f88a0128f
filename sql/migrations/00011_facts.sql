-- What a person can ask of a job in the filter language, as one JSON value: a filter is a
-- jsonpath predicate over it. The payload is part of it only when it is asked for: it may
-- be large. This is the one place that says what a word of a filter is about.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION leasetop.facts(job leasetop.jobs, wide boolean) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object(
    'id', job.id,
    'queue', job.queue,
    'kind', job.kind,
    'status', job.status,
    'due', job.run_at <= now(),
    'attempts', job.attempts,
    'key', coalesce(job.idempotency_key, ''),
    'error', coalesce(job.last_error, ''),
    'fingerprint', coalesce(job.fingerprint, ''),
    'worker', coalesce(job.locked_by, job.errors #>> '{-1,worker}', ''),
    'age', extract(epoch FROM now() - job.created_at),
    'dead', extract(epoch FROM now() - job.died_at),
    'payload', CASE WHEN wide THEN job.payload END)
$$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION leasetop.facts(leasetop.jobs, boolean);
