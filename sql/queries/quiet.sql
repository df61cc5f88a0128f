-- Has this transaction's INSERTs into jobs wake nobody: the program itself will, once
-- for many transactions. (NOTIFY makes commits of the whole cluster wait for each other.)
SELECT pg_catalog.set_config('leasetop_wakeup.quiet', 'on', true)
