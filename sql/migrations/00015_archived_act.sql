-- Which entry of the operator log a job was discarded under, so that exactly what one
-- discard took can be brought back. NULL: it was discarded under none, or before this.

-- +goose Up
ALTER TABLE leasetop.jobs_archive ADD COLUMN archived_act bigint;

CREATE INDEX jobs_archive_act ON leasetop.jobs_archive (archived_act, id) WHERE archived_act IS NOT NULL;

-- +goose Down
ALTER TABLE leasetop.jobs_archive DROP COLUMN archived_act;
