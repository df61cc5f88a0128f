-- Has this transaction wait hardly at all for rows that others have locked: its
-- statement fails with 55P03 instead. Long enough for a commit just under way.
SELECT pg_catalog.set_config('lock_timeout', '5ms', true)
