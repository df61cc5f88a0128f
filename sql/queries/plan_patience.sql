-- Bounds how long the transaction waits for a row or a key that another one has locked:
-- its statement fails with 55P03 then. Shorter than the server takes to look for a deadlock, so
-- that a batch that holds some keys and waits for another gives up before anybody is made a victim.
SELECT set_config('lock_timeout', '50ms', true)
