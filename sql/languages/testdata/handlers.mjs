// The handler of the tests: a payload's "do" says what it does. It says "began ID
// ATTEMPT PAYLOAD" on standard output, and waits for "go ID" on standard input.
import { createInterface } from "node:readline";
import { Permanent, Snooze, work } from "./worker.mjs";

const waiting = new Map();
createInterface({ input: process.stdin }).on("line", (line) => waiting.get(line)?.());
const snoozed = new Set();

async function handle(job, signal) {
  const { do: what, numbers } = job.payload;
  console.log(`began ${job.id} ${job.attempts} ${job.text}`);
  if (numbers) console.log(`numbers ${job.id} ${numbers.map(String).join(" ")}`);
  switch (what) {
    case "fail": throw new Error("503");
    case "fail once": if (job.attempts === 1) throw new Error("503"); return;
    case "poison": throw new Permanent("bad schema");
    case "unwritable": throw new Error("boom\0tail \ud800");
    case "no error": throw { toString: () => { throw new Error(); } };
    case "snooze": if (!snoozed.has(job.id)) { snoozed.add(job.id); throw new Snooze(0.01); } return;
    case "wait": case "ignore stop":
      await new Promise((resolve, reject) => {
        waiting.set(`go ${job.id}`, resolve);
        if (what === "wait") signal.addEventListener("abort", () => {
          console.log(`stopped ${job.id} ${signal.reason.constructor.name}`);
          reject(signal.reason);
        });
      });
  }
}

const { queues, ...options } = JSON.parse(process.env.OPTIONS);
const left = await work(handle, { queues, ...options, backoff: () => 0 });
console.log(`left ${left.length}`);
process.exit(left.length > 0 ? 1 : 0);
