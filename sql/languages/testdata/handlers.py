"""The handler of the tests: a payload's "do" says what it does. It says "began ID
ATTEMPT PAYLOAD" on standard output, and waits for "go ID" on standard input."""
import json, os, sys, threading

from worker import Permanent, Snooze, Worker

told, changed, snoozed = set(), threading.Condition(), set()


def hear():
    for line in sys.stdin:
        with changed:
            told.add(line.strip())
            changed.notify_all()


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Unprintable(Exception):
    def __str__(self):
        raise ValueError


def handle(job, stop):
    what = job.payload.get("do")
    say(f"began {job.id} {job.attempts} {job.text}")
    if "numbers" in job.payload:
        say(f"numbers {job.id} {' '.join(map(str, job.payload['numbers']))}")
    if what == "fail" or what == "fail once" and job.attempts == 1:
        raise OSError("503")
    if what == "poison":
        raise Permanent("bad schema")
    if what == "unwritable":
        raise OSError("boom\0tail \ud800")
    if what == "no error":
        raise Unprintable
    if what == "snooze" and job.id not in snoozed:
        snoozed.add(job.id)
        raise Snooze(0.01)
    if what in ("wait", "ignore stop"):
        with changed:
            while f"go {job.id}" not in told:
                changed.wait(0.02)
                if what == "wait" and stop.is_set():
                    say(f"stopped {job.id} {type(job.reason).__name__}")
                    raise job.reason


threading.Thread(target=hear, daemon=True).start()
left = Worker(handle, backoff=lambda attempts: 0, **json.loads(os.environ["OPTIONS"])).work()
say(f"left {len(left)}")
os._exit(1 if left else 0)
