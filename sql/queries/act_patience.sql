-- Has this transaction wait no longer than a moment for a row, a key or a table that
-- others have locked: its statement fails with 55P03 instead. Long enough for a commit
-- just under way; and a process that was killed changes nothing later.
SELECT pg_catalog.set_config('lock_timeout', '50ms', true)
