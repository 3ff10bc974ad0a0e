// Our dashboard beside bull-board in one run of one Chromium, each with as many delayed jobs: how long its pages take, and how far
// four questions of a bad night get. bull-board runs in this process, its Redis on a socket of its own and without a disk.
// Run: node bull_board.mjs BINARY [JOBS]; playwright-core comes from tests/clients.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { ExpressAdapter } from "@bull-board/express";
import { Queue } from "bullmq";
import express from "express";
import { Redis } from "./redis.mjs";

const { chromium } = createRequire(new URL("../../../tests/clients/", import.meta.url))("playwright-core");
const [binary, jobs = "100000"] = process.argv.slice(2);
const COUNT = Number(jobs);
const FIVE_THOUSAND = Math.min(5_000, COUNT / 20);
const HOUR_MS = 3_600_000;

// Theirs: one queue with all jobs, and one that is paused, whose job was due a moment ago.
const redis = await Redis.start(false);
const queues = ["nightly", "billing"].map((name) => new Queue(name, { connection: redis.connect() }));
const [nightly, billing] = queues;
for (let first = 0; first < COUNT; first += 1_000) {
  const numbers = Array.from({ length: Math.min(1_000, COUNT - first) }, (_, place) => first + place);
  await nightly.addBulk(numbers.map((number) => ({ name: `job ${number}`, data: { number }, opts: { delay: HOUR_MS + number * 1_000 } })));
}
await billing.pause();
await billing.add("invoices", { text: "Send the invoices." }, { delay: 500 });
const serverAdapter = new ExpressAdapter();
serverAdapter.setBasePath("/board");
createBullBoard({ queues: queues.map((queue) => new BullMQAdapter(queue)), serverAdapter });
const server = express().use("/board", serverAdapter.getRouter()).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const theirs = `http://127.0.0.1:${server.address().port}/board`;

// Ours: as many schedules, and one that was due a moment ago, while it was paused for a reason.
const home = mkdtempSync(join(tmpdir(), "reveille-beside-"));
const daemon = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", home, "--log", "warn"], { stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => daemon.kill("SIGKILL"));
const url = await new Promise((resolve) => daemon.stdout.on("data", (data) => resolve(/http:\S+/.exec(data)[0])));
const token = readFileSync(join(home, "operator.token"), "utf8").trim();
const headers = { authorization: `Bearer ${token}` };
const post = async (path, type, body) => {
  const reply = await fetch(url + path, { method: "POST", headers: { ...headers, "content-type": type }, body });
  const text = await reply.text();
  assert.equal(reply.status, 200, text);
  return text;
};
const eql = (query) => post("/eql", "application/edn", query);
const graphql = async (query) => {
  const { data, errors } = JSON.parse(await post("/graphql", "application/json", JSON.stringify({ query })));
  assert.equal(errors, undefined);
  return data;
};
const SESSIONS = Math.max(1, COUNT / 50);
for (let first = 0; first < SESSIONS; first += 50) {
  const numbers = Array.from({ length: Math.min(50, SESSIONS - first) }, (_, place) => first + place);
  await eql(`[${numbers.map((number) => `(psi.agent-session/open {:session-id "s${number}"})`).join(" ")}]`);
}
const create = (number) =>
  `{(psi.scheduler/create {:kind :message :session-id "s${number % SESSIONS}" :message "Look at job ${number}." ` +
  `:label "job ${number}${number < FIVE_THOUSAND ? " of many" : ""}" :delay-ms ${HOUR_MS + number * 1_000}}) [:psi.scheduler/schedule-id]}`;
for (let first = 0; first < COUNT; first += 50) {
  await eql(`[${Array.from({ length: 50 }, (_, place) => create(first + place)).join(" ")}]`);
}
await eql('[(psi.agent-session/open {:session-id "billing"})]');
const made = await eql('[{(psi.scheduler/create {:kind :message :session-id "billing" :message "Send the invoices." :label "invoices" :delay-ms 1000}) [:psi.scheduler/schedule-id]}]');
const id = /"(sch-[^"]+)"/.exec(made)[1];
await graphql(`mutation { pauseSchedule(scheduleId: "${id}", reason: "the bank is down") { __typename } }`);
await rest(2_000);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
const text = () => page.innerText("body");
const until = async (what, is) => {
  for (let wait = 0; !(await is()); wait += 1) {
    if (wait > 600) throw new Error(`no ${what}: ${(await text()).slice(0, 600)}`);
    await rest(10);
  }
};
const median = (all) => all.toSorted((one, two) => one - two)[Math.floor(all.length / 2)];
/** Milliseconds from the address to the first of the jobs. */
const opens = async (address, sign) => {
  const times = [];
  for (let time = 0; time < 5; time += 1) {
    await page.goto("about:blank");
    const start = performance.now();
    await page.goto(address);
    await page.waitForSelector(sign);
    times.push(performance.now() - start);
  }
  return median(times).toFixed(0);
};
const told = (what, ours, board) => console.log(`${what}\n  reveille    ${ours}\n  bull-board  ${board}`);

await page.goto(execFileSync(binary, ["dashboard", "--print", "--data-dir", home], { encoding: "utf8" }).trim());
await page.waitForSelector("body > header");
const at = page.url().replace(/#.*/, "");
told(
  `the list of ${COUNT} that wait, from the address to the first of them`,
  `${await opens(`${at}#/schedules`, "tr[data-row]")} ms, and all of them by scrolling`,
  `${await opens(`${theirs}/queue/nightly?status=delayed`, "text=job ")} ms, ten on a page`,
);

// Why did the invoices not go out?
await page.goto(at);
await page.waitForSelector("main .figures");
let start = performance.now();
await page.click("nav >> text=Schedules");
await page.waitForSelector("tr[data-row]");
await page.fill("main input[type=search]", "invoices");
await page.click("tr[data-row] >> text=invoices");
await until("reason", async () => (await text()).includes("the bank is down"));
const why = `2 clicks and a word, ${(performance.now() - start).toFixed(0)} ms with the script's waits: paused, since when, and "the bank is down"`;
await page.goto(theirs);
await page.waitForSelector("text=billing");
start = performance.now();
await page.click("main >> text=billing");
await until("job", async () => (await text()).includes("invoices"));
const said = await text();
assert.ok(!said.includes("bank"), "a queue is paused without a reason");
told("why the job that was due has not run", why, `1 click, ${(performance.now() - start).toFixed(0)} ms: the queue has the mark ${/\[ ?Paused ?\]/.exec(said)?.[0]}; it has no reason, no time and no name`);

// Everything is held and released: what was paused stays paused.
await graphql('mutation { holdAll(reason: "an incident") { __typename } }');
await graphql("mutation { releaseAll { __typename } }");
const ours = (await graphql(`{ schedule(scheduleId: "${id}") { paused } }`)).schedule.paused;
await page.goto(theirs);
for (const word of ["Pause all", "Resume all"]) {
  await page.locator('[aria-haspopup="menu"]').first().click();
  await page.click(`[role=menuitem] >> text=${word}`);
  await page.click("button >> text=Confirm");
  await until(word, async () => (await nightly.isPaused()) === (word === "Pause all"));
}
told("hold all, release all: is what was paused still paused?", ours ? "yes" : "no", (await billing.isPaused()) ? "yes" : "no: it runs");

// Five thousand of them, by a word.
await page.goto(`${at}#/schedules?q=of%20many`);
await page.waitForSelector(".bulk");
await page.click(".bulk >> text=Pause…");
await page.waitForSelector("dialog[open]");
start = performance.now();
await page.keyboard.press("Enter");
await until("an answer", async () => /done/.test((await page.textContent("[role=status]")) ?? ""));
told(`pause ${FIVE_THOUSAND} of them by a word`, `${(performance.now() - start).toFixed(0)} ms: ${(await page.textContent("[role=status]")).trim()}`, "there is no filter, and a job cannot be paused: all of them are promoted or cleaned, or one by one");

await browser.close();
daemon.kill("SIGTERM");
server.close();
await Promise.all(queues.map((queue) => queue.close()));
rmSync(home, { recursive: true, force: true });
process.exit(0);
