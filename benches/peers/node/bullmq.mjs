// BullMQ: delayed jobs of one queue in Redis, on the same machine over a Unix socket, and one worker.
//
// `create`, `cancel`, `memory`, `burst`, `rate` and `idle` run on a Redis that writes nothing, the fastest there is;
// `durable` and `restart` on one that flushes each write before it answers.

import { setTimeout as rest } from "node:timers/promises";
import { Queue, Worker } from "bullmq";
import { LEAD_MS, farDelay, lateness, measure, message, now, print, quick } from "./sizes.mjs";
import { Redis } from "./redis.mjs";

const PENDING = quick ? 1_000 : 20_000;
const STORED = quick ? 1_000 : 100_000;
const FIRES = quick ? 200 : 2_000;
const RATE_SECONDS = quick ? 1 : 5;
const RATE = quick ? 100 : 200;
const IDLE_MS = quick ? 1_000 : 10_000;
const DURABLE_MS = quick ? 200 : 2_000;
/** How many jobs one round trip brings: what BullMQ offers to those in a hurry. */
const BULK = 1_000;
/** How many requests wait for their answers at once, where there is no bulk. */
const ABREAST = 64;
const OPTIONS = { removeOnComplete: true, removeOnFail: true };

const job = (number, delay) => ({ name: "wake", data: { text: message(number) }, opts: { ...OPTIONS, delay } });

async function bulk(queue, count, delay) {
  const ids = [];
  for (let first = 0; first < count; first += BULK) {
    const numbers = Array.from({ length: Math.min(BULK, count - first) }, (_, place) => first + place);
    const jobs = await queue.addBulk(numbers.map((number) => job(number, delay(number))));
    ids.push(...jobs.map((added) => added.id));
  }
  return ids;
}

/** Acts on each, so many at once. */
async function abreast(items, act) {
  const left = items.values();
  const one = async () => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: ABREAST }, one));
}

async function fill(redis, queue) {
  const before = await redis.memory();
  let start = now();
  const ids = await bulk(queue, PENDING, farDelay);
  const create = PENDING / (now() - start) / 1_000;
  const memory = ((await redis.memory()) - before) / PENDING;
  ids.sort((one, two) => ((one * 7_919) % 100_003) - ((two * 7_919) % 100_003));
  start = now();
  await abreast(ids, (id) => queue.remove(id));
  return { create, memory, cancel: PENDING / (now() - start) / 1_000 };
}

/** A worker that notes when each arrived, and tells when the last has come. */
function worker(redis, count, note) {
  let left = count;
  return new Promise((resolve, reject) => {
    const process = async (found) => {
      note(found);
      left -= 1;
      if (left === 0) resolve(performance.timeOrigin + now());
    };
    new Worker("wakes", process, { connection: redis.connect(), concurrency: 100 }).on("error", reject);
  });
}

async function burst(redis, queue) {
  await bulk(queue, PENDING - FIRES, farDelay);
  const due = Date.now() + LEAD_MS + FIRES / 2;
  const done = worker(redis, FIRES, () => {});
  await bulk(queue, FIRES, () => due - Date.now());
  if (Date.now() > due) throw new Error("creating took longer than the lead: the burst was cut");
  return { "burst-rate": FIRES / ((await done) - due) };
}

async function rate(redis, queue) {
  const count = RATE * RATE_SECONDS;
  await bulk(queue, PENDING - count, farDelay);
  const first = Date.now() + LEAD_MS + count / 2;
  const dues = Array.from({ length: count }, (_, number) => first + ((number * 7_919) % (RATE_SECONDS * 1_000)));
  const late = [];
  const noted = (found) => late.push(performance.timeOrigin + now() - dues[Number(found.data.text.slice(0, 10))]);
  const done = worker(redis, count, noted);
  await bulk(queue, count, (number) => dues[number] - Date.now());
  if (Date.now() > first) throw new Error("creating took longer than the lead: the load was cut");
  await done;
  return lateness(late);
}

async function idle(redis, queue) {
  await bulk(queue, PENDING, farDelay);
  worker(redis, 1, () => {});
  await rest(1_000);
  const [time, ours, theirs] = [now(), process.cpuUsage(), redis.processorTime()];
  await rest(IDLE_MS);
  const used = process.cpuUsage(ours);
  const seconds = (used.user + used.system) / 1e6 + redis.processorTime() - theirs;
  return { idle: (seconds * 100_000) / (now() - time) };
}

async function durable(redis, queue) {
  const figures = {};
  for (const callers of [1, 64, 256]) {
    const start = now();
    let done = 0;
    const caller = async () => {
      while (now() - start < DURABLE_MS) {
        await queue.add("wake", { text: message(done) }, { ...OPTIONS, delay: farDelay(done) });
        done += 1;
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    figures[`durable-${callers}`] = (done * 1_000) / (now() - start);
  }
  return figures;
}

async function restart(redis, queue) {
  await bulk(queue, STORED, farDelay);
  await redis.down();
  const start = now();
  await redis.up();
  const taken = now() - start;
  const found = await queue.getDelayedCount();
  if (found !== STORED) throw new Error(`${found} of ${STORED} came back`);
  return { restart: STORED / taken };
}

const measures = { fill, burst, rate, idle, durable, restart };
const isDurable = measure === "durable" || measure === "restart";
const redis = await Redis.start(isDurable);
const queue = new Queue("wakes", { connection: redis.connect() });
queue.on("error", () => {});
print(await measures[measure](redis, queue));
process.exit(0);
