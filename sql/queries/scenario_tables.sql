-- Makes the scenarios' own tables when they are missing. They are no migration: only
-- schemas in which a scenario was played have them.
-- One simple-protocol message: one transaction. No parameters, no rows. The lock is for
-- two plays that begin at once.
SELECT pg_catalog.pg_advisory_xact_lock(7163540823);

-- Plays that go on, and those that were killed: see life_lock.sql and scenario_beat.sql.
CREATE TABLE IF NOT EXISTS leasetop.scenario_runs (
  run   text        PRIMARY KEY,
  began timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE leasetop.scenario_runs ADD COLUMN IF NOT EXISTS beat timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp();

-- What the jobs of plays did: one row for each effect. There is no unique constraint on
-- purpose: an effect that happened twice must show.
CREATE TABLE IF NOT EXISTS leasetop.scenario_ledger (
  run      text        NOT NULL,
  job_id   bigint      NOT NULL,
  attempt  int         NOT NULL,
  owner    text        NOT NULL,
  done_at  timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
CREATE INDEX IF NOT EXISTS scenario_ledger_job ON leasetop.scenario_ledger (run, job_id)
