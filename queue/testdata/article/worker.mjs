// The worker of the article, its types taken out so that node runs it as it is, and
// three ways to fail put into processJob. Nothing else is changed: it must run on our
// table, its connection's search_path set by the connection string.
import { Pool } from "pg";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const WORKER_ID = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
const QUEUE = "emails";
const LEASE_SECONDS = 30;

async function withClient(fn) {
  const client = await pool.connect();
  try {
    return await fn(client);
  } finally {
    client.release();
  }
}

async function reclaimExpired(client) {
  await client.query(
    `UPDATE jobs
     SET status = 'pending',
         locked_at = NULL,
         locked_by = NULL,
         lease_expires_at = NULL,
         updated_at = now()
     WHERE queue = $1
       AND status = 'processing'
       AND lease_expires_at < now()
       AND attempts < max_attempts`,
    [QUEUE]
  );
}

async function claimJob(client) {
  await reclaimExpired(client);
  const { rows } = await client.query(
    `WITH candidate AS (
       SELECT id
       FROM jobs
       WHERE queue = $1
         AND status = 'pending'
         AND run_at <= now()
       ORDER BY run_at ASC, id ASC
       FOR UPDATE SKIP LOCKED
       LIMIT 1
     )
     UPDATE jobs j
     SET status = 'processing',
         locked_at = now(),
         locked_by = $2,
         lease_expires_at = now() + make_interval(secs => $3),
         attempts = j.attempts + 1,
         updated_at = now()
     FROM candidate c
     WHERE j.id = c.id
     RETURNING j.id, j.payload, j.attempts, j.max_attempts`,
    [QUEUE, WORKER_ID, LEASE_SECONDS]
  );
  return rows[0] ?? null;
}

async function renewLease(jobId) {
  const { rowCount } = await pool.query(
    `UPDATE jobs
     SET lease_expires_at = now() + make_interval(secs => $1),
         updated_at = now()
     WHERE id = $2 AND locked_by = $3 AND status = 'processing'`,
    [LEASE_SECONDS, jobId, WORKER_ID]
  );
  return (rowCount ?? 0) > 0;
}

async function completeJob(jobId) {
  await pool.query(
    `UPDATE jobs
     SET status = 'completed',
         locked_at = NULL,
         locked_by = NULL,
         lease_expires_at = NULL,
         updated_at = now()
     WHERE id = $1 AND locked_by = $2 AND status = 'processing'`,
    [jobId, WORKER_ID]
  );
}

async function failJob(jobId, error, retryable) {
  if (retryable) {
    await pool.query(
      `UPDATE jobs
       SET status = 'pending',
           run_at = now() + interval '30 seconds',
           locked_at = NULL,
           locked_by = NULL,
           lease_expires_at = NULL,
           last_error = $3,
           updated_at = now()
       WHERE id = $1 AND locked_by = $2 AND status = 'processing'
         AND attempts < max_attempts`,
      [jobId, WORKER_ID, error]
    );
  } else {
    await pool.query(
      `UPDATE jobs
       SET status = 'dead',
           locked_at = NULL,
           locked_by = NULL,
           lease_expires_at = NULL,
           last_error = $3,
           updated_at = now()
       WHERE id = $1 AND locked_by = $2 AND status = 'processing'`,
      [jobId, WORKER_ID, error]
    );
  }
}

async function processJob(job) {
  // Idempotent side effect: e.g. INSERT ... ON CONFLICT DO NOTHING on idempotency key
  console.log(`Sending ${job.payload.template} to ${job.payload.to}`);
  // What the test wants to go wrong:
  if (job.payload.template === "slow") throw new Error("SMTP timeout");
  if (job.payload.template === "bad") throw new Error("no such template");
  if (job.payload.template === "killer" && job.attempts === 1) process.exit(9);
}

async function runWorker() {
  for (;;) {
    const job = await withClient(claimJob);
    if (!job) {
      await new Promise((r) => setTimeout(r, 500));
      continue;
    }

    const heartbeat = setInterval(() => {
      void renewLease(job.id).then((ok) => {
        if (!ok) clearInterval(heartbeat);
      });
    }, (LEASE_SECONDS / 2) * 1000);

    try {
      await processJob(job);
      await completeJob(job.id);
    } catch (err) {
      const message = err instanceof Error ? err.message : String(err);
      const retryable = message.includes("timeout") || message.includes("503");
      await failJob(job.id, message, retryable);
    } finally {
      clearInterval(heartbeat);
    }
  }
}

runWorker().catch(console.error);
