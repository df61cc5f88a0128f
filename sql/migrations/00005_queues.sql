-- What is set for a whole queue. A queue without a row here has no settings; one
-- with a row need not have any jobs yet.

-- +goose Up
CREATE TABLE leasetop.queues (
  queue      text PRIMARY KEY CHECK (queue <> '' AND octet_length(queue) <= 255),
  paused_at  timestamptz,  -- claims leave the queue alone while this is set
  paused_by  text,
  paused_why text,
  CONSTRAINT queues_pause_named CHECK ((paused_at IS NULL) = (paused_by IS NULL)),
  CONSTRAINT queues_times_finite CHECK (isfinite(paused_at))
);

-- A role that works with jobs works with what stands beside it: whoever may read,
-- insert, update or delete there may do so in a table that a migration adds. Without
-- this, a schema brought up to date would shut out workers with rights of their own.
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

SELECT leasetop.grant_as_jobs('leasetop.queues');

-- Every change is announced, whoever makes it: workers look again at the queue.
-- +goose StatementBegin
CREATE FUNCTION leasetop.notify_queues() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM pg_notify('leasetop_control', 'queue ' || OLD.queue);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM pg_notify('leasetop_control', 'queue ' || NEW.queue);
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER queues_notify
  AFTER INSERT OR UPDATE OR DELETE ON leasetop.queues
  FOR EACH ROW EXECUTE FUNCTION leasetop.notify_queues();

-- +goose Down
DROP TABLE leasetop.queues;
DROP FUNCTION leasetop.notify_queues();
DROP FUNCTION leasetop.grant_as_jobs(regclass);
