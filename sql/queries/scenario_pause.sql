-- The longest time in which no job of a play had an effect.
--   $1 the play's name   $2 from when on   $3 until when
-- One row: seconds, between two effects of that time, or between $2 and the first; 0 when
-- there was none. Reads the play's effects whole.
SELECT coalesce(max(extract(epoch FROM done_at - before)), 0)::float8
FROM (
  SELECT done_at, lag(done_at, 1, $2::timestamptz) OVER (ORDER BY done_at) AS before
  FROM leasetop.scenario_ledger
  WHERE run = $1::text AND done_at BETWEEN $2 AND $3::timestamptz) AS effects
