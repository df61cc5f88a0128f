-- Plays that were entered and not cleaned up: they go on, or were killed.
-- No parameters. Rows: the play's name.
SELECT run FROM leasetop.scenario_runs ORDER BY run
