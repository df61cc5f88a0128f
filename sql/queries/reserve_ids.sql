-- Takes ids from the sequence of jobs, for rows that COPY brings.
--   $1 how many
-- Rows: the ids, rising, each with the transaction's now, from which delays count.
SELECT nextval(pg_get_serial_sequence('leasetop.jobs', 'id')), now() FROM generate_series(1, $1::int)
