-- Work that one process at a time should do for all, now and then: whoever moves
-- due_at forward does it. A process that dies in the middle costs one round.

-- +goose Up
CREATE TABLE leasetop.chores (
  name   text        PRIMARY KEY,
  due_at timestamptz NOT NULL
);

SELECT leasetop.grant_as_jobs('leasetop.chores');

-- +goose Down
DROP TABLE leasetop.chores;
