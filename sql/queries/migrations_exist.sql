-- Whether any migration was ever applied. No parameters, one row.
SELECT to_regclass('leasetop.migrations') IS NOT NULL
