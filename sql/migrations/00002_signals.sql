-- How others learn that the table changed: two NOTIFY channels and, where the
-- server can, a publication for the live feed. They speak for every writer,
-- whatever its language.

-- +goose Up

-- New work: one notification for each queue of an INSERT statement, never one
-- for each row. It stands aside when the writer has set leasetop_wakeup.quiet in
-- its transaction, because it will send its own.
-- +goose StatementBegin
CREATE FUNCTION leasetop.notify_ready() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('leasetop_wakeup.quiet', true) = 'on' THEN
    RETURN NULL;
  END IF;
  PERFORM pg_notify('leasetop_ready', queue)
    FROM (SELECT DISTINCT queue FROM inserted WHERE status = 'pending') AS woken;
  RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER jobs_notify_ready
  AFTER INSERT ON leasetop.jobs REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION leasetop.notify_ready();

-- Dead letters coming or going: the queue's name. Identical notifications of
-- one transaction collapse into one, so a million rows send one. The WHEN
-- clauses keep claims and completions from calling it at all.
-- +goose StatementBegin
CREATE FUNCTION leasetop.notify_dead() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP IN ('UPDATE', 'DELETE') THEN
    PERFORM pg_notify('leasetop_dead', OLD.queue);
  END IF;
  IF TG_OP IN ('UPDATE', 'INSERT') THEN
    PERFORM pg_notify('leasetop_dead', NEW.queue);
  END IF;
  IF TG_OP = 'TRUNCATE' THEN
    PERFORM pg_notify('leasetop_dead', '');
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER jobs_notify_dead_update
  AFTER UPDATE OF status, queue ON leasetop.jobs FOR EACH ROW
  WHEN ((OLD.status IN ('failed', 'dead') OR NEW.status IN ('failed', 'dead'))
    AND (OLD.status, OLD.queue) IS DISTINCT FROM (NEW.status, NEW.queue))
  EXECUTE FUNCTION leasetop.notify_dead();

CREATE TRIGGER jobs_notify_dead_insert
  AFTER INSERT ON leasetop.jobs FOR EACH ROW
  WHEN (NEW.status IN ('failed', 'dead'))
  EXECUTE FUNCTION leasetop.notify_dead();

CREATE TRIGGER jobs_notify_dead_delete
  AFTER DELETE ON leasetop.jobs FOR EACH ROW
  WHEN (OLD.status IN ('failed', 'dead'))
  EXECUTE FUNCTION leasetop.notify_dead();

CREATE TRIGGER jobs_notify_dead_truncate
  AFTER TRUNCATE ON leasetop.jobs FOR EACH STATEMENT
  EXECUTE FUNCTION leasetop.notify_dead();

-- The live feed's publication. Payload and errors stay out of the stream (column
-- lists came with PostgreSQL 15; before that the whole row is published). The
-- primary key is the replica identity, so it can make nobody's UPDATE fail. A
-- role that may not create publications still gets a working queue: the feed polls.
-- +goose StatementBegin
DO $$
DECLARE
  columns text := '';
BEGIN
  IF current_setting('server_version_num')::int >= 150000 THEN
    columns := '(id, queue, kind, status, attempts, max_attempts, run_at, locked_at, locked_by, lease_expires_at, created_at, updated_at)';
  END IF;
  -- It outlives its schema: publications belong to the database. Its comment says whose it is.
  IF EXISTS (SELECT FROM pg_publication WHERE pubname = 'leasetop_jobs' AND obj_description(oid, 'pg_publication') = 'the live feed of leasetop') THEN
    DROP PUBLICATION leasetop_jobs;
  ELSIF EXISTS (SELECT FROM pg_publication WHERE pubname = 'leasetop_jobs') THEN
    RAISE WARNING 'publication leasetop_jobs was made by somebody else and is left alone: the live feed will poll until it is renamed and the schema has one of its own';
    RETURN;
  END IF;
  EXECUTE 'CREATE PUBLICATION leasetop_jobs FOR TABLE leasetop.jobs ' || columns;
  COMMENT ON PUBLICATION leasetop_jobs IS 'the live feed of leasetop';
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'no right to create publications in this database: the live feed will poll';
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_publication WHERE pubname = 'leasetop_jobs' AND obj_description(oid, 'pg_publication') = 'the live feed of leasetop') THEN
    DROP PUBLICATION leasetop_jobs;
  ELSIF EXISTS (SELECT FROM pg_publication WHERE pubname = 'leasetop_jobs') THEN
    RAISE WARNING 'publication leasetop_jobs was made by somebody else and is left alone';
  END IF;
END $$;
-- +goose StatementEnd
DROP TRIGGER jobs_notify_dead_truncate ON leasetop.jobs;
DROP TRIGGER jobs_notify_dead_delete ON leasetop.jobs;
DROP TRIGGER jobs_notify_dead_insert ON leasetop.jobs;
DROP TRIGGER jobs_notify_dead_update ON leasetop.jobs;
DROP FUNCTION leasetop.notify_dead();
DROP TRIGGER jobs_notify_ready ON leasetop.jobs;
DROP FUNCTION leasetop.notify_ready();
