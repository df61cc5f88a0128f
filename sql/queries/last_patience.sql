-- Has this transaction wait for a lock long enough to be seen waiting: who holds it is looked
-- up meanwhile, see blocked.sql. After that its statement fails with 55P03.
SELECT pg_catalog.set_config('lock_timeout', '500ms', true)
