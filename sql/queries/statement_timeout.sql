-- Reads how long a statement of this session may take, in ms; 0 is for ever.
-- No parameters, one row.
SELECT setting::bigint FROM pg_catalog.pg_settings WHERE name = 'statement_timeout'
