-- Puts a heap of dead letters of five causes into a demonstration that begins with nothing,
-- so that there is something to find out and to redrive: what a bad night leaves behind.
-- Where there are jobs already it does nothing.
-- No parameters. Rows affected: dead letters made. Which of them a redrive helps, and when,
-- is the handlers' to know: see package demo.
WITH causes(queue, kind, status, attempts, max_attempts, jobs, minutes, payload, error) AS (VALUES
  ('emails', 'send_winback', 'dead', 1, 3, 60, 45,
    '{"to": "%1$s@example.com", "template": "winback-autumn", "subject": "We miss you", "customer_id": %2$s}',
    'no template "winback-autumn" yet: it is deployed in 15 s, redrive then'),
  ('emails', 'send_receipt', 'failed', 3, 3, 24, 130,
    '{"to": "%1$s@busy.example.com", "template": "receipt", "subject": "Your receipt no. 4%2$s", "customer_id": %2$s}',
    'SMTP 421 4.7.0 busy.example.com: rate limited, try again later'),
  ('emails', 'send_receipt', 'failed', 3, 3, 9, 600,
    '{"to": "%1$s@full.example.com", "template": "receipt", "subject": "Your receipt no. 4%2$s", "customer_id": %2$s}',
    'SMTP 452 4.2.2 full.example.com: mailbox of %1$s@full.example.com is full'),
  ('images', 'resize', 'dead', 1, 4, 7, 1300,
    '{"source": "https://cdn.example.com/uploads/truncated-upload.jpg", "width": 640, "height": 480, "format": "webp"}',
    'decode https://cdn.example.com/uploads/truncated-upload.jpg: unexpected end of JPEG data after 5%2$s bytes'),
  ('reports', 'monthly_report', 'failed', 3, 3, 12, 20,
    '{"account": "acme", "month": "2026-02", "rows": 1%2$s, "format": "pdf"}',
    'read the books of acme for 2026-02: canceling statement due to lock timeout')
),
letters AS (
  SELECT causes.*, n, (ARRAY['ada', 'alan', 'barbara', 'claude', 'donald', 'edsger', 'frances', 'grace', 'hedy', 'katherine', 'ken', 'leslie'])[1 + n % 12] AS person,
    (1000 + n * 7919 % 9000)::text AS number,
    pg_catalog.now() - pg_catalog.make_interval(secs => (minutes * 60)::float8 * ((jobs - n)::float8 / jobs::float8) + (40 + n % 7)::float8) AS died
  FROM causes, pg_catalog.generate_series(1, jobs) AS n
  WHERE NOT EXISTS (SELECT FROM leasetop.jobs)
)
INSERT INTO leasetop.jobs (queue, kind, payload, status, attempts, max_attempts, last_error, errors, created_at, run_at, updated_at)
SELECT queue, kind, pg_catalog.format(payload, person, number)::jsonb, status, attempts, max_attempts, pg_catalog.format(error, person, number),
  (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('attempt', attempt, 'at', died - pg_catalog.make_interval(secs => 15 * (attempts - attempt)), 'worker', '',
      'outcome', CASE WHEN attempt < attempts THEN 'retry' WHEN status = 'dead' THEN 'buried' ELSE 'failed' END,
      'error', pg_catalog.format(error, person, number)) ORDER BY attempt)
    FROM pg_catalog.generate_series(1, attempts) AS attempt),
  died - interval '3 minutes', died - interval '2 minutes', died
FROM letters
ORDER BY died
