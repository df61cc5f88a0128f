-- Whose publication it is stands in its comment: one of the same name that somebody else made is
-- neither changed nor dropped. One that publishes tables of this schema and of no other, as the
-- migrations made it before they left a comment, is ours.

-- +goose Up
-- +goose StatementBegin
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_publication WHERE pubname = 'leasetop_jobs' AND NOT puballtables
      AND pg_has_role(pubowner, 'USAGE') AND obj_description(oid, 'pg_publication') IS NULL)
    AND EXISTS (SELECT FROM pg_publication_tables
      WHERE pubname = 'leasetop_jobs' AND schemaname = 'leasetop' AND tablename = 'jobs')
    AND NOT EXISTS (SELECT FROM pg_publication_tables WHERE pubname = 'leasetop_jobs' AND schemaname <> 'leasetop') THEN
    COMMENT ON PUBLICATION leasetop_jobs IS 'the live feed of leasetop';
  END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
-- The comment stays: the steps before look for it.
