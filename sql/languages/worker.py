#!/usr/bin/python3
"""A worker of leasetop's queue in Python, whole in this file: copy it, write your
handler, run it. It needs Python 3.9 and psycopg 3.1 (Debian: python3-psycopg).

    DATABASE_URL=postgres://app@db.example.com/app python3 worker.py emails reports

README.md beside it is the contract that it keeps. The statements at its end are
leasetop's own, from sql/queries.
"""
import json, os, random, re, select, signal, socket, sys, threading, time
from decimal import Decimal
from queue import Empty, SimpleQueue

import psycopg
from psycopg.types.string import TextLoader


def handle(job, stop):
    """Your handler. When it returns, the job is completed. What it raises decides
    otherwise: Permanent for what no retry can cure, Snooze for "later, and do not count
    this try", anything else for "again, with backoff". The Event stop is set when the
    job must stop; job.reason says why. Look at it now and then, and begin no effect
    after it. A job may run twice: guard its effects by job.id."""
    print(f"job {job.id} of {job.queue}, attempt {job.attempts}: {job.text}", flush=True)


class Permanent(Exception):
    pass


class Snooze(Exception):
    def __init__(self, seconds):
        super().__init__(f"snoozed for {seconds} s")
        self.seconds = seconds


# The reasons of a job that must stop.
class LeaseLost(Exception):
    """Somebody else may have the job."""


class Cancelled(Exception):
    """An operator wants it ended."""


class Drained(Exception):
    """The worker stops, the job goes back unused."""


class Job:
    def __init__(self, row, owner, trust):
        self.id, self.queue, self.kind, self.text, _, self.attempts, self.max_attempts = row[:7]
        self.cancelled_by, self.owner, self.trust = row[15], owner, trust
        self.payload = self.reason = None
        self.stop, self.settling = threading.Event(), False


def backoff(attempts):
    return 60 * 2 ** min(attempts, 6) * (1 + random.random() / 10)


def log(text):
    print(text, file=sys.stderr, flush=True)


class Worker:
    """Does the jobs of these queues, claimed from strictly in this order, so many at once
    as there are slots. Times are in seconds: so late as the lease (at least 1) is it
    noticed that this process died, and so long as grace may a stop take."""

    def __init__(self, handle, queues, url=None, slots=10, lease=30, grace=30, backoff=backoff, log=log):
        self.handle, self.queues, self.slots, self.lease, self.grace = handle, queues, slots, lease, grace
        self.backoff, self.log, self.margin = backoff, log, lease / 10
        host = re.sub("[/#:]", "-", socket.gethostname())
        self.boot, self.claims, self.claiming = f"{host}:{os.getpid()}:{os.urandom(4).hex()}", 0, threading.Lock()
        url = url or os.environ["DATABASE_URL"]
        self.base = Session(url, 10)
        self.heart = Session(url, max(lease / 3, 1))  # heartbeats must not wait behind claims
        self.ears = Session(url, 5, self.heard)
        self.runs, self.held = set(), {}  # the jobs at work; those whose leases are renewed, by id and owner
        self.passed = {}  # the jobs that the server refuses to change: until when, and for how long, they are passed over
        self.claim_bell, self.beat_bell, self.reap_bell, self.no_bell = (threading.Event() for _ in range(4))
        self.news = SimpleQueue()  # a signal's number, or None when a job ended; a handler of signals may put
        self.pause, self.stopping, self.over = 0, False, False

    # ---- claims ----

    def claim(self):
        found = 0
        with self.claiming:
            for name in self.queues:
                free = self.slots - len(self.runs)
                if self.stopping or free <= 0 or not self.heart.up:  # what could not be renewed is not claimed
                    break
                self.claims += 1
                owner = f"{self.boot}/python#{self.claims}"  # the fencing token: no other claim ever has it
                sent = clock()
                rows = self.claim_from(name, owner, free)
                found += len(rows)
                for row in rows:
                    # The database granted the lease after this was sent: so long it is ours for certain.
                    job = Job(row, owner, sent + self.lease - self.margin)
                    self.runs.add(job)
                    self.held[job.id, owner] = job
                    threading.Thread(target=self.run, args=(job,), name=f"job {job.id}", daemon=True).start()
        if len(self.runs) >= self.slots:
            return 3600  # the end of a job rings
        self.pause = 0 if found else min(max(2 * self.pause, 0.1), 5)
        return self.pause * (1 - random.random() / 4)

    def claim_from(self, name, owner, free):
        """Claims jobs of one queue; those that the server refuses to change are passed over."""
        try:
            return self.base.query("claim", name, owner, self.lease, free, "-infinity", -2**63, self.passing_over())
        except psycopg.Error as error:
            if not refused(error):
                raise
        rows = []
        for id, _ in self.base.query("claimable", name, free, self.passing_over()):
            try:
                for _, *row in self.base.query("claim_these", name, owner, self.lease, [id]):
                    if row[0] is None:
                        self.pass_over(id, "a trigger leaves the row as it was")
                    else:
                        rows.append(row)
            except psycopg.Error as error:
                if refused(error):
                    self.pass_over(id, error)
                elif rows:
                    break  # those are leased
                else:
                    raise
        return rows

    def passing_over(self):
        return [id for id, (until, _) in list(self.passed.items()) if clock() < until]

    def pass_over(self, id, why):
        """Leaves a job out of claims and reclaims for a second, then for twice as long each time."""
        _, wait = self.passed.get(id, (0, 0.5))
        wait = min(2 * wait, 300)
        if len(self.passed) >= 1000:
            self.passed.clear()
        self.passed[id] = clock() + wait, wait
        self.log(f"job {id}: the server refuses to change it, it is passed over for {wait:g} s: {why}")

    def run(self, job):
        try:
            self.attempt(job)
        finally:
            self.held.pop((job.id, job.owner), None)
            self.runs.discard(job)
            self.claim_bell.set()
            self.news.put(None)

    def attempt(self, job):
        """Takes a job from its claim to its outcome."""
        if job.cancelled_by or self.stopping or clock() >= job.trust:
            return self.settle(job, "release", "release", job.id, job.owner, 0)
        error = None
        try:
            job.payload = parse(job.text)
            self.handle(job, job.stop)
        except BaseException as raised:
            error = raised
        if error is None:  # also after stop: the fence decides, and perhaps nobody has replaced us
            return self.settle(job, "completion", "complete", [job.id], [job.owner])
        if isinstance(job.reason, LeaseLost):
            return None  # a reaper gives it back, or has
        if isinstance(error, Snooze):
            return self.settle(job, "snooze", "release", job.id, job.owner, error.seconds)
        if isinstance(error, Permanent):
            return self.settle(job, "burial", "bury", job.id, job.owner, storable(error))
        if isinstance(job.reason, Drained):
            return self.settle(job, "release", "release", job.id, job.owner, 0)
        return self.settle(job, "retry", "retry", job.id, job.owner, storable(error), self.backoff(job.attempts))

    def settle(self, job, outcome, statement, *values):
        """Writes an outcome. No row: it changed nothing. What fails for the moment is tried
        again for as long as the lease is trusted, and heartbeats go on meanwhile."""
        job.settling = True
        wait = 0.05
        while True:
            try:
                if not self.base.query(statement, *values):
                    self.log(f"job {job.id}: late {outcome} fenced: the lease is lost")
                return
            except psycopg.Error as error:
                if not passing(error) or clock() >= job.trust:
                    return self.log(f"job {job.id}: the {outcome} is not written, the lease runs out: {error}")
            time.sleep(wait)
            wait = min(2 * wait, 1)

    # ---- leases ----

    def beat(self):
        jobs = dict(self.held)
        stood, sent = self.heart.up, clock()
        rows = self.renew(list(jobs))
        if not stood:
            self.claim_bell.set()
        for id, owner, cancelled_by in rows:
            job = jobs.pop((id, owner))
            job.trust = sent + self.lease - self.margin
            if cancelled_by:
                self.stop(job, Cancelled(f"cancelled by {cancelled_by}"))
        if jobs:  # locked by somebody just now, which leaves the deadline as it was, or lost
            rest = list(jobs.values())
            rows = self.heart.query("lease_owners", [job.id for job in rest], [job.owner for job in rest])
            ours = {n for n, _, _, same in rows if same}
            for n, job in enumerate(rest, 1):
                if n not in ours:
                    self.lose(job, "it is not ours any more")
        return self.lease / 3

    def renew(self, leases):
        """Renews leases together. If the server refuses one of the rows, the others are renewed one by one."""
        try:
            return self.heart.query("heartbeat", [id for id, _ in leases], [owner for _, owner in leases], [self.lease] * len(leases), [0] * len(leases))
        except psycopg.Error as error:
            if not refused(error):
                raise
            if len(leases) == 1:
                self.log(f"job {leases[0][0]}: the server refuses to renew its lease: {error}")
                return []
        return [row for lease in leases for row in self.renew([lease])]

    def watch(self):
        """Stops what could not be renewed in time, before anybody else can have it."""
        now = clock()
        for job in list(self.held.values()):
            if now >= job.trust:
                self.lose(job, "no heartbeat got through in time")
        for session in (self.base, self.heart, self.ears):
            session.cut(now)
        return self.margin / 2

    def lose(self, job, why):
        self.stop(job, LeaseLost(f"lease lost: {why}"))
        if not job.settling:
            self.held.pop((job.id, job.owner), None)

    def stop(self, job, reason):
        if job.settling or job.stop.is_set():
            return
        self.log(f"job {job.id} stops: {reason}")
        job.reason = reason
        job.stop.set()

    def reap(self):
        """Takes jobs back from workers that died, whatever their language."""
        rows = self.reclaim()
        for id, _, _, _, status, owner, *_ in rows:
            if status is None:
                self.pass_over(id, "a trigger leaves the row as it was")
                continue
            self.log(f"job {id} is reclaimed from {owner}, now {status}")
        queues = {row[1] for row in rows if row[4] == "pending"}
        if queues:
            self.base.query("wake", list(queues))
        return self.lease / 3 * (1 - random.random() / 5)

    def reclaim(self):
        try:
            return self.base.query("reclaim", 500, None, self.passing_over(), None)
        except psycopg.Error as error:
            if not refused(error):
                raise
        rows = []
        for id, in self.base.query("reclaimable", 500, None, self.passing_over()):
            try:
                rows += self.base.query("reclaim", 1, None, [], [id])
            except psycopg.Error as error:
                if not refused(error):
                    raise
                self.pass_over(id, error)
        return rows

    # ---- wake-ups ----

    def listen(self):
        # Doing it again reads what has come, and finds out a connection that died silently.
        stood = self.ears.up
        for statement in "listen_ready", "listen_control":
            self.ears.query(statement)
        if not stood:  # for what was announced while nobody listened
            self.claim_bell.set()
            self.beat_bell.set()
        select.select([self.ears.conn], [], [], 20)
        return 0

    def heard(self, notification):
        if notification.channel == "leasetop_control" and notification.payload.startswith("cancel "):
            return self.beat_bell.set()
        self.pause = 0
        self.claim_bell.set()

    # ---- life ----

    def loop(self, name, bell, step):
        """Does a step, waits as many seconds as it returned or for its bell, and so on."""
        fine = True
        while not self.over:
            try:
                wait = step()
                if not fine:
                    self.log(f"{name}: working again")
                fine = True
                if not self.over and wait and bell.wait(wait):
                    bell.clear()
            except Exception as error:
                if fine and not self.over:
                    self.log(f"{name}: {error}")
                fine = False
                time.sleep(min(1, self.margin))

    def work(self):
        """Does jobs until SIGTERM or SIGINT, then lets those that run finish; a second
        signal hurries it. Call it from the main thread. It returns the jobs left behind,
        whose handlers ignore their stop."""
        for number in signal.SIGTERM, signal.SIGINT:
            signal.signal(number, lambda number, _: self.news.put(number))
        for name, bell, step in (
                ("heartbeats", self.beat_bell, self.beat), ("clock", self.no_bell, self.watch),
                ("reclaims", self.reap_bell, self.reap), ("wake-ups", self.no_bell, self.listen),
                ("claims", self.claim_bell, self.claim)):
            threading.Thread(target=self.loop, args=(name, bell, step), name=name, daemon=True).start()
        while self.news.get() is None:
            pass
        self.stopping = True
        with self.claiming:  # what a claim on its way brings is released
            pass
        self.log(f"stopping: {len(self.runs)} running, at most {self.grace} s")
        rest = min(self.grace / 5, 2)
        self.wait(self.grace - rest)
        for job in list(self.runs):
            self.stop(job, Drained("the worker stops"))
        self.wait(rest)
        left = list(self.runs)
        for job in left:
            self.log(f"job {job.id} is left: its handler ignores its stop, its lease runs out")
        self.over = True
        return left

    def wait(self, seconds):
        """Waits until nothing runs; a signal ends it early."""
        end = clock() + seconds
        while self.runs and clock() < end:
            try:
                if self.news.get(timeout=max(end - clock(), 0)) is not None:
                    return
            except Empty:
                return


class Session:
    """A connection that is made when it is needed and replaced when it failed."""

    def __init__(self, url, patience, heard=None):
        self.url, self.patience, self.heard = url, patience, heard
        self.lock, self.conn, self.due, self.up = threading.Lock(), None, None, False

    def query(self, statement, *values):
        with self.lock:
            try:
                if self.conn is None:
                    self.conn = self.connect()
                self.due = clock() + self.patience
                cursor = self.conn.execute(SQL[statement], {f"p{i}": v for i, v in enumerate(values, 1)})
                rows = cursor.fetchall() if cursor.description else []
                self.up = True
                return rows
            except psycopg.Error:
                if self.conn is None or self.conn.closed:
                    self.conn, self.up = None, False
                raise
            finally:
                self.due = None

    def connect(self):
        conn = psycopg.connect(self.url, autocommit=True, connect_timeout=10, application_name="leasetop python", client_encoding="UTF8")
        # As the server wrote them: a payload with every digit, times that Python does not have.
        for kind in "jsonb", "timestamptz":
            conn.adapters.register_loader(kind, TextLoader)
        if self.heard:
            conn.add_notify_handler(self.heard)
        # A role may default to a stricter one, under which writes fail with 40001.
        conn.execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED")
        return conn

    def cut(self, now):
        """Ends a query that takes too long: its connection may have died silently."""
        conn, due = self.conn, self.due
        if conn is None or due is None or now < due:
            return
        try:
            with socket.socket(fileno=os.dup(conn.fileno())) as end:
                end.shutdown(socket.SHUT_RDWR)
        except (psycopg.Error, OSError):
            pass  # it has just ended


def clock():
    """Counts seconds, on Linux also those in which the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def parse(text):
    """Reads a payload with every digit of its numbers: int, or Decimal with a fraction."""
    try:
        return json.loads(text, parse_float=Decimal, parse_int=lambda digits: int(digits) if len(digits) < 4300 else Decimal(digits))
    except (ValueError, RecursionError) as error:
        raise Permanent(f"the payload cannot be read: {error}") from None


def storable(error):
    """A text that PostgreSQL can store: well-formed, without NUL, bounded. What could not
    be written would leave the job in processing."""
    try:
        text = str(error) if isinstance(error, Permanent) else f"{type(error).__name__}: {error}"
    except Exception:
        text = type(error).__name__
    return re.sub("[\0\ud800-\udfff]", "\ufffd", text[:8000])


def passing(error):
    """Tells errors of the connection or the moment from those that every try meets."""
    return error.sqlstate is None or re.match("08|40|53|55|57|58|25006", error.sqlstate) is not None


def refused(error):
    """Tells errors about the row that is to be changed, after which other rows can be: of a
    constraint, a value, a policy, or raised by a trigger."""
    state = error.sqlstate or ""
    if re.match("08|25|40|53|55|57|58|22021|22P05", state):
        return False
    return re.match("09|21|22|23|27|38|39|44|54|P0|XX", state) is not None or error.diag.source_function in ("exec_stmt_raise", "ExecWithCheckOptions")


SQL = {
    "claim": """
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
""",
    "claimable": """
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
""",
    "claim_these": """
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
""",
    "complete": """
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
""",
    "retry": """
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
""",
    "bury": """
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
""",
    "release": """
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
""",
    "heartbeat": """
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
""",
    "lease_owners": """
SELECT asked.n, jobs.status, coalesce(pg_catalog.left(jobs.locked_by, 1000), ''), jobs.locked_by IS NOT DISTINCT FROM asked.owner
FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS asked(id, owner, n)
JOIN leasetop.jobs ON jobs.id = asked.id
""",
    "reclaim": """
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
""",
    "reclaimable": """
SELECT id
FROM leasetop.jobs
WHERE status = 'processing' AND lease_expires_at < pg_catalog.now()
  AND ($2::text[] IS NULL OR queue = ANY ($2::text[]))
  AND id <> ALL ($3::bigint[])
ORDER BY id
LIMIT $1::int
FOR NO KEY UPDATE SKIP LOCKED
""",
    "listen_ready": """
LISTEN leasetop_ready
""",
    "listen_control": """
LISTEN leasetop_control
""",
    "wake": """
SELECT pg_catalog.pg_notify('leasetop_ready', queue) FROM pg_catalog.unnest($1::text[]) AS woken(queue)
""",
}
SQL = {name: re.sub(r"\$(\d+)", r"%(p\1)s", text) for name, text in SQL.items()}  # as psycopg takes parameters

if __name__ == "__main__":
    if len(sys.argv) < 2 or "DATABASE_URL" not in os.environ:
        log("usage: DATABASE_URL=postgres://… python3 worker.py QUEUE…")
        sys.exit(2)
    os._exit(1 if Worker(handle, sys.argv[1:]).work() else 0)  # threads that ignore their stop would hold sys.exit up
