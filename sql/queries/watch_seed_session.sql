-- Has the readings of a slot's snapshot walk the partial indexes, whatever the
-- statistics say: in chunks, none of them sorted, nothing compiled. For the transaction.
-- No parameters, one row.
SELECT pg_catalog.set_config('enable_seqscan', 'off', true), pg_catalog.set_config('enable_bitmapscan', 'off', true),
  pg_catalog.set_config('enable_sort', 'off', true), pg_catalog.set_config('jit', 'off', true)
