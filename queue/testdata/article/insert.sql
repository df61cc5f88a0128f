INSERT INTO jobs (queue, payload, status, run_at, max_attempts)
VALUES ('emails', '{"to":"user@example.com","template":"welcome"}', 'pending', now(), 5);
