-- A plan that stopped by itself and goes on begins with another canary, which is counted
-- from here; and an entry of the operator log whose act somebody ended on purpose says so
-- without calling it an error.

-- +goose Up
ALTER TABLE leasetop.redrive_plans
  ADD canary_after bigint NOT NULL DEFAULT 0; -- so many were redriven before the canary that counts now
ALTER TABLE leasetop.operator_log
  ADD note text NOT NULL DEFAULT ''; -- who ended it before its end, when that is no error

-- +goose Down
ALTER TABLE leasetop.operator_log
  DROP note;
ALTER TABLE leasetop.redrive_plans
  DROP canary_after;
