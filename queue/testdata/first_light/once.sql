-- Notes that the effect of this key is done, in the effect's own transaction.
--   $1 key
-- Rows: the key when this is the first time; none when it was done before. A second
-- transaction with the same key waits here until the first ends. Index: primary key.
INSERT INTO leasetop.once (key) VALUES ($1::text)
ON CONFLICT DO NOTHING
RETURNING key
