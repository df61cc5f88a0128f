// A worker of leasetop's queue in Node.js, whole in this file: copy it, write your
// handler, run it. It needs Node 20.11 and the package pg (npm install pg).
//
//     DATABASE_URL=postgres://app@db.example.com/app node worker.mjs emails reports
//
// README.md beside it is the contract that it keeps. The statements at its end are
// leasetop's own, from sql/queries.
import pg from "pg";
import { randomBytes } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

// Your handler. When it returns, the job is completed. What it throws decides otherwise:
// Permanent for what no retry can cure, Snooze for "later, and do not count this try",
// anything else for "again, with backoff". The signal is aborted when the job must stop;
// its reason says why. Pass it on to fetch and the like, and begin no effect after it.
// A job may run twice: guard its effects by job.id.
async function handle(job, signal) {
  console.log(`job ${job.id} of ${job.queue}, attempt ${job.attempts}: ${job.text}`);
}

export class Permanent extends Error {}
export class Snooze extends Error {
  constructor(seconds) {
    super(`snoozed for ${seconds} s`);
    this.seconds = seconds;
  }
}

// The reasons of an aborted signal.
export class LeaseLost extends Error {} // somebody else may have the job
export class Cancelled extends Error {} // an operator wants it ended
export class Drained extends Error {} // the worker stops, the job goes back unused

const defaults = {
  url: process.env.DATABASE_URL,
  queues: ["default"], // claimed from strictly in this order
  slots: 10, // jobs at once
  lease: 30, // seconds, at least 1: so late is it noticed that this process died
  grace: 30, // seconds that a stop may take
  backoff: (attempts) => 60 * 2 ** Math.min(attempts, 6) * (1 + Math.random() / 10), // seconds
  log: (text) => console.error(text),
};

// work does jobs until SIGTERM or SIGINT, then lets those that run finish; a second
// signal hurries it. It returns the jobs left behind, whose handlers ignore their signals.
export async function work(handle, options) {
  const o = { ...defaults, ...options };
  const margin = o.lease / 10;
  const boot = `${hostname().replace(/[/#:]/g, "-")}:${process.pid}:${randomBytes(4).toString("hex")}`;
  const runs = new Map(); // the jobs at work and the promises of their ends
  const held = new Map(); // those whose leases are renewed, by id and owner
  const passed = new Map(); // the jobs that the server refuses to change: until when, and for how long, they are passed over
  const [claimBell, beatBell, reapBell, earsBell, stopBell] = Array.from({ length: 5 }, () => new Bell());
  const base = new Session(o.url, 10);
  const heart = new Session(o.url, Math.max(o.lease / 3, 1)); // heartbeats must not wait behind claims
  const ears = new Session(o.url, 5, heard, () => earsBell.ring());
  let claims = 0, claiming, pause = 0, stopping = false, over = false;

  // ---- claims ----

  async function claim() {
    let found = 0;
    for (const queue of o.queues) {
      const free = o.slots - runs.size;
      if (stopping || free <= 0 || !heart.up) break; // what could not be renewed is not claimed
      const owner = `${boot}/node#${++claims}`; // the fencing token: no other claim ever has it
      const sent = clock();
      const rows = await claimFrom(queue, owner, free);
      found += rows.length;
      for (const [id, queue, kind, text, , attempts, maxAttempts, , , , , , , , , cancelledBy] of rows) {
        const job = { id, queue, kind, text, attempts: Number(attempts), maxAttempts: Number(maxAttempts), owner, cancelledBy };
        // The database granted the lease after this was sent: so long it is ours for certain.
        job.trust = sent + o.lease - margin;
        job.abort = new AbortController();
        held.set(key(id, owner), job);
        runs.set(job, run(job));
      }
    }
    if (runs.size >= o.slots) return 3600; // the end of a job rings
    pause = found > 0 ? 0 : Math.min(Math.max(2 * pause, 0.1), 5);
    return pause * (1 - Math.random() / 4);
  }

  // claimFrom claims jobs of one queue; those that the server refuses to change are passed over.
  async function claimFrom(queue, owner, free) {
    try {
      return await base.query(SQL.claim, [queue, owner, o.lease, free, "-infinity", "-9223372036854775808", passingOver()]);
    } catch (error) {
      if (!refused(error)) throw error;
    }
    const rows = [];
    for (const [id] of await base.query(SQL.claimable, [queue, free, passingOver()])) {
      try {
        for (const [, ...row] of await base.query(SQL.claim_these, [queue, owner, o.lease, [id]])) {
          if (row[0] === null) passOver(id, "a trigger leaves the row as it was");
          else rows.push(row);
        }
      } catch (error) {
        if (refused(error)) passOver(id, error.message);
        else if (rows.length > 0) break; // those are leased
        else throw error;
      }
    }
    return rows;
  }

  const passingOver = () => [...passed].filter(([, { until }]) => clock() < until).map(([id]) => id);

  // passOver leaves a job out of claims and reclaims for a second, then for twice as long each time.
  function passOver(id, why) {
    const wait = Math.min(2 * (passed.get(id)?.wait ?? 0.5), 300);
    if (passed.size >= 1000) passed.clear();
    passed.set(id, { until: clock() + wait, wait });
    o.log(`job ${id}: the server refuses to change it, it is passed over for ${wait} s: ${why}`);
  }

  async function run(job) {
    await null; // so that runs has it
    await attempt(job).catch((error) => o.log(`job ${job.id}: no outcome, the lease runs out: ${error}`));
    held.delete(key(job.id, job.owner));
    runs.delete(job);
    claimBell.ring();
  }

  // attempt takes a job from its claim to its outcome.
  async function attempt(job) {
    const { id, owner, abort: { signal } } = job;
    if (job.cancelledBy || stopping || clock() >= job.trust) return settle(job, "release", SQL.release, id, owner, 0);
    let error;
    try {
      job.payload = parse(job.text);
      await handle(job, signal);
      // Also after the signal: the fence decides, and perhaps nobody has replaced us.
      return settle(job, "completion", SQL.complete, [id], [owner]);
    } catch (thrown) {
      error = thrown;
    }
    if (signal.reason instanceof LeaseLost) return; // a reaper gives it back, or has
    if (error instanceof Snooze) return settle(job, "snooze", SQL.release, id, owner, error.seconds);
    if (error instanceof Permanent) return settle(job, "burial", SQL.bury, id, owner, storable(error));
    if (signal.reason instanceof Drained) return settle(job, "release", SQL.release, id, owner, 0);
    return settle(job, "retry", SQL.retry, id, owner, storable(error), o.backoff(job.attempts));
  }

  // settle writes an outcome. No row: it changed nothing. What fails for the moment is
  // tried again for as long as the lease is trusted, and heartbeats go on meanwhile.
  async function settle(job, outcome, statement, ...values) {
    job.settling = true;
    for (let wait = 50; ; wait = Math.min(2 * wait, 1000)) {
      try {
        const rows = await base.query(statement, values);
        if (rows.length === 0) o.log(`job ${job.id}: late ${outcome} fenced: the lease is lost`);
        return;
      } catch (error) {
        if (!passing(error) || clock() >= job.trust) {
          return o.log(`job ${job.id}: the ${outcome} is not written, the lease runs out: ${error.message}`);
        }
      }
      await sleep(wait);
    }
  }

  // ---- leases ----

  async function beat() {
    const jobs = new Map(held);
    const column = (name) => Array.from(jobs.values(), (job) => job[name]);
    const stood = heart.up, sent = clock();
    const rows = await renew([...jobs.values()]);
    if (!stood) claimBell.ring();
    for (const [id, owner, cancelledBy] of rows) {
      const job = jobs.get(key(id, owner));
      jobs.delete(key(id, owner));
      job.trust = sent + o.lease - margin;
      if (cancelledBy) stop(job, new Cancelled(`cancelled by ${cancelledBy}`));
    }
    if (jobs.size > 0) { // locked by somebody just now, which leaves the deadline as it was, or lost
      const rest = [...jobs.values()];
      const rows = await heart.query(SQL.lease_owners, [column("id"), column("owner")]);
      const ours = new Set(rows.filter(([, , , same]) => same === "t").map(([n]) => rest[n - 1]));
      for (const job of rest) if (!ours.has(job)) lose(job, "it is not ours any more");
    }
    return o.lease / 3;
  }

  // renew renews leases together. If the server refuses one of the rows, the others are renewed one by one.
  async function renew(jobs) {
    try {
      return await heart.query(SQL.heartbeat, [jobs.map((job) => job.id), jobs.map((job) => job.owner), jobs.map(() => o.lease), jobs.map(() => 0)]);
    } catch (error) {
      if (!refused(error)) throw error;
      if (jobs.length === 1) {
        o.log(`job ${jobs[0].id}: the server refuses to renew its lease: ${error.message}`);
        return [];
      }
    }
    const rows = [];
    for (const job of jobs) rows.push(...(await renew([job])));
    return rows;
  }

  // watch stops what could not be renewed in time, before anybody else can have it.
  function watch() {
    const now = clock();
    for (const job of held.values()) if (now >= job.trust) lose(job, "no heartbeat got through in time");
  }

  function lose(job, why) {
    stop(job, new LeaseLost(`lease lost: ${why}`));
    if (!job.settling) held.delete(key(job.id, job.owner));
  }

  function stop(job, reason) {
    if (job.settling || job.abort.signal.aborted) return;
    o.log(`job ${job.id} stops: ${reason.message}`);
    job.abort.abort(reason);
  }

  async function reap() { // for workers that died, whatever their language
    const rows = await reclaim();
    for (const [id, , , , status, owner] of rows) {
      if (status === null) passOver(id, "a trigger leaves the row as it was");
      else o.log(`job ${id} is reclaimed from ${owner}, now ${status}`);
    }
    const queues = new Set(rows.filter(([, , , , status]) => status === "pending").map(([, queue]) => queue));
    if (queues.size > 0) await base.query(SQL.wake, [[...queues]]);
    return (o.lease / 3) * (1 - Math.random() / 5);
  }

  async function reclaim() {
    try {
      return await base.query(SQL.reclaim, [500, null, passingOver(), null]);
    } catch (error) {
      if (!refused(error)) throw error;
    }
    const rows = [];
    for (const [id] of await base.query(SQL.reclaimable, [500, null, passingOver()])) {
      try {
        rows.push(...(await base.query(SQL.reclaim, [1, null, [], [id]])));
      } catch (error) {
        if (!refused(error)) throw error;
        passOver(id, error.message);
      }
    }
    return rows;
  }

  // ---- wake-ups ----

  async function listen() {
    const stood = ears.up;
    for (const statement of [SQL.listen_ready, SQL.listen_control]) await ears.query(statement);
    if (!stood) for (const bell of [claimBell, beatBell]) bell.ring(); // for what was announced while nobody listened
    return 20; // doing it again is how a connection that died silently is found out
  }

  function heard({ channel, payload }) {
    if (channel === "leasetop_control" && payload.startsWith("cancel ")) return beatBell.ring();
    pause = 0;
    claimBell.ring();
  }

  // ---- life ----

  // loop does a step, waits as many seconds as it returned or for its bell, and so on.
  async function loop(name, bell, step) {
    for (let fine = true; !over; ) {
      try {
        const wait = await step();
        if (!fine) o.log(`${name}: working again`);
        fine = true;
        if (!over) await bell.wait(wait);
      } catch (error) {
        if (fine && !over) o.log(`${name}: ${error.message}`);
        fine = false;
        await sleep(1000 * Math.min(1, margin));
      }
    }
  }

  const asked = () => stopBell.ring();
  process.on("SIGTERM", asked).on("SIGINT", asked);
  const ticking = setInterval(watch, 500 * margin);
  const loops = [
    loop("heartbeats", beatBell, beat), loop("reclaims", reapBell, reap), loop("wake-ups", earsBell, listen),
    loop("claims", claimBell, () => (claiming = claim())),
  ];
  await stopBell.wait();
  stopping = true;
  await claiming.catch(() => {}); // what it brings is released
  o.log(`stopping: ${runs.size} running, at most ${o.grace} s`);
  const rest = Math.min(o.grace / 5, 2);
  const ended = Promise.all(runs.values());
  await Promise.race([ended, stopBell.wait(o.grace - rest)]); // a second signal rings
  for (const job of runs.keys()) stop(job, new Drained("the worker stops"));
  await Promise.race([ended, stopBell.wait(rest)]);
  const left = [...runs.keys()];
  for (const job of left) o.log(`job ${job.id} is left: its handler ignores the signal, its lease runs out`);

  over = true;
  clearInterval(ticking);
  process.off("SIGTERM", asked).off("SIGINT", asked);
  for (const bell of [claimBell, beatBell, reapBell, earsBell, stopBell]) bell.ring();
  for (const session of [base, heart, ears]) session.end();
  await Promise.all(loops);
  return left;
}

const key = (id, owner) => `${id} ${owner}`;

// clock counts seconds, on Linux also those in which the machine sleeps.
function clock() {
  try {
    return Number(readFileSync("/proc/uptime", "latin1").split(" ")[0]);
  } catch {
    return performance.now() / 1000;
  }
}

// parse reads a payload. Whole numbers that no double holds are BigInts; job.text has
// every digit of the rest. No payload holds a NUL, so one can mark them.
function parse(text) {
  let quoted = false;
  const marked = text.replace(/\\.|"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g, (token) => {
    if (token === '"') quoted = !quoted;
    return quoted || !/^-?\d+$/.test(token) || Number.isSafeInteger(Number(token)) ? token : `"\\u0000${token}"`;
  });
  try {
    return JSON.parse(marked, (_, value) => (typeof value === "string" && value[0] === "\0" ? BigInt(value.slice(1)) : value));
  } catch (error) {
    throw new Permanent(`the payload cannot be read: ${error.message}`);
  }
}

// storable makes a text that PostgreSQL can store: well-formed, without NUL, bounded.
// What could not be written would leave the job in processing.
function storable(error) {
  let text = "an error without a text";
  try {
    text = error instanceof Error ? error.message || error.name : String(error);
  } catch {} // an object that refuses to be a string
  return text.slice(0, 8000).toWellFormed().replaceAll("\0", "\uFFFD");
}

// passing tells errors of the connection or the moment from those that every try meets.
const passing = (error) => !(error instanceof pg.DatabaseError) || /^(08|40|53|55|57|58|25006)/.test(error.code);

// refused tells errors about the row that is to be changed, after which other rows can be:
// of a constraint, a value, a policy, or raised by a trigger.
const refused = (error) => error instanceof pg.DatabaseError && !/^(08|25|40|53|55|57|58|22021|22P05)/.test(error.code) &&
  (/^(09|21|22|23|27|38|39|44|54|P0|XX)/.test(error.code) || ["exec_stmt_raise", "ExecWithCheckOptions"].includes(error.routine));

// A bell wakes who waits for it, or who will wait next.
class Bell {
  #rung = false;
  #wake = () => {};

  ring() {
    this.#rung = true;
    this.#wake();
  }

  async wait(seconds = 2e6) {
    let timer;
    if (!this.#rung) await new Promise((done) => { this.#wake = done; timer = setTimeout(done, 1000 * seconds).unref(); });
    clearTimeout(timer);
    this.#rung = false;
  }
}

// A session is a connection that is made when it is needed and replaced when it failed.
class Session {
  up = false; // its last use succeeded
  #connected; // the promise of a client
  #client;
  #turn = Promise.resolve();

  constructor(url, patience, heard = () => {}, ended = () => {}) {
    // Every value stays the text that the server wrote: a double holds no bigint, nor
    // each number of a payload.
    this.config = {
      connectionString: url, application_name: "leasetop node", keepAlive: true, connectionTimeoutMillis: 10_000,
      query_timeout: 1000 * patience, types: { getTypeParser: () => String },
    };
    Object.assign(this, { heard, ended });
  }

  query(text, values) { // one after the other: a client of pg takes no second before the first has ended
    const turn = this.#turn.then(() => this.#ask(text, values));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #ask(text, values) {
    let client;
    try {
      client = await (this.#connected ??= this.#connect());
      const { rows } = await client.query({ text, values, rowMode: "array" });
      this.up = true;
      return rows;
    } catch (error) {
      if (client && !(error instanceof pg.DatabaseError)) this.#drop(client);
      throw error;
    }
  }

  async #connect() {
    const client = new pg.Client(this.config);
    client.on("notification", this.heard).on("error", () => {}); // "end" follows
    client.on("end", () => this.#drop(client));
    try {
      await client.connect();
      // A role may default to a stricter one, under which writes fail with 40001.
      await client.query("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED");
      return (this.#client = client);
    } catch (error) {
      this.#connected = undefined;
      client.end().catch(() => {});
      throw error;
    }
  }

  #drop(client) {
    if (client !== this.#client) return; // replaced already
    this.end();
    this.ended();
  }

  end() {
    this.#client?.end().catch(() => {}); // it is given up either way
    this.#client = this.#connected = undefined;
    this.up = false;
  }
}

const SQL = {
  claim: `
UPDATE leasetop.jobs
SET status = 'processing',
    locked_at = pg_catalog.now(),
    locked_by = $2::text,
    lease_expires_at = pg_catalog.now() + pg_catalog.make_interval(secs => $3::float8),
    attempts = least(attempts, 2147483646) + 1,
    cancelled_by = CASE WHEN cancelled_by IS NOT NULL AND errors -> -1 ->> 'outcome' = 'redriven' THEN NULL ELSE cancelled_by END,
    updated_at = pg_catalog.now()
WHERE id = ANY (ARRAY(
  SELECT id
  FROM leasetop.jobs
  WHERE queue = $1::text
    AND status = 'pending'
    AND run_at <= pg_catalog.now()
    AND (run_at, id) >= ($5::timestamptz, $6::bigint)
    AND id <> ALL ($7::bigint[])
    AND NOT EXISTS (SELECT FROM leasetop.queues WHERE queues.queue = $1::text AND paused_at IS NOT NULL)
  ORDER BY run_at, id
  LIMIT $4::int
  FOR UPDATE SKIP LOCKED))
RETURNING id, queue, kind, payload, status, attempts, max_attempts, run_at, locked_at, locked_by,
  lease_expires_at, coalesce(last_error, ''), coalesce(idempotency_key, ''), created_at, updated_at,
  coalesce(cancelled_by, '')
`,
  claimable: `
SELECT id, xmin::text
FROM leasetop.jobs
WHERE queue = $1::text
  AND status = 'pending'
  AND run_at <= pg_catalog.now()
  AND id <> ALL ($3::bigint[])
  AND NOT EXISTS (SELECT FROM leasetop.queues WHERE queues.queue = $1::text AND paused_at IS NOT NULL)
ORDER BY run_at, id
LIMIT $2::int
FOR UPDATE SKIP LOCKED
`,
  claim_these: `
WITH held AS (
  SELECT id
  FROM leasetop.jobs
  WHERE id = ANY ($4::bigint[])
    AND queue = $1::text
    AND status IS NOT DISTINCT FROM 'pending'
    AND run_at <= pg_catalog.now()
    AND NOT EXISTS (SELECT FROM leasetop.queues WHERE queues.queue = $1::text AND paused_at IS NOT NULL)
  FOR UPDATE SKIP LOCKED),
claimed AS (
  UPDATE leasetop.jobs
  SET status = 'processing',
      locked_at = pg_catalog.now(),
      locked_by = $2::text,
      lease_expires_at = pg_catalog.now() + pg_catalog.make_interval(secs => $3::float8),
      attempts = least(attempts, 2147483646) + 1,
      cancelled_by = CASE WHEN cancelled_by IS NOT NULL AND errors -> -1 ->> 'outcome' = 'redriven' THEN NULL ELSE cancelled_by END,
      updated_at = pg_catalog.now()
  FROM held
  WHERE jobs.id = held.id
  RETURNING jobs.id, queue, kind, payload, status, attempts, max_attempts, run_at, locked_at, locked_by,
    lease_expires_at, coalesce(last_error, '') AS last_error, coalesce(idempotency_key, '') AS idempotency_key, created_at, updated_at,
    coalesce(cancelled_by, '') AS cancelled_by)
SELECT held.id, claimed.*
FROM held
LEFT JOIN claimed ON claimed.id = held.id
`,
  complete: `
UPDATE leasetop.jobs
SET status = 'completed',
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    updated_at = pg_catalog.now()
FROM unnest($1::bigint[], $2::text[]) AS done(id, owner)
WHERE jobs.id = done.id
  AND jobs.locked_by = done.owner
  AND jobs.status IS NOT DISTINCT FROM 'processing'
RETURNING jobs.id, done.owner
`,
  retry: `
UPDATE leasetop.jobs
SET status = CASE WHEN cancelled_by IS NOT NULL THEN 'dead' WHEN attempts < max_attempts THEN 'pending' ELSE 'failed' END,
    run_at = CASE WHEN cancelled_by IS NULL AND attempts < max_attempts THEN pg_catalog.now() + pg_catalog.make_interval(secs => $4::float8) ELSE run_at END,
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    last_error = CASE WHEN cancelled_by IS NOT NULL THEN 'cancelled by ' || pg_catalog.left(cancelled_by, 1000) ELSE $3::text END,
    errors = leasetop.with_attempt(errors, attempts, locked_by,
      CASE WHEN cancelled_by IS NOT NULL THEN 'cancelled' WHEN attempts < max_attempts THEN 'retry' ELSE 'failed' END, pg_catalog.left($3::text, 2000)),
    updated_at = pg_catalog.now()
WHERE id = $1::bigint
  AND locked_by = $2::text
  AND status IS NOT DISTINCT FROM 'processing'
RETURNING status
`,
  bury: `
UPDATE leasetop.jobs
SET status = 'dead',
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    last_error = CASE WHEN cancelled_by IS NULL THEN $3::text ELSE 'cancelled by ' || pg_catalog.left(cancelled_by, 1000) END,
    errors = leasetop.with_attempt(errors, attempts, locked_by,
      CASE WHEN cancelled_by IS NULL THEN 'buried' ELSE 'cancelled' END, pg_catalog.left($3::text, 2000)),
    updated_at = pg_catalog.now()
WHERE id = $1::bigint
  AND locked_by = $2::text
  AND status IS NOT DISTINCT FROM 'processing'
RETURNING id
`,
  release: `
UPDATE leasetop.jobs
SET status = CASE WHEN cancelled_by IS NULL THEN 'pending' ELSE 'dead' END,
    run_at = CASE WHEN cancelled_by IS NULL AND $3::float8 > 0::float8 THEN pg_catalog.now() + pg_catalog.make_interval(secs => $3::float8) ELSE run_at END,
    attempts = CASE WHEN cancelled_by IS NULL THEN greatest(attempts - 1, 0) ELSE attempts END,
    locked_at = NULL,
    locked_by = NULL,
    lease_expires_at = NULL,
    last_error = CASE WHEN cancelled_by IS NULL THEN last_error ELSE 'cancelled by ' || pg_catalog.left(cancelled_by, 1000) END,
    errors = CASE WHEN cancelled_by IS NULL THEN errors
      ELSE leasetop.with_attempt(errors, attempts, locked_by, 'cancelled', '') END,
    updated_at = pg_catalog.now()
WHERE id = $1::bigint
  AND locked_by = $2::text
  AND status IS NOT DISTINCT FROM 'processing'
RETURNING status, queue
`,
  heartbeat: `
WITH held AS (
  SELECT jobs.id, beat.secs
  FROM unnest($1::bigint[], $2::text[], $3::float8[], $4::float8[]) AS beat(id, owner, secs, spare)
  JOIN leasetop.jobs ON jobs.id = beat.id AND jobs.locked_by = beat.owner
  WHERE jobs.status IS NOT DISTINCT FROM 'processing'
    AND (beat.spare = 0::float8 OR jobs.lease_expires_at >= pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => beat.spare))
  ORDER BY jobs.id
  FOR NO KEY UPDATE OF jobs SKIP LOCKED)
UPDATE leasetop.jobs
SET lease_expires_at = pg_catalog.now() + pg_catalog.make_interval(secs => held.secs),
    updated_at = pg_catalog.now()
FROM held
WHERE jobs.id = held.id
RETURNING jobs.id, jobs.locked_by, coalesce(pg_catalog.left(jobs.cancelled_by, 1000), '')
`,
  lease_owners: `
SELECT asked.n, jobs.status, coalesce(pg_catalog.left(jobs.locked_by, 1000), ''), jobs.locked_by IS NOT DISTINCT FROM asked.owner
FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS asked(id, owner, n)
JOIN leasetop.jobs ON jobs.id = asked.id
`,
  reclaim: `
WITH expired AS (
  SELECT id, locked_by, lease_expires_at
  FROM leasetop.jobs
  WHERE status = 'processing' AND lease_expires_at < pg_catalog.now()
    AND ($2::text[] IS NULL OR queue = ANY ($2::text[]))
    AND id <> ALL ($3::bigint[])
    AND ($4::bigint[] IS NULL OR id = ANY ($4::bigint[]))
  ORDER BY id
  LIMIT $1::int
  FOR NO KEY UPDATE SKIP LOCKED),
reclaimed AS (
  UPDATE leasetop.jobs
  SET status = CASE WHEN cancelled_by IS NULL AND attempts < max_attempts THEN 'pending' ELSE 'dead' END,
      locked_at = NULL,
      locked_by = NULL,
      lease_expires_at = NULL,
      last_error = CASE WHEN cancelled_by IS NOT NULL THEN 'cancelled by ' || pg_catalog.left(cancelled_by, 1000)
        WHEN attempts < max_attempts THEN last_error ELSE lost.text END,
      errors = leasetop.with_attempt(errors, attempts, pg_catalog.left(expired.locked_by, 1000), 'lost', lost.text),
      updated_at = pg_catalog.now()
  FROM expired, LATERAL (
    SELECT 'worker lost ' || CASE n WHEN 1 THEN 'once' ELSE n::text || ' times' END || ': the lease ran out without a heartbeat' AS text
    FROM (
      SELECT 1 + pg_catalog.count(*) FILTER (WHERE attempt ->> 'outcome' = 'lost') AS n
      FROM leasetop.jobs AS history, pg_catalog.jsonb_array_elements(history.errors) AS attempt
      WHERE history.id = expired.id) AS counted) AS lost
  WHERE jobs.id = expired.id
    AND jobs.status IS NOT DISTINCT FROM 'processing'
    AND jobs.locked_by = expired.locked_by
    AND jobs.lease_expires_at < pg_catalog.now()
  RETURNING jobs.id, jobs.queue, jobs.kind, jobs.attempts, jobs.status, jobs.cancelled_by)
SELECT expired.id, coalesce(queue, ''), coalesce(kind, ''), coalesce(attempts, 0), status, pg_catalog.left(expired.locked_by, 1000),
  extract(epoch FROM pg_catalog.clock_timestamp() - expired.lease_expires_at)::float8, coalesce(pg_catalog.left(cancelled_by, 1000), '')
FROM expired
LEFT JOIN reclaimed ON reclaimed.id = expired.id
`,
  reclaimable: `
SELECT id
FROM leasetop.jobs
WHERE status = 'processing' AND lease_expires_at < pg_catalog.now()
  AND ($2::text[] IS NULL OR queue = ANY ($2::text[]))
  AND id <> ALL ($3::bigint[])
ORDER BY id
LIMIT $1::int
FOR NO KEY UPDATE SKIP LOCKED
`,
  listen_ready: `
LISTEN leasetop_ready
`,
  listen_control: `
LISTEN leasetop_control
`,
  wake: `
SELECT pg_catalog.pg_notify('leasetop_ready', queue) FROM pg_catalog.unnest($1::text[]) AS woken(queue)
`,
};

if (process.argv[1] && realpathSync(process.argv[1]) === import.meta.filename) {
  const queues = process.argv.slice(2);
  if (queues.length === 0 || !process.env.DATABASE_URL) {
    console.error("usage: DATABASE_URL=postgres://… node worker.mjs QUEUE…");
    process.exit(2);
  }
  const left = await work(handle, { queues });
  process.exit(left.length > 0 ? 1 : 0);
}
