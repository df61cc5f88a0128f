-- The live feed's stream also says who asked for a job to be cancelled, so that a
-- request is not told as an edit and its end not as a burial. Before PostgreSQL 15
-- the whole row is published anyway.

-- +goose Up
-- +goose StatementBegin
DO $$
BEGIN
  IF current_setting('server_version_num')::int >= 150000
    AND EXISTS (SELECT FROM pg_publication WHERE pubname = 'leasetop_jobs' AND obj_description(oid, 'pg_publication') = 'the live feed of leasetop') THEN
    EXECUTE 'ALTER PUBLICATION leasetop_jobs SET TABLE leasetop.jobs '
      '(id, queue, kind, status, attempts, max_attempts, run_at, locked_at, locked_by, lease_expires_at, created_at, updated_at, cancelled_by)';
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'no right to change the publication: the live feed tells cancels as edits and burials';
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DO $$
BEGIN
  IF current_setting('server_version_num')::int >= 150000
    AND EXISTS (SELECT FROM pg_publication WHERE pubname = 'leasetop_jobs' AND obj_description(oid, 'pg_publication') = 'the live feed of leasetop') THEN
    EXECUTE 'ALTER PUBLICATION leasetop_jobs SET TABLE leasetop.jobs '
      '(id, queue, kind, status, attempts, max_attempts, run_at, locked_at, locked_by, lease_expires_at, created_at, updated_at)';
  END IF;
END $$;
-- +goose StatementEnd
