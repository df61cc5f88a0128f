-- Looks for a mail's template. One that is missing is noted, and somebody deploys
-- it some seconds later.
--   $1 name   $2 seconds from now to the deployment, when it was not noted yet
-- One row: seconds until it is there, zero or negative when it is. Index: primary key.
INSERT INTO leasetop.demo_templates (name, deployed_at)
VALUES ($1::text, pg_catalog.now() + pg_catalog.make_interval(secs => $2::float8))
ON CONFLICT (name) DO UPDATE SET name = excluded.name
RETURNING extract(epoch FROM deployed_at - pg_catalog.now())::float8
