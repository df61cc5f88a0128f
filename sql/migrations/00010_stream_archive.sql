-- The live feed's stream also says which jobs come to the archive, and by whom, so
-- that a discard is told from a deletion and a restore from an enqueue. Only the key
-- and who it was: an archive holds payloads too. Before PostgreSQL 15 the whole row is
-- published.

-- +goose Up
-- +goose StatementBegin
DO $$
DECLARE
  columns text := '';
BEGIN
  IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = 'leasetop_jobs' AND obj_description(oid, 'pg_publication') = 'the live feed of leasetop') THEN
    RETURN;
  END IF;
  IF current_setting('server_version_num')::int >= 150000 THEN
    columns := '(id, queue, archived_by)';
  END IF;
  EXECUTE 'ALTER PUBLICATION leasetop_jobs ADD TABLE leasetop.jobs_archive ' || columns;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'no right to change the publication: the live feed tells discards as deletions';
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_publication_tables
      WHERE pubname = 'leasetop_jobs' AND schemaname = 'leasetop' AND tablename = 'jobs_archive')
    AND EXISTS (SELECT FROM pg_publication WHERE pubname = 'leasetop_jobs' AND obj_description(oid, 'pg_publication') = 'the live feed of leasetop') THEN
    EXECUTE 'ALTER PUBLICATION leasetop_jobs DROP TABLE leasetop.jobs_archive';
  END IF;
END $$;
-- +goose StatementEnd
