-- Dead letters that somebody discarded, as they were, until they are restored or
-- purged. It has the columns of jobs but those that are generated or say who has claimed
-- the job, with their names; a migration that adds one there adds it here. Nothing claims from it, so it needs
-- no index but its key, and no constraint: what jobs took, this takes.

-- +goose Up
CREATE TABLE leasetop.jobs_archive (
  id               bigint      PRIMARY KEY,
  queue            text        NOT NULL,
  payload          jsonb       NOT NULL,
  status           text        NOT NULL,
  attempts         int         NOT NULL,
  max_attempts     int         NOT NULL,
  run_at           timestamptz NOT NULL,
  last_error       text,
  created_at       timestamptz NOT NULL,
  updated_at       timestamptz NOT NULL,
  kind             text        NOT NULL,
  idempotency_key  text,
  errors           jsonb       NOT NULL,
  cancelled_by     text,

  archived_at      timestamptz NOT NULL DEFAULT now(),
  archived_by      text        NOT NULL,
  archived_why     text        NOT NULL DEFAULT ''
);

SELECT leasetop.grant_as_jobs('leasetop.jobs_archive');

-- +goose Down
DROP TABLE leasetop.jobs_archive;
