-- The time limits of this transaction, whatever the role's are: a step may take long,
-- but it may not wait long for a lock on a table. Whoever comes after it would wait
-- too, workers and their heartbeats among them, so it gives up and tries again. And its
-- search_path: what somebody made in public has no place in what the owner runs.
-- No parameters. One row for each setting that the server has.
SELECT pg_catalog.set_config(name, CASE name WHEN 'lock_timeout' THEN '2s' WHEN 'search_path' THEN 'pg_catalog, pg_temp' ELSE '0' END, true)
FROM pg_catalog.pg_settings
WHERE name IN ('lock_timeout', 'statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'search_path')
