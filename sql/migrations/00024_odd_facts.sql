-- PostgreSQL subtracts no infinite time. A job with one, from before anything kept that out
-- or where somebody dropped the CHECK, has no age for a filter, and hides no other job.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.facts(job leasetop.jobs, wide boolean) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT pg_catalog.jsonb_build_array(
    job.id,
    job.queue,
    job.kind,
    job.status,
    job.run_at OPERATOR(pg_catalog.<=) pg_catalog.now(),
    job.attempts,
    coalesce(job.idempotency_key, ''),
    coalesce(job.last_error, ''),
    coalesce(job.fingerprint, ''),
    coalesce(job.locked_by, (job.errors OPERATOR(pg_catalog.->) -1) OPERATOR(pg_catalog.->>) 'worker', ''), -- who has it, or had it last
    CASE WHEN pg_catalog.isfinite(job.created_at) THEN extract(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) job.created_at) END,
    CASE WHEN pg_catalog.isfinite(job.died_at) THEN extract(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) job.died_at) END,
    CASE WHEN wide THEN job.payload END)
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.facts(job leasetop.jobs, wide boolean) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT pg_catalog.jsonb_build_array(
    job.id,
    job.queue,
    job.kind,
    job.status,
    job.run_at OPERATOR(pg_catalog.<=) pg_catalog.now(),
    job.attempts,
    coalesce(job.idempotency_key, ''),
    coalesce(job.last_error, ''),
    coalesce(job.fingerprint, ''),
    coalesce(job.locked_by, (job.errors OPERATOR(pg_catalog.->) -1) OPERATOR(pg_catalog.->>) 'worker', ''), -- who has it, or had it last
    extract(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) job.created_at),
    extract(epoch FROM pg_catalog.now() OPERATOR(pg_catalog.-) job.died_at),
    CASE WHEN wide THEN job.payload END)
$$;
-- +goose StatementEnd
