-- Sets the isolation of this connection's transactions, whatever the role's default
-- is: under a stricter one heartbeats would fail with 40001. No parameters, no rows.
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED
