-- Has the claim of single jobs end soon, where a claim of the queue did not end in time: the
-- trigger of one row may take as long as it likes. What takes longer fails with 57014.
SELECT pg_catalog.set_config('statement_timeout', '2s', true)
