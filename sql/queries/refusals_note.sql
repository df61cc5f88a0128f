-- Notes that the server refuses to change these jobs, and deletes notes that are old.
--   $1 ids   $2 acts   $3 SQLSTATEs   $4 reasons   $5 details   $6 versions; '' for that of
--   the row as it is   $7 who met it: all of one length
-- Rows: none. Index: primary keys.
WITH noted AS (
  INSERT INTO leasetop.refusals (job_id, act, sqlstate, reason, detail, version, by_whom)
  SELECT new.id, new.act, new.sqlstate, new.reason, new.detail, coalesce(nullif(new.version, ''), jobs.xmin::text), new.who
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) AS new(id, act, sqlstate, reason, detail, version, who)
  JOIN leasetop.jobs ON jobs.id = new.id
  ORDER BY new.id
  ON CONFLICT (job_id) DO UPDATE
  SET act = excluded.act, sqlstate = excluded.sqlstate, reason = excluded.reason, detail = excluded.detail,
      version = excluded.version, by_whom = excluded.by_whom, last_at = pg_catalog.now(),
      first_at = CASE WHEN refusals.version = excluded.version THEN refusals.first_at ELSE pg_catalog.now() END,
      times = CASE WHEN refusals.version = excluded.version THEN least(refusals.times, 2147483646) + 1 ELSE 1 END)
DELETE FROM leasetop.refusals
WHERE last_at < pg_catalog.now() - interval '1 hour'
  AND job_id <> ALL ($1::bigint[])
