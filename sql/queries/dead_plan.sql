-- How the transaction that it is run in plans the long readings of the dead letters: by
-- their index, however many they are, for to sort or to read the whole table for one
-- stretch of them is as much work as all stretches together; for the values they are
-- given; without compiling them, and without bitmaps.
-- No parameters, one row: the settings.
SELECT pg_catalog.set_config('plan_cache_mode', 'force_custom_plan', true), pg_catalog.set_config('jit', 'off', true), pg_catalog.set_config('enable_bitmapscan', 'off', true),
  pg_catalog.set_config('enable_seqscan', 'off', true), pg_catalog.set_config('enable_sort', 'off', true)
