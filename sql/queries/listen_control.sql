-- Has this connection hear what operators ask of workers: 'cancel <id>' of a running
-- job, 'queue <name>' when its pause or settings changed. No parameters, no rows.
LISTEN leasetop_control
