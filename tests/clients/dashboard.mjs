// The dashboard in a real browser, against a daemon of its own: types, documents, sizes; every page at three widths in two themes
// without a violation of WCAG A or AA, a report of its policy or a request elsewhere; its tasks by keyboard alone; and text of
// agents that tries to be more than text.
// Run: npm install && node dashboard.mjs URL TOKEN BINARY [SCREENSHOTS]; the browser is CHROMIUM, or Debian's.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { brotliCompressSync } from "node:zlib";
import { createRequire } from "node:module";
import { buildSchema, parse, validate } from "graphql";
import { chromium } from "playwright-core";
import { BUDGET, LOADED, build, packed } from "./pages.mjs";

const [, , binary = "../../target/debug/reveille", shots] = process.argv.slice(2);
const web = new URL("../../web/", import.meta.url).pathname;
const require = createRequire(import.meta.url);
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

// What can be known without a browser.
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.json"], { stdio: "inherit" });
const documents = await import(`${web}app/queries.js`);
const schema = buildSchema(fs.readFileSync(`${web}../schema/reveille.graphql`, "utf8"));
for (const [name, text] of Object.entries({ ...documents, names: documents.names(["sch-1", "sch-2"]) })) {
  const faults = validate(schema, parse(text));
  assert.deepEqual(faults.map((fault) => fault.message), [], name);
}
assert.ok(fs.statSync(`${web}app/app.css`).size <= 20_480, "the style is too large");

// A daemon with a guard that holds fresh sessions.
const home = fs.mkdtempSync(path.join(os.tmpdir(), "reveille-dashboard-"));
const [config, state] = [path.join(home, "reveille.toml"), path.join(home, "state")];
fs.mkdirSync(state, { mode: 0o700 });
fs.writeFileSync(config, 'zone = "Europe/Berlin"\n[[guard.rules]]\nname = "fresh sessions"\nkinds = ["session"]\nthen = "hold"\nwhy = "they cost money"\n');
const daemon = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", state, "--config", config, "--socket", path.join(state, "socket"), "--log", "warn"], { stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => daemon.kill("SIGKILL"));
const url = await new Promise((resolve, reject) => {
  daemon.stdout.on("data", (data) => resolve(/http:\S+/.exec(data)[0]));
  daemon.on("exit", () => reject(new Error("the daemon ended")));
});
const token = fs.readFileSync(path.join(state, "operator.token"), "utf8").trim();
const built = process.env.DEV ? await build() : {};
const sent = await Promise.all(LOADED.map(async (name) => built[name] ?? (await fetch(url + (name === "index.html" ? "/" : `/app/${name}`))).text()));
const brotli = sent.reduce((sum, text) => sum + brotliCompressSync(text).length, 0);
console.log(`documents: ${Object.keys(documents).length}; the page and what it loads: ${packed(sent)} B by gzip, ${brotli} B by brotli`);
assert.ok(packed(sent) <= BUDGET, "the pages are too large");
const ask = async (query, variables = {}) => {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const answer = await (await fetch(`${url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query, variables }) })).json();
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
};
const create = async (input) => (await ask(documents.CREATE, { input: { kind: "MESSAGE", originSessionId: "main", ...input } })).createSchedule.schedule.scheduleId;
const status = async (id) => (await ask("query($id: ID!) { schedule(scheduleId: $id) { status paused } }", { id })).schedule;
const until = async (what, is) => {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await is()) return;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  throw new Error(`it never came to ${what}`);
};

// Controls, directions, joiners and tags, and markup that would run.
const FORGED = "ab\u202Ecd\u0007\u200B\u{E0041}<img src=x onerror=window.forged=1><script>window.forged=1</script>\u2028{:status :ok}";
await ask('mutation { a: openSession(sessionId: "main", listens: true) { sessionId } b: openSession(sessionId: "nobody-home") { sessionId } }');
const ids = {
  build: await create({ label: "check-build", message: "Check whether the build finished.\nThen say so.", when: "every 5 minutes" }),
  report: await create({ label: "morning report", message: "Write the report.", when: "weekdays at 8:30", zone: "America/New_York" }),
  forged: await create({ label: FORGED.replaceAll(/[\u0007\u2028]/g, ""), message: FORGED, description: FORGED, when: "in 3 hours" }),
  paused: await create({ label: "freeze", message: "m", when: "every 2 hours" }),
  cancelled: await create({ label: "not this one", message: "m", when: "in 50 minutes" }),
  left: await create({ originSessionId: "nobody-home", label: "left behind", message: FORGED, delayMs: 1_000 }),
  held: await create({ kind: "SESSION", label: "fresh review", message: FORGED, delayMs: 1_000 }),
  denied: await create({ kind: "SESSION", label: "fresh denial", message: "m", delayMs: 1_100 }),
};
for (let number = 0; number < 40; number += 1) await create({ label: `job ${number}`, message: "m", when: `every ${7 + number} minutes` });
await ask(documents.PAUSE, { id: ids.paused, reason: FORGED.replaceAll(/[\u0007\u2028]/g, "") });
await ask(documents.CANCEL, { id: ids.cancelled });
await until("held runs", async () => (await ask("{ engine { heldRuns { id } } }")).engine.heldRuns.length === 2);
await until("a message that is left", async () => (await status(ids.left)).status === "LEFT");
const leftRun = (await ask("query($id: ID!) { schedule(scheduleId: $id) { runs { id } } }", { id: ids.left })).schedule.runs[0].id;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const enter = (...flags) => execFileSync(binary, ["dashboard", "--print", "--data-dir", state, ...flags], { encoding: "utf8" }).trim();
const troubles = [];
const serve = (route) => {
  const name = path.basename(new URL(route.request().url()).pathname);
  const kind = { ".css": "text/css", ".svg": "image/svg+xml" }[path.extname(name)] ?? "text/javascript";
  return route.fulfill({ body: built[name] ?? fs.readFileSync(`${web}app/${name}`, "utf8"), contentType: kind });
};
const open = async (options, ...flags) => {
  const context = await browser.newContext({ timezoneId: "Europe/Berlin", ...options });
  const page = await context.newPage();
  // Without building the binary anew: the files as their sources make them.
  if (process.env.DEV) await page.route("**/app/*", serve);
  page.on("pageerror", (error) => troubles.push(`error: ${error.stack}`));
  page.on("console", (message) => message.type() === "error" && troubles.push(`console: ${message.text()}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) troubles.push(`request elsewhere: ${request.url()}`);
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(enter(...flags));
  await page.waitForSelector("body > header");
  assert.equal(new URL(page.url()).hash, "#/", "the code is gone from the address");
  return page;
};
const PAGES = {
  now: "", timeline: "timeline", week: "timeline?zoom=7d&by=session", schedules: "schedules", filtered: "schedules?status=PAUSED,QUEUED", schedule: `schedule?id=${ids.build}`,
  forged: `schedule?id=${ids.forged}`, explain: `explain?id=${ids.report}`, left: `explain?id=${ids.left}`, run: `run?schedule=${ids.left}&id=${encodeURIComponent(leftRun)}`,
  approvals: "approvals", lanes: "lanes", lane: "lanes?session=nobody-home", whatif: "whatif", outage: `whatif?from=${new Date(Date.now() + 60_000).toISOString()}&until=${new Date(Date.now() + 7_200_000).toISOString()}`,
  over: `over?from=${new Date(Date.now() - 7_200_000).toISOString()}&until=${new Date(Date.now() - 3_600_000).toISOString()}`, channel: "schedules?channel=none", unknown: "schedule?id=sch-unknown",
  past: "past", then: `now?asof=${new Date(Date.now() - 1_000).toISOString()}`, doctor: "doctor", attributes: "attributes?q=late", new: "new", edit: `edit?id=${ids.report}`, lost: "no-such-page",
};
const settle = (page) => page.waitForFunction(() => document.querySelector("h1") && !document.querySelector("[aria-busy]"), null, { timeout: 15_000 });

// Every page, as wide and as dark as it may be.
let looked = 0;
for (const colorScheme of process.env.DEV === "tasks" ? [] : ["light", "dark"]) {
  for (const width of [320, 768, 1440]) {
    const page = await open({ viewport: { width, height: 900 }, colorScheme });
    for (const [name, hash] of Object.entries(PAGES)) {
      await page.evaluate((to) => { location.hash = `#/${to}`; }, hash);
      await page.waitForTimeout(120);
      await settle(page);
      await page.waitForTimeout(180);
      const where = `${name} at ${width} px, ${colorScheme}`;
      const problems = await page.$$eval(".problem", (all) => all.map((one) => one.textContent).filter((text) => !/Truncated|Paused by/.test(text ?? "")));
      assert.deepEqual(problems, [], where);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
        .filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 200)));
      assert.deepEqual(wide, [], `${where} is wider than the window`);
      await page.evaluate(axe);
      const violations = await page.evaluate(async () => (await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] })).violations
        .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")}`));
      if (process.env.DEV) violations.forEach((one) => console.log(where, one)); else assert.deepEqual(violations, [], where);
      if (shots) await page.screenshot({ path: path.join(shots, `${name}-${width}-${colorScheme}.png`) });
      // No text that came from elsewhere has become anything but text.
      assert.equal(await page.evaluate(() => window.forged ?? document.querySelectorAll("main img, main script, bdi *:not(b.esc)").length), 0, where);
      assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /[\u202A-\u202E\u2066-\u2069\u200B\u2028]|[\u{E0000}-\u{E0FFF}]/u, where);
      looked += 1;
    }
    await page.context().close();
  }
}
console.log(`${looked} pictures, no violation`);

// The tasks, by keyboard alone.
const page = await open({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" });
const key = (...keys) => keys.reduce((before, one) => before.then(() => page.keyboard.press(one)), Promise.resolve());
const focusOn = async (text, most = 120) => {
  for (let step = 0; step < most; step += 1) {
    const found = await page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
    if (typeof text === "string" ? found === text : text.test(found)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`no Tab leads to ${text}`);
};
const said = async (text) => page.waitForFunction((wanted) => document.querySelector("[role=status]")?.textContent?.includes(wanted), text, { timeout: 15_000 });
const goTo = async (hash) => {
  await page.evaluate((to) => { location.hash = `#/${to}`; }, hash);
  await page.waitForTimeout(150);
  await settle(page);
};

// The first Tab leads past everything, to the page.
await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement)?.blur());
await key("Tab");
assert.match(await page.evaluate(() => document.activeElement?.textContent ?? ""), /Skip to the page/);
await key("Enter");
assert.equal(await page.evaluate(() => document.activeElement?.id), "main");

// Hold all with a reason, then release: what was paused stays paused.
await key("Shift+H");
await page.waitForSelector("dialog[open]");
await page.keyboard.type("an incident");
await key("Enter");
await until("a hold", async () => (await ask("{ engine { held { reason } } }")).engine.held?.reason === "an incident");
await page.waitForSelector(".banner");
await focusOn("Release…");
await key("Enter");
await page.waitForSelector("dialog[open]");
await focusOn("Release", 10);
await key("Enter");
await until("no hold", async () => (await ask("{ engine { held { reason } } }")).engine.held === null);
assert.equal((await status(ids.paused)).paused, true);

// What the hold cost is one step from Now, by keyboard and by mouse, and the part of the timeline that has it is another.
await goTo("");
await page.waitForSelector("[aria-labelledby=over] a");
await focusOn(/^All was held by operator.*: an incident for /);
await key("Enter");
await page.waitForSelector("text=Made up for afterwards");
assert.equal(await page.textContent("h1"), "All was held");
assert.match(await page.textContent(".lead"), /by operator.*: an incident/);
await goTo("");
await page.click("[aria-labelledby=over] a");
await page.waitForSelector("text=Made up for afterwards");
await page.click(".actions >> text=Timeline");
await page.waitForSelector("#twin");
assert.match(await page.evaluate(() => location.hash), /timeline\?at=.*&zoom=1h/);
await page.click("main >> text=All was held");
await page.waitForSelector("text=Made up for afterwards");

// That skips were left out is said where there are more, which may be of that time: a paused schedule skips its slots once it goes on.
const [begin, end] = [7_200_000, 3_600_000].map((ago) => Date.now() - ago);
for (const totalCount of [2, 300]) {
  await goTo("");
  await page.route("**/graphql", async (route) => {
    if (!route.request().postData()?.includes("query Over")) return route.fallback();
    const response = await route.fetch();
    const json = await response.json();
    const nodes = [begin + 1_000, end - 1_000].map((at) => ({ reason: "LATE", scheduleId: ids.build, schedule: null, slots: { from: null, until: new Date(at).toISOString(), count: 1 } }));
    json.data.engine.decisionPage = { totalCount, nodes };
    return route.fulfill({ response, json });
  });
  await goTo(`over?from=${new Date(begin).toISOString()}&until=${new Date(end).toISOString()}`);
  await page.getByRole("table", { name: "Skips" }).waitFor();
  assert.equal(await page.getByText("Only the first 2 of 300 skips are looked at").count(), totalCount > 2 ? 1 : 0);
  await page.unroute("**/graphql");
}

// Create, with what was understood said back.
await key("g", "s");
await page.waitForSelector(".virtual");
await focusOn("New schedule");
await key("Enter");
await page.waitForSelector("textarea");
for (const [name, value] of [["Session", "main"], ["Label", "by keyboard"], ["Message", "Typed."], ["When", "tomorrow at 9"]]) {
  await page.getByLabel(name, { exact: true }).focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.type(value);
}
await key("Escape");
await focusOn("Make it");
await key("Enter");
await page.waitForSelector(".understood");
assert.match(await page.textContent(".understood"), /09:00/);
await focusOn("That is right");
await key("Enter");
await page.waitForSelector(".sentence");

// On a row: pause, resume, cancel.
await goTo("schedules?q=by%20keyboard");
await page.waitForSelector("tr[data-row]");
const made = await page.getAttribute("tr[data-row]", "data-row");
await page.focus("tr[data-row]");
await key("p");
await page.waitForSelector("dialog[open]");
await key("Enter");
await until("a pause", async () => (await status(made)).paused);
await page.waitForSelector("tr[data-row] .warn");
await page.focus("tr[data-row]");
await key("p");
await until("a resumption", async () => !(await status(made)).paused);
await page.waitForFunction(() => document.querySelector("tr[data-row] .status")?.textContent?.includes("pending"));
await page.focus("tr[data-row]");
await key("c");
await page.waitForSelector("dialog[open]");
await key("Escape");
assert.equal((await status(made)).status, "PENDING", "Escape changes nothing");
await page.focus("tr[data-row]");
await key("c");
await page.waitForSelector("dialog[open]");
await focusOn("Cancel it", 10);
await key("Enter");
await until("a cancellation", async () => (await status(made)).status === "CANCELLED");

// Several at once, after they were shown.
await goTo("schedules?q=job%2017");
await page.waitForSelector("tr[data-row]");
await page.focus("tr[data-row]");
await key("x");
await page.waitForSelector(".bulk");
await focusOn("Pause…");
await key("Enter");
await page.waitForSelector("dialog[open]");
await focusOn("Pause", 10);
await key("Enter");
await said("1 done");

// All that match, on the screen or not: as many as were counted.
await goTo("schedules?q=job%203");
await page.waitForSelector(".bulk");
await focusOn("Pause…");
await key("Enter");
await page.waitForSelector("dialog[open]");
await page.keyboard.type("a freeze");
await key("Enter");
await said("11 of 11 done");

// A link for a calendar program, by keyboard, from each place that has one: it shows when and what it is called, without a token.
for (const [address, shows] of [["timeline", /SUMMARY:/], [`schedule?id=${ids.report}`, /SUMMARY:/], ["lanes?session=main", /BEGIN:VCALENDAR/]]) {
  await goTo(address);
  await page.waitForSelector("button:has-text('Calendar link…'):not([disabled])");
  await focusOn("Calendar link…");
  await key("Enter");
  await page.waitForSelector("dialog[open] input");
  const link = await page.inputValue("dialog[open] input");
  assert.ok(link.startsWith(`${url}/calendar/`), link);
  const calendar = await fetch(link);
  assert.equal(calendar.status, 200);
  assert.match(await calendar.text(), shows);
  await focusOn("Done", 10);
  await key("Enter");
  await page.waitForFunction(() => !document.querySelector("dialog[open]"));
}

// Approve with all that would be done shown, and deny with a reason.
await key("g", "a");
await page.waitForSelector("article[data-row]");
assert.equal(await page.locator("article[data-row]").count(), 2);
await page.locator("article[data-row]", { hasText: "fresh review" }).focus();
await key("a");
await page.waitForSelector("dialog[open]");
assert.match(await page.textContent("dialog"), /onerror=window\.forged=1/);
await focusOn("Approve", 10);
await key("Enter");
await said("Approved");
await page.locator("article[data-row]", { hasText: "fresh denial" }).focus();
await key("d");
await page.waitForSelector("dialog[open]");
await page.keyboard.type("not tonight");
await key("Enter");
await said("Denied");
await until("a denial", async () => (await status(ids.denied)).status === "FAILED");
// What was decided stays listed, with the name of who did it.
for (const line of [/run approved[^]*fresh review[^]*by operator/, /run denied[^]*fresh denial[^]*by operator[^]*not tonight/]) {
  await page.waitForFunction((source) => [...document.querySelectorAll(".log li")].some((one) => new RegExp(source).test(one.textContent ?? "")), line.source);
}
// The schedule opens on the slot that went otherwise, by keyboard.
await goTo(`schedule?id=${ids.denied}`);
await focusOn(/^Explain the slot of .*, which went otherwise$/);
await key("Enter");
await page.waitForSelector(".sentence.big");
assert.match(await page.textContent(".sentence.big"), /failed/);
await goTo("approvals");

// What differs from what was approved last, whole, and by whom it was approved.
const again = await create({ kind: "SESSION", label: "fresh round", message: "Look.", when: "every 2 hours" });
const waiting = async () => (await ask("{ engine { heldRuns { id approval { digest } } } }")).engine.heldRuns[0];
await ask(documents.RUN_NOW, { id: again });
await until("a run that waits", waiting);
const { id: round, approval } = await waiting();
await ask(documents.APPROVE, { id: round, digest: approval.digest });
await ask(documents.RESCHEDULE, { input: { scheduleId: again, message: FORGED } });
await ask(documents.RUN_NOW, { id: again });
await page.waitForSelector("article[data-row] del");
assert.equal(await page.textContent("article[data-row] del"), "Look.");
assert.match(await page.textContent("article[data-row] ins"), /^ab\\u\{202e\}cd.*onerror=window\.forged=1/);
assert.match(await page.textContent("article[data-row]"), /by operator \(token operator\)/);

// Another time for a schedule: what would differ is shown before, and a change of somebody else is not overwritten.
await goTo(`edit?id=${ids.report}`);
await page.waitForFunction(() => document.querySelector("textarea")?.value);
await page.getByLabel("When", { exact: true }).focus();
await key("Control+A");
// What comes only weeks from now is shown too.
await page.keyboard.type("first monday of the month at 11:20");
await page.waitForFunction(() => /11:20/.test(document.querySelector("main table")?.textContent ?? ""), null, { timeout: 15_000 });
await key("Control+A");
await page.keyboard.type("weekdays at 9:45");
await page.waitForFunction(() => /09:45/.test(document.querySelector("main table")?.textContent ?? ""), null, { timeout: 15_000 });
await ask(documents.RESCHEDULE, { input: { scheduleId: ids.report, label: "changed meanwhile" } });
await focusOn("Save");
await key("Enter");
await page.waitForSelector("text=Somebody changed it meanwhile");
await focusOn("I have seen it; mine shall replace it");
await key("Enter");
await focusOn("Save");
await key("Enter");
await until("another time", async () => (await ask("query($id: ID!) { schedule(scheduleId: $id) { when } }", { id: ids.report })).schedule.when.includes("09:45"));

// What was saved is shown; a page that is asked for before would be left again.
await page.waitForFunction(() => location.hash.includes("schedule?"));

// The feed goes on when the connection was cut, from where it was.
await goTo("");
await page.waitForSelector(".state.live");
await page.context().setOffline(true);
await create({ label: "made while away", message: "m", when: "in 5 hours" });
await page.context().setOffline(false);
await page.waitForSelector(".feed >> text=made while away", { timeout: 30_000 });

// After a question the focus is where it was before, and goes to the next row when its own is gone.
const focused = () => page.evaluate(() => document.activeElement?.getAttribute("data-row"));
const row = await create({ label: "focus a", message: "m", when: "in 6 hours" });
await create({ label: "focus b", message: "m", when: "in 7 hours" });
await goTo("schedules?q=focus&status=PENDING,PAUSED");
await page.waitForSelector("tr[data-row] + tr[data-row]");
await page.focus(`tr[data-row="${row}"]`);
for (const answer of ["Escape", "Enter"]) {
  await key("p");
  await page.waitForSelector("dialog[open]");
  await key(answer);
  await page.waitForFunction(() => !document.querySelector("dialog"));
  assert.equal(await focused(), row, answer);
}
// What was typed stays when the daemon does not answer.
await page.waitForSelector("tr[data-row] .warn");
await key("p");
await until("a resumption", async () => !(await status(row)).paused);
await page.waitForFunction(() => document.querySelector("tr[data-row] .status")?.textContent?.includes("pending"));
const isPause = (route) => route.request().postData()?.includes("mutation Pause");
await page.route("**/graphql", (route) => (isPause(route) ? route.abort() : route.fallback()));
await key("p");
await page.waitForSelector("dialog[open]");
await page.keyboard.type("kept");
await key("Enter");
await page.waitForSelector("dialog[open] .problem");
assert.equal(await page.inputValue("dialog[open] input"), "kept");
await page.unroute("**/graphql");
await key("Escape");
await page.waitForFunction(() => !document.querySelector("dialog"));
await key("c");
await page.waitForSelector("dialog[open]");
await focusOn("Cancel it", 10);
await key("Enter");
await page.waitForFunction((id) => !document.querySelector(`tr[data-row="${id}"]`), row);
await page.waitForFunction(() => document.activeElement?.matches("tr[data-row]"));

// A date is taken when it is whole, and not while it is typed.
await goTo(`explain?id=${ids.build}`);
const asked = await page.evaluate(() => location.hash);
await page.fill("input[type=datetime-local]", "2026-01-02T03:04");
assert.equal(await page.evaluate(() => location.hash), asked);
await key("Enter");
await page.waitForFunction(() => location.hash.includes("at=2026-01-02T02%3A04"));

// What was not handed over is not said to be delivered, and a slot that is paused has its own mark.
const { runs: [run] } = (await ask("query($id: ID!) { schedule(scheduleId: $id) { runs { id } } }", { id: ids.denied })).schedule;
await goTo(`run?schedule=${ids.denied}&id=${encodeURIComponent(run.id)}`);
await page.waitForSelector("text=What was to be delivered");
await goTo("timeline");
await page.waitForSelector(".picture use[href='#m-paused']");
assert.equal(await page.locator(".legend use[href='#m-paused']").count(), 1);
// A schedule that fires often does not hide the others, and that it is cut is said.
await goTo("");
await page.waitForSelector("[aria-labelledby=next] >> text=At most 6 slots of each schedule");

// The question that is copied is the page's.
await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
for (const name of ["Doctor", "Now", "Timeline", "Schedules", "Doctor"]) {
  await goTo(name.toLowerCase());
  await page.click("text=Copy as GraphQL");
  await said("The question is in the clipboard.");
  await page.waitForFunction(async (start) => (await navigator.clipboard.readText()).startsWith(start), `query ${name}`);
}

// A new schedule can be made after another one.
await goTo("new");
await page.waitForSelector("textarea");
for (const [name, value] of [["Session", "main"], ["Message", "Once."], ["When", "tomorrow at 10"]]) {
  await page.getByLabel(name, { exact: true }).fill(value);
}
await page.click("text=Make it");
await page.waitForSelector(".understood");
await page.click("header >> text=New schedule");
await page.waitForSelector("textarea");
assert.equal(await page.inputValue("textarea"), "");

// What is emptied is removed, and a change of one part of the policy leaves the others.
const policy = { whenBusy: "SKIP", maxLateMs: 60000, backoffMs: [1000] };
const policed = await create({ label: "policed", message: "m", when: "weekdays at 8:30", zone: "America/New_York", policy });
await goTo(`edit?id=${policed}`);
await page.waitForFunction(() => document.querySelector("textarea")?.value);
await page.getByLabel("Label", { exact: true }).fill("");
await page.click("summary");
await page.getByLabel("Missed slots").selectOption("ALL");
assert.match(await page.textContent("form dl"), /policed → –.*run once → all/);
assert.equal(await page.getByLabel("Clock").getAttribute("required"), "");
await page.click("text=Save");
await page.waitForFunction(() => location.hash.includes("schedule?"));
const parts = "label zone policy { missed whenBusy maxLateMs backoffMs }";
const saved = (await ask(`query($id: ID!) { schedule(scheduleId: $id) { ${parts} } }`, { id: policed })).schedule;
assert.deepEqual([saved.label, saved.zone], [null, "America/New_York"]);
assert.deepEqual([saved.policy.missed, saved.policy.whenBusy], ["ALL", "SKIP"]);
assert.deepEqual([Number(saved.policy.maxLateMs), saved.policy.backoffMs.map(Number)], [60000, [1000]]);

// Who may only look is offered nothing else, and gets nothing else.
const observer = await open({ viewport: { width: 1280, height: 900 } }, "--read-only");
await observer.waitForSelector("text=read only");
assert.equal(await observer.locator("a:has-text('New schedule')").count(), 0);
assert.equal(await observer.getByRole("button", { name: "Hold all…" }).isDisabled(), true);
const forced = await observer.evaluate(async (query) => {
  const csrf = JSON.parse(localStorage.getItem("reveille-key") ?? "{}").key;
  const answer = await fetch("graphql", { method: "POST", headers: { "content-type": "application/json", "reveille-csrf": csrf }, body: JSON.stringify({ query }) });
  return answer.text();
}, documents.HOLD);
assert.match(forced, /FORBIDDEN/);

// A revoked login ends, at once and everywhere.
execFileSync(binary, ["dashboard", "--revoke", "--data-dir", state]);
await page.waitForSelector("text=Or paste a token", { timeout: 10_000 });
assert.equal(await page.evaluate(() => localStorage.getItem("reveille-key")), null);

// A token that is pasted is the way in otherwise: of an operator, of an observer, who may change nothing, and of a session, for
// its own things. Each is offered what it may do.
const own = (await ask('mutation { openSession(sessionId: "own", listens: true) { token } }')).openSession.token;
const observing = fs.readFileSync(path.join(state, "observer.token"), "utf8").trim();
await page.waitForSelector("text=The login has ended");
for (const [pasted, changes, rules] of [[token, true, true], [observing, false, false], [own, true, false]]) {
  await page.click("summary");
  await page.fill("input[name=token]", pasted);
  await page.keyboard.press("Enter");
  await page.waitForSelector("body > header");
  await page.waitForFunction(() => sessionStorage.getItem("reveille-key"));
  const stored = await page.evaluate(() => localStorage.getItem("reveille-key"));
  assert.equal(stored, null, "a pasted token is not kept beyond the tab");
  assert.equal(await page.getByRole("button", { name: "Hold all…" }).isEnabled(), rules);
  assert.equal(await page.locator("a:has-text('New schedule')").count(), Number(changes));
  assert.equal(await page.locator("text=read only").count(), Number(!changes));
  for (const address of ["", "doctor", "timeline", "schedules", "approvals", "lanes", "attributes"]) {
    await goTo(address);
    assert.deepEqual(await page.$$eval(".problem", (all) => all.map((one) => one.textContent)), [], address);
  }
  await page.click("text=Log out");
  await page.waitForSelector("text=Or paste a token");
}

const forbidden = /status of 401|status of 403|ERR_INTERNET_DISCONNECTED|ERR_FAILED|WebSocket connection/;
assert.deepEqual(troubles.filter((trouble) => !forbidden.test(trouble)), []);
console.log("tasks by keyboard, a cut, a login that may only read, and one that ended: as they should be");
await browser.close();
// The daemon writes to its state directory until it exits.
const ended = new Promise((resolve) => { daemon.once("exit", resolve); });
daemon.kill("SIGTERM");
await ended;
fs.rmSync(home, { recursive: true, force: true });
process.exit(0);
