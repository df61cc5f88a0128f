-- Effects already done, by key. A handler inserts its key in the transaction of
-- the effect itself, so a second run of the same job finds it and stands aside.

-- +goose Up
CREATE TABLE leasetop.once (
  key     text        PRIMARY KEY CHECK (key <> '' AND octet_length(key) <= 1024),
  done_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE leasetop.once;
