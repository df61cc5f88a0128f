-- Bounds how long the transaction waits for a row or a key that another one has locked:
-- its statement fails with 55P03 then. Shorter than the server takes to look for a deadlock, so
-- that a batch that holds some keys and waits for another gives up before anybody is made a victim.
-- And without nested loops: what the statistics say of a new plan is that it has one job, and a batch
-- of five hundred would be gone through once for each of them. Without compiling it either, for what
-- is joined in a loop all the same, one row with one, is priced so high that seconds are spent on that.
SELECT pg_catalog.set_config('lock_timeout', '50ms', true), pg_catalog.set_config('enable_nestloop', 'off', true), pg_catalog.set_config('jit', 'off', true)
