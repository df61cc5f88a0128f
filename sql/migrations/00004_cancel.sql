-- A running job can only be asked to stop: whoever cancels it leaves a name here,
-- its worker's next heartbeat finds it, and the claim ends as dead. It stays until
-- the job is redriven, so no outcome of a worker that does not know it is undone by it.

-- +goose Up
ALTER TABLE leasetop.jobs ADD COLUMN cancelled_by text;

-- +goose Down
ALTER TABLE leasetop.jobs DROP COLUMN cancelled_by;
