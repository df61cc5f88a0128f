-- An act that waited for a row or for the table enters the time at which it happened, not
-- that at which its transaction began: so a history is in the order of its times. VOLATILE,
-- as clock_timestamp is: declared STABLE, the function would not be inlined any more.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.with_attempt(errors jsonb, attempt int, worker text, outcome text, error text)
RETURNS jsonb LANGUAGE sql VOLATILE AS $$
  SELECT pg_catalog.jsonb_path_query_array(errors, '$[last - 18 to last]')
    OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object(
      'attempt', attempt, 'at', pg_catalog.clock_timestamp(), 'worker', worker, 'outcome', outcome, 'error', error)
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.with_attempt(errors jsonb, attempt int, worker text, outcome text, error text)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT pg_catalog.jsonb_path_query_array(errors, '$[last - 18 to last]')
    OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object(
      'attempt', attempt, 'at', pg_catalog.now(), 'worker', worker, 'outcome', outcome, 'error', error)
$$;
-- +goose StatementEnd
