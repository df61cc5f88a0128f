-- The jobs whose rows the server refused to change lately, as a constraint or a trigger of
-- the database's owner has it, so that every dashboard can name them. The process that meets
-- one writes it here, at most as often as it tries again. A row here says nothing any more
-- once the job has another version: its row was changed, or is gone. The next writer deletes
-- what is old.

-- +goose Up
CREATE TABLE leasetop.refusals (
  job_id   bigint      PRIMARY KEY,
  act      text        NOT NULL CHECK (octet_length(act) <= 100),       -- what was to be done: claim, heartbeat, complete …
  sqlstate text        NOT NULL CHECK (octet_length(sqlstate) <= 5),    -- '' when a trigger left the row as it was
  reason   text        NOT NULL CHECK (octet_length(reason) <= 2000),   -- the server's message
  detail   text        NOT NULL CHECK (octet_length(detail) <= 4000),   -- the server's DETAIL
  by_whom  text        NOT NULL CHECK (octet_length(by_whom) <= 1000),  -- the process
  version  text        NOT NULL CHECK (octet_length(version) <= 8192),  -- xmin of the job's row, or its owner while it is leased
  first_at timestamptz NOT NULL DEFAULT now(),
  last_at  timestamptz NOT NULL DEFAULT now(),
  times    int         NOT NULL DEFAULT 1
);

-- Who may look at jobs may look here, and who may change them may write here.
-- +goose StatementBegin
DO $$
DECLARE
  granted record;
BEGIN
  FOR granted IN
    SELECT CASE acl.grantee WHEN 0 THEN 'PUBLIC' ELSE acl.grantee::pg_catalog.regrole::text END AS grantee, acl.privilege_type
    FROM pg_catalog.pg_class, pg_catalog.aclexplode(relacl) AS acl
    WHERE pg_class.oid = 'leasetop.jobs'::pg_catalog.regclass
      AND acl.grantee <> relowner
      AND acl.privilege_type IN ('SELECT', 'UPDATE')
  LOOP
    EXECUTE 'GRANT ' || CASE granted.privilege_type WHEN 'SELECT' THEN 'SELECT' ELSE 'SELECT, INSERT, UPDATE, DELETE' END
      || ' ON leasetop.refusals TO ' || granted.grantee;
  END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
DROP TABLE leasetop.refusals;
