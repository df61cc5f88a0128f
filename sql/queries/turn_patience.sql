-- Has this transaction wait for a row no longer than a batch of a plan takes that is under
-- way: its statement fails with 55P03 then.
SELECT pg_catalog.set_config('lock_timeout', '1s', true)
