-- Whether scenario_tables.sql has something to make. It needs rights that who plays
-- afterwards need not have.
-- No parameters. One row.
SELECT pg_catalog.to_regclass('leasetop.scenario_ledger_job') IS NULL OR NOT EXISTS (
  SELECT FROM pg_catalog.pg_attribute
  WHERE attrelid = pg_catalog.to_regclass('leasetop.scenario_runs')::oid AND attname = 'beat')
