// The dashboard with a hundred thousand schedules: how long its pages take, how smoothly the list scrolls, what the page's heap comes
// to under events, and how long events keep a key waiting. It prints figures; only what cannot come of a slow machine fails.
// Run: node dashboard_scale.mjs BINARY [SCHEDULES] [MINUTES] [CHANNELS]; the browser is CHROMIUM, or Debian's.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const [binary, schedules = "100000", minutes = "1", channels = "0"] = process.argv.slice(2);
const SESSIONS = 2_000;
const home = fs.mkdtempSync(path.join(os.tmpdir(), "reveille-scale-"));
// Channels that nobody answers for: each has a delivery that failed, which Now shows.
const closed = Array.from({ length: Number(channels) }, (_, number) => `[channels.c${number}]\nurl = "http://127.0.0.1:9/"\nshape = "json"\nloopback = true\n`);
fs.writeFileSync(path.join(home, "reveille.toml"), closed.join(""), { mode: 0o600 });
const daemon = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", home, "--log", "warn"], { stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => daemon.kill("SIGKILL"));
const url = await new Promise((resolve) => daemon.stdout.on("data", (data) => resolve(/http:\S+/.exec(data)[0])));
const token = fs.readFileSync(path.join(home, "operator.token"), "utf8").trim();
const eql = async (query) => {
  const headers = { "content-type": "application/edn", authorization: `Bearer ${token}` };
  const reply = await fetch(`${url}/eql`, { method: "POST", headers, body: query });
  const text = await reply.text();
  assert.equal(reply.status, 200, text);
  assert.ok(!text.includes("error"), text.slice(0, 500));
  return text;
};
const inParallel = async (count, work) => {
  let next = 0;
  await Promise.all(Array.from({ length: 8 }, async () => { while (next < count) await work(next++); }));
};
const median = (all) => all.toSorted((one, two) => one - two)[Math.floor(all.length / 2)];
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

const opens = (number) => `(psi.agent-session/open {:session-id "s${number}"})`;
const create = (number, delay) =>
  `{(psi.scheduler/create {:kind :message :session-id "s${number % SESSIONS}" :message "Look at job ${number}." ` +
  `:label "job ${number}${number < 5_000 ? " of the five thousand" : ""}" :delay-ms ${delay}}) [:psi.scheduler/schedule-id]}`;
const several = (from, count, one) => `[${Array.from({ length: count }, (_, number) => one(from + number)).join(" ")}]`;
await inParallel(SESSIONS / 50, (part) => eql(several(part * 50, 50, opens)));
const sends = (number) => `(psi.scheduler/create {:kind :message :session-id "s${number}" :message "m" :delay-ms 1 :channel "c${number}" :conversation "none"})`;
await inParallel(Number(channels), (number) => eql(`[${sends(number)}]`));
const began = Date.now();
// Spread over two days from an hour on, so that none is due meanwhile.
const spread = (number) => create(number, 3_600_000 + Math.floor((number * 172_800_000) / Number(schedules)));
await inParallel(Number(schedules) / 50, (part) => eql(several(part * 50, 50, spread)));
console.log(`${schedules} durable schedules in ${SESSIONS} sessions, made in ${Math.round((Date.now() - began) / 1_000)} s`);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--js-flags=--expose-gc"] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
const link = execFileSync(binary, ["dashboard", "--print", "--data-dir", home], { encoding: "utf8" }).trim();
await page.goto(link);
await page.waitForSelector("body > header");

// From the change of the address to the page with all its answers.
const opened = (title, hash, selector) => page.evaluate(async ([title, to, selector]) => {
  const start = performance.now();
  location.hash = `#/${to}`;
  for (;;) {
    await new Promise(requestAnimationFrame);
    const isThere = document.querySelector("h1")?.textContent === title && document.querySelector(selector);
    if (isThere && !document.querySelector("[aria-busy]")) return performance.now() - start;
    if (performance.now() - start > 30_000) throw new Error(`${title} never came: ${document.body.innerText.slice(0, 300)}`);
  }
}, [title, hash, selector]);
const timed = async (name, title, hash, selector, bound) => {
  const times = [];
  for (let time = 0; time < 9; time += 1) {
    await opened("Attributes", "attributes", "main");
    times.push(await opened(title, hash, selector));
  }
  console.log(`${name}: median ${median(times).toFixed(0)} ms, most ${Math.max(...times).toFixed(0)} ms (bound ${bound} ms)`);
};
await timed(`now, with ${channels} channels`, "Now", "", "main .figures", 150);
if (Number(channels)) {
  const failing = await page.locator("[aria-labelledby=attention] li", { hasText: "Channel " }).count();
  assert.ok(failing > 0, "Now shows the channels that fail");
  console.log(`${failing} channels that fail are shown`);
}
await timed("timeline of 48 h", "Timeline", "timeline?zoom=24h", "main svg:not(.mark), main canvas", 250);
await timed("timeline of 48 h by session", "Timeline", "timeline?zoom=24h&by=session", "main svg:not(.mark), main canvas", 250);
await timed("schedules, the first hundred", "Schedules", "schedules", "tr[data-row]", 150);

await opened("Schedules", "schedules", "tr[data-row]");
const frames = await page.evaluate(async () => {
  const box = document.querySelector(".virtual");
  const frames = [];
  let before = performance.now();
  for (let step = 0; step < 600; step += 1) {
    box.scrollTop += 60;
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - before);
    before = now;
  }
  return { frames: frames.slice(5), rows: document.querySelectorAll("tr[data-row]").length, top: box.scrollTop };
});
frames.frames.sort((one, two) => one - two);
const at = (part) => frames.frames[Math.floor(frames.frames.length * part)].toFixed(1);
console.log(`scrolling ${frames.top} px: median frame ${at(0.5)} ms, p99 ${at(0.99)} ms (bound 33 ms), ${frames.rows} rows in the page`);

// What matches a word is paused at once, as many as were counted.
await opened("Schedules", "schedules?q=five%20thousand", ".bulk");
await page.click(".bulk >> text=Pause…");
await page.waitForSelector("dialog[open]");
const pressed = Date.now();
await page.keyboard.press("Enter");
await page.waitForFunction(() => /done/.test(document.querySelector("[role=status]")?.textContent ?? ""), null, { polling: "raf" });
const paused = { ms: Date.now() - pressed, said: await page.textContent("[role=status]") };
console.log(`paused by filter: ${paused.said.trim()}, ${paused.ms.toFixed(0)} ms (bound 1000 ms for 5,000)`);

// Events, as many a second, each a create; what a frame waits for is what a key waits for.
await opened("Now", "", "main .figures");
const cdp = await page.context().newCDPSession(page);
const heap = async () => {
  await cdp.send("HeapProfiler.collectGarbage");
  const { usedSize } = await cdp.send("Runtime.getHeapUsage");
  return usedSize / 1_048_576;
};
let number = Number(schedules);
async function events(perSecond, seconds) {
  const [start, from] = [Date.now(), number];
  let sent = 0;
  while (Date.now() - start < seconds * 1_000) {
    const due = Math.floor(((Date.now() - start) / 1_000) * perSecond) - sent;
    if (due > 0) {
      const more = Math.min(due, 50);
      await eql(several(number, more, (one) => create(one, 86_400_000)));
      number += more;
      sent += more;
    }
    await pause(10);
  }
  return Math.round((number - from) / ((Date.now() - start) / 1_000));
}
await page.evaluate(() => {
  window.waits = [];
  let before = performance.now();
  const look = () => {
    const now = performance.now();
    window.waits.push(now - before);
    before = now;
    setTimeout(look, 0);
  };
  look();
});
const before = await heap();
const slow = await events(50, Number(minutes) * 60);
console.log(`heap: ${before.toFixed(1)} MiB, after ${minutes} min at ${slow} events/s ${(await heap()).toFixed(1)} MiB (bound 60 MB)`);
await page.evaluate(() => { window.waits = []; });
const fast = await events(1_000, 15);
const longest = await page.evaluate(() => Math.max(...window.waits));
const over = await page.evaluate(() => window.waits.filter((wait) => wait > 100).length);
console.log(`${fast} events/s for 15 s: the longest that anything waited ${longest.toFixed(0)} ms (bound 100 ms), ${over} times over it; heap ${(await heap()).toFixed(1)} MiB`);
await browser.close();
daemon.kill("SIGTERM");
fs.rmSync(home, { recursive: true, force: true });
process.exit(0);
