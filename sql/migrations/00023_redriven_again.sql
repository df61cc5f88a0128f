-- A plan reports what its own redrives led to. Once somebody else redrives one of its jobs,
-- which had died again then, what becomes of that job says nothing about the plan any more.

-- +goose Up
ALTER TABLE leasetop.redrive_jobs
  ADD again timestamptz; -- when somebody else redrove it, after it had died again

-- +goose Down
ALTER TABLE leasetop.redrive_jobs
  DROP again;
