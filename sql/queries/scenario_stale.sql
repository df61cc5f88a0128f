-- Whether a play in this schema has shown no sign of life for a while.
--   $1 the play's name   $2 the while, in seconds
-- One row. While the server was away nobody could: that does not count.
SELECT NOT EXISTS (
  SELECT FROM leasetop.scenario_runs
  WHERE run = $1::text
    AND greatest(beat, pg_catalog.pg_postmaster_start_time()) > pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => $2::float8))
