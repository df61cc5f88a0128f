-- Makes the demonstration's own tables when they are missing. They are no
-- migration: nobody's schema but the private server's gets them.
-- One simple-protocol message: one transaction. No parameters, no rows. The lock
-- is for two demonstrations that start at once.
SELECT pg_catalog.pg_advisory_xact_lock(7163540822);

-- What the demonstration's jobs did: one row for each effect. There is no unique
-- constraint on purpose: an effect that happened twice must show.
CREATE TABLE IF NOT EXISTS leasetop.demo_ledger (
  job_id   bigint      NOT NULL,
  effect   text        NOT NULL,
  attempt  int         NOT NULL,
  owner    text        NOT NULL,
  done_at  timestamptz NOT NULL DEFAULT pg_catalog.now()
);
CREATE INDEX IF NOT EXISTS demo_ledger_job ON leasetop.demo_ledger (job_id);

-- Templates that mails asked for and that were missing, and when somebody deploys them.
CREATE TABLE IF NOT EXISTS leasetop.demo_templates (
  name        text        PRIMARY KEY,
  deployed_at timestamptz NOT NULL
)
