-- Has the readings of a slot's snapshot walk the partial indexes, whatever the
-- statistics say: in chunks, none of them sorted, nothing compiled. For the transaction.
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SET LOCAL enable_sort = off;
SET LOCAL jit = off
