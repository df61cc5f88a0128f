-- The longest time in which no job of a play had an effect.
--   $1 the play's name   $2 from when on   $3 until when
-- One row: seconds, between two effects of that time, $2 and the first, or the last and $3;
-- between $2 and $3 when there was none. Reads the play's effects whole.
SELECT coalesce(pg_catalog.max(extract(epoch FROM moment - before)), 0)::float8
FROM (
  SELECT moment, pg_catalog.lag(moment, 1, $2::timestamptz) OVER (ORDER BY moment) AS before
  FROM (
    SELECT done_at AS moment
    FROM leasetop.scenario_ledger
    WHERE run = $1::text AND done_at BETWEEN $2 AND $3::timestamptz
    UNION ALL
    SELECT $3) AS moments) AS gaps
