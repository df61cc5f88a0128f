-- Creates the schema when it is missing. The check comes first because CREATE
-- SCHEMA IF NOT EXISTS asks for the CREATE right on the database even where the
-- schema exists, and the lock because two sessions doing it at once would fail
-- on pg_namespace's unique index. One simple-protocol message: one transaction.
-- No parameters, no rows.
SELECT pg_catalog.pg_advisory_xact_lock(7163540821);
DO $$
BEGIN
  IF pg_catalog.to_regnamespace('leasetop') IS NULL THEN
    CREATE SCHEMA leasetop;
  END IF;
END $$
