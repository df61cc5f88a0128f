-- Tries to become the one who migrates this schema, until the transaction ends.
-- No parameters, one row: whether it was had. It never waits: a statement that waits
-- holds a snapshot, and CREATE INDEX CONCURRENTLY in the process that has the lock
-- would wait for it in turn. A lock of the transaction, not of the session, since
-- behind a pooler one session serves many.
SELECT pg_try_advisory_xact_lock(hashtextextended('leasetop.migrations', 0))
