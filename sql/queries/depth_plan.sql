-- How the transaction that it is run in plans depth.sql and the scans: for the cap and the
-- choice they are given, where a plan for any reads the whole table once for each queue;
-- without compiling it, which took up to a second and more for what takes 50 ms; and
-- without bitmaps, which are made of a whole index before the first row is counted.
-- No parameters, one row: the settings.
SELECT pg_catalog.set_config('plan_cache_mode', 'force_custom_plan', true), pg_catalog.set_config('jit', 'off', true), pg_catalog.set_config('enable_bitmapscan', 'off', true)
