-- Tries to become the one who migrates, until the transaction ends.
-- No parameters, one row: whether it was had. It never waits: a statement that waits
-- holds a snapshot, and CREATE INDEX CONCURRENTLY in the process that has the lock
-- would wait for it in turn. A lock of the transaction, not of the session, since
-- behind a pooler one session serves many. The key is goose's, which programs of the
-- first release lock.
SELECT pg_catalog.pg_try_advisory_xact_lock(4097083626)
