-- No text that anybody may write beside a job is longer than 8 kB: names, reasons and tokens,
-- which lists and screens show. leasetop cuts them where they are entered. last_error stays
-- free, since a worker in another language may write what it likes there. Older rows are not
-- looked at. Each constraint has a statement of its own, as Citus wants it.

-- +goose Up
-- A claim writes such a row anew, and would be refused.
UPDATE leasetop.jobs SET cancelled_by = left(cancelled_by, 1000) WHERE octet_length(cancelled_by) > 8192;

ALTER TABLE leasetop.jobs
  ADD CONSTRAINT jobs_locked_by_short CHECK (octet_length(locked_by) <= 8192) NOT VALID;
ALTER TABLE leasetop.jobs
  ADD CONSTRAINT jobs_cancelled_by_short CHECK (octet_length(cancelled_by) <= 8192) NOT VALID;
ALTER TABLE leasetop.jobs_archive
  ADD CONSTRAINT jobs_archive_texts_short CHECK (octet_length(archived_by) <= 8192 AND octet_length(archived_why) <= 8192) NOT VALID;
ALTER TABLE leasetop.queues
  ADD CONSTRAINT queues_texts_short CHECK (octet_length(paused_by) <= 8192 AND octet_length(paused_why) <= 8192) NOT VALID;
ALTER TABLE leasetop.chores
  ADD CONSTRAINT chores_name_short CHECK (octet_length(name) <= 8192) NOT VALID;
ALTER TABLE leasetop.operator_log
  ADD CONSTRAINT operator_log_texts_short CHECK (octet_length(by_whom) <= 8192 AND octet_length(role) <= 8192 AND octet_length(what) <= 8192
    AND octet_length(filter) <= 8192 AND octet_length(reason) <= 8192 AND octet_length(error) <= 8192 AND octet_length(note) <= 8192) NOT VALID;
ALTER TABLE leasetop.operator_log
  ADD CONSTRAINT operator_log_ids_few CHECK (cardinality(ids) <= 1000) NOT VALID;
ALTER TABLE leasetop.redrive_plans
  ADD CONSTRAINT redrive_plans_texts_short CHECK (octet_length(by_whom) <= 8192 AND octet_length(role) <= 8192 AND octet_length(filter) <= 8192
    AND octet_length(reason) <= 8192 AND octet_length(state_by) <= 8192 AND octet_length(why) <= 8192
    AND octet_length(executor) <= 8192 AND octet_length(token) <= 8192) NOT VALID;
ALTER TABLE leasetop.redrive_jobs
  ADD CONSTRAINT redrive_jobs_reason_short CHECK (octet_length(reason) <= 8192) NOT VALID;
ALTER TABLE leasetop.originals
  ADD CONSTRAINT originals_texts_short CHECK (octet_length(by_whom) <= 8192 AND octet_length(reason) <= 8192) NOT VALID;

-- +goose Down
ALTER TABLE leasetop.originals DROP CONSTRAINT originals_texts_short;
ALTER TABLE leasetop.redrive_jobs DROP CONSTRAINT redrive_jobs_reason_short;
ALTER TABLE leasetop.redrive_plans DROP CONSTRAINT redrive_plans_texts_short;
ALTER TABLE leasetop.operator_log DROP CONSTRAINT operator_log_ids_few, DROP CONSTRAINT operator_log_texts_short;
ALTER TABLE leasetop.chores DROP CONSTRAINT chores_name_short;
ALTER TABLE leasetop.queues DROP CONSTRAINT queues_texts_short;
ALTER TABLE leasetop.jobs_archive DROP CONSTRAINT jobs_archive_texts_short;
ALTER TABLE leasetop.jobs DROP CONSTRAINT jobs_cancelled_by_short, DROP CONSTRAINT jobs_locked_by_short;
