-- A function whose body is text finds the names in it by the search_path of the session
-- that calls it, and anybody may have that who inserts a job. So each name is qualified,
-- operators too. A search_path of its own would end the inlining of those that run for each row.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.with_attempt(errors jsonb, attempt int, worker text, outcome text, error text)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT pg_catalog.jsonb_path_query_array(errors, '$[last - 18 to last]')
    OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object(
      'attempt', attempt, 'at', pg_catalog.now(), 'worker', worker, 'outcome', outcome, 'error', error)
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.fingerprint(error text)
RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT pg_catalog.left(
    pg_catalog.regexp_replace(
    pg_catalog.regexp_replace(
    pg_catalog.regexp_replace(
    pg_catalog.regexp_replace(
    pg_catalog.regexp_replace(
    pg_catalog.regexp_replace(
    pg_catalog.regexp_replace(
      pg_catalog.rtrim(CASE
        WHEN pg_catalog.starts_with(pg_catalog.ltrim(pg_catalog.left(error, 2000), E' \t\r\n'), 'Traceback (most recent call last):')
          THEN coalesce(substring(pg_catalog.right(error, 2000) FROM '.*\n([^[:space:]][^\n]*)'), 'Traceback')
        WHEN pg_catalog.starts_with(pg_catalog.ltrim(pg_catalog.left(error, 2000), E' \t\r\n'), 'goroutine ')
          THEN coalesce(substring(pg_catalog.ltrim(pg_catalog.left(error, 2000), E' \t\r\n') FROM '^goroutine [0-9]+ \[[^\n]*\n(?:(?:runtime|panic\(|[[:space:]])[^\n]*\n)*([^[:space:]][^\n]*)'),
            pg_catalog.split_part(pg_catalog.ltrim(pg_catalog.left(error, 2000), E' \t\r\n'), E'\n', 1))
        ELSE pg_catalog.split_part(pg_catalog.ltrim(pg_catalog.left(error, 2000), E' \t\r\n'), E'\n', 1)
      END, E' \t\r'),
      '"[^"]*"|(?<![[:alnum:]])''[^'']*''', '‹text›', 'g'),
      '[[:alnum:]._%+-]+@[[:alnum:]-]+(?:\.[[:alnum:]-]+)+', '‹address›', 'g'),
      '\m[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\M', '‹id›', 'g'),
      '\m0[xX][0-9a-fA-F]+\M|\m(?=[0-9a-fA-F]*[0-9])(?=[0-9a-fA-F]*[a-fA-F])[0-9a-fA-F]{12,}\M', '‹id›', 'g'),
      '(?:\m[0-9]{1,3}(?:\.[0-9]{1,3}){3}\M|\[[0-9a-fA-F:.]*(?:::|(?:[0-9a-fA-F]+:){3})[0-9a-fA-F:.]*\])(?::[0-9]+)?', '‹host›', 'g'),
      '((?:[hH][tT][tT][pP](?: [eE]rror|/[0-9.]+)?|[sS][mM][tT][pP]|[sS]tatus|[cC]ode)[ :=]{1,2}[0-9]{3}(?![0-9]|\.[0-9]))|[0-9]+(?:\.[0-9]+)?', '\1‹n›', 'g'),
      '([0-9])‹n›', '\1', 'g'),
    300)
$$;
-- +goose StatementEnd

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

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.notify_ready() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF pg_catalog.current_setting('leasetop_wakeup.quiet', true) OPERATOR(pg_catalog.=) 'on'
    OR pg_catalog.pg_notification_queue_usage() OPERATOR(pg_catalog.>) 0.9::float8 THEN
    RETURN NULL;
  END IF;
  PERFORM pg_catalog.pg_notify('leasetop_ready', queue)
    FROM (SELECT DISTINCT queue FROM inserted WHERE status OPERATOR(pg_catalog.=) 'pending') AS woken;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.notify_dead() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF pg_catalog.pg_notification_queue_usage() OPERATOR(pg_catalog.>) 0.9::float8 THEN
    RETURN NULL;
  END IF;
  IF TG_OP OPERATOR(pg_catalog.=) 'UPDATE' OR TG_OP OPERATOR(pg_catalog.=) 'DELETE' THEN
    PERFORM pg_catalog.pg_notify('leasetop_dead', OLD.queue);
  END IF;
  IF TG_OP OPERATOR(pg_catalog.=) 'UPDATE' OR TG_OP OPERATOR(pg_catalog.=) 'INSERT' THEN
    PERFORM pg_catalog.pg_notify('leasetop_dead', NEW.queue);
  END IF;
  IF TG_OP OPERATOR(pg_catalog.=) 'TRUNCATE' THEN
    PERFORM pg_catalog.pg_notify('leasetop_dead', '');
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION leasetop.notify_queues() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF pg_catalog.pg_notification_queue_usage() OPERATOR(pg_catalog.>) 0.9::float8 THEN
    RETURN NULL;
  END IF;
  IF TG_OP OPERATOR(pg_catalog.<>) 'INSERT' THEN
    PERFORM pg_catalog.pg_notify('leasetop_control', 'queue ' OPERATOR(pg_catalog.||) OLD.queue);
  END IF;
  IF TG_OP OPERATOR(pg_catalog.<>) 'DELETE' THEN
    PERFORM pg_catalog.pg_notify('leasetop_control', 'queue ' OPERATOR(pg_catalog.||) NEW.queue);
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose Down
-- The functions do what they did, so they stay: an older program calls them as before.
