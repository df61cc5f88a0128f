-- What each role may do with the tables that migrations added, by what it is there for:
-- to look, to work, or to operate, as the README has it. Migrations up to here handed
-- on every right on jobs to each new table, so that a role that may enqueue could
-- pause any queue and write in the operator log.

-- +goose Up

-- A right is taken back only where it was handed on so: a table has what its migration gave,
-- and so has each that came after it. What the owner granted otherwise stays. A role looks when it
-- may SELECT from jobs, works when it may UPDATE jobs, and operates when it may also DELETE from once.
-- Rights are written by their first letters, in order.
-- +goose StatementBegin
DO $$
DECLARE
  one record;
BEGIN
  FOR one IN
    WITH acls AS (
      SELECT relname::text AS name, acl.grantee, string_agg(DISTINCT left(acl.privilege_type, 1), '' ORDER BY left(acl.privilege_type, 1)) AS has
      FROM pg_class, aclexplode(relacl) AS acl
      WHERE relnamespace = 'leasetop'::regnamespace
        AND acl.grantee <> relowner
        AND acl.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
      GROUP BY 1, 2),
    roles AS (
      SELECT jobs.grantee, jobs.has, jobs.has LIKE '%S%' AS looks, jobs.has LIKE '%U%' AS works,
        jobs.has LIKE '%U%' AND coalesce(once.has, '') LIKE '%D%' AS operates
      FROM acls AS jobs LEFT JOIN acls AS once ON once.name = 'once' AND once.grantee = jobs.grantee
      WHERE jobs.name = 'jobs'),
    tables (step, name, to_look, to_work, to_operate) AS (VALUES
      (5, 'queues', 'S', 'S', 'ISU'),
      (6, 'jobs_archive', 'S', 'S', 'DISU'),
      (7, 'chores', 'S', 'ISU', 'ISU'),
      (12, 'operator_log', 'S', 'S', 'ISU'),
      (13, 'redrive_plans', 'S', 'S', 'DISU'),
      (13, 'redrive_jobs', 'S', 'S', 'DISU'),
      (14, 'originals', 'S', 'DS', 'DIS'),
      (15, 'once', 'S', 'IS', 'DISU')), -- of step 3, which handed on nothing
    wanted AS (
      SELECT roles.*, step, tables.name, coalesce(acls.has, '') AS has_now,
        CASE
          WHEN tables.name = 'once' THEN ''
          WHEN tables.name = 'operator_log' THEN CASE WHEN roles.has = 'S' THEN 'S' ELSE 'ISU' END
          WHEN tables.name LIKE 'redrive%' AND works AND roles.has NOT LIKE '%I%' THEN replace(replace(roles.has, 'D', 'DI'), 'SU', CASE WHEN roles.has LIKE '%D%' THEN 'SU' ELSE 'ISU' END)
          ELSE roles.has END AS handed,
        CASE WHEN operates THEN to_operate WHEN works THEN to_work WHEN looks THEN to_look ELSE '' END AS wants
      FROM roles CROSS JOIN tables LEFT JOIN acls ON acls.name = tables.name AND acls.grantee = roles.grantee),
    judged AS (
      SELECT *, has_now = handed AND (name = 'once' OR bool_and(has_now = handed OR name = 'once') OVER (PARTITION BY grantee ORDER BY step DESC)) AS was_handed
      FROM wanted)
    SELECT name, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS role,
      concat_ws(', ', CASE WHEN wants LIKE '%S%' AND looks THEN 'SELECT' END, CASE WHEN wants LIKE '%I%' THEN 'INSERT' END,
        CASE WHEN wants LIKE '%U%' THEN 'UPDATE' END, CASE WHEN wants LIKE '%D%' AND has LIKE '%D%' THEN 'DELETE' END) AS rights
    FROM judged
    WHERE was_handed
  LOOP
    EXECUTE format('REVOKE SELECT, INSERT, UPDATE, DELETE ON leasetop.%I FROM %s', one.name, one.role);
    IF one.rights <> '' THEN
      EXECUTE format('GRANT %s ON leasetop.%I TO %s', one.rights, one.name, one.role);
    END IF;
  END LOOP;
END $$;
-- +goose StatementEnd

-- A migration that adds a table grants by purpose.
DROP FUNCTION leasetop.grant_as_jobs(regclass);

-- What is the schema's own: the publication says so in its comment from now on, and one of its
-- name without that comment is neither changed nor dropped. One that publishes tables of this
-- schema and of no other is ours, as the migrations made it before.
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
-- What roles may do stays, and so does the comment, which the steps before look for. The function is what the steps before
-- grant with, and has the body of step 5.
-- +goose StatementBegin
CREATE FUNCTION leasetop.grant_as_jobs(beside regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  granted record;
BEGIN
  FOR granted IN
    SELECT acl.privilege_type, CASE acl.grantee WHEN 0 THEN 'PUBLIC' ELSE acl.grantee::regrole::text END AS grantee
    FROM pg_class, aclexplode(relacl) AS acl
    WHERE pg_class.oid = 'leasetop.jobs'::regclass
      AND acl.grantee <> relowner
      AND acl.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
  LOOP
    EXECUTE format('GRANT %s ON %s TO %s', granted.privilege_type, beside, granted.grantee);
  END LOOP;
END $$;
-- +goose StatementEnd
