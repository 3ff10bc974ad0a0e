// The query page in a real browser, against a daemon of its own: a query by keyboard alone with completion, the layer of colors
// exactly below the text, foreign text that tries to be more than text, and no violation of WCAG A or AA, no report of its policy
// and no request elsewhere. What needs no browser is in query_page_language.mjs, which runs first.
// Run: npm install && node query_page.mjs URL TOKEN BINARY [SCREENSHOTS]; the browser is CHROMIUM, or Debian's. With DEV=1 the
// page's files are those of this tree, whatever the binary has.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import "./query_page_language.mjs";

const [, , binary = "../../target/debug/reveille", shots] = process.argv.slice(2);
const web = new URL("../../web/", import.meta.url).pathname;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// What the files say. Text comes onto the page through `visible` only, and no markup is ever made of it.
const files = Object.fromEntries(fs.readdirSync(`${web}graphql`).map((name) => [name, fs.readFileSync(`${web}graphql/${name}`, "utf8")]));
for (const [name, text] of Object.entries(files)) {
  for (const word of ["http://", "https://", "@import", "Storage", "cookie", "eval(", "innerHTML", "outerHTML", "insertAdjacent", "setAttribute(\"style"]) {
    assert.ok(!text.includes(word), `${word} in ${name}`);
  }
  for (const [, printed] of text.matchAll(/\.textContent = ([^;]*);/g)) assert.match(printed, /^(""$|visible\()/, name);
  assert.ok(text.split("\n").length <= 500, `${name} is too long`);
}
const packed = Object.values(files).reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
console.log(`${Object.keys(files).length} files, ${packed} B packed`);
// Not more than it is: a page that grows has to say why.
assert.ok(packed <= 26_000, "the page is too large");

const home = fs.mkdtempSync(path.join(os.tmpdir(), "reveille-query-page-"));
const state = path.join(home, "state");
fs.mkdirSync(state, { mode: 0o700 });
const flags = ["serve", "--listen", "127.0.0.1:0", "--data-dir", state, "--socket", path.join(state, "socket"), "--log", "warn"];
const daemon = spawn(binary, flags, { stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => {
  daemon.kill("SIGKILL");
  fs.rmSync(home, { recursive: true, force: true });
});
const url = await new Promise((resolve, reject) => {
  daemon.stdout.on("data", (data) => resolve(/http:\S+/.exec(data)[0]));
  daemon.on("exit", () => reject(new Error("the daemon ended")));
});
const token = fs.readFileSync(path.join(state, "operator.token"), "utf8").trim();
const ask = async (query, variables = {}) => {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const answer = await (await fetch(`${url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query, variables }) })).json();
  assert.equal(answer.errors, undefined, JSON.stringify(answer.errors));
  return answer.data;
};
const FORGED = "ab\u202Ecd\u200B\u{E0041}<img src=x onerror=window.forged=1><script>window.forged=1</script>";
const create = (label) => ask("mutation($input: CreateScheduleInput!) { createSchedule(input: $input) { schedule { scheduleId } } }", {
  input: { kind: "MESSAGE", originSessionId: "main", message: FORGED, label, when: "in 3 hours" },
});
await ask("mutation { openSession(sessionId: \"main\", listens: true) { sessionId } }");
await create(FORGED);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const troubles = [];
// The headers are the daemon's own, so the policy is too.
const serve = async (route) => {
  const name = path.basename(new URL(route.request().url()).pathname);
  const page = await (await fetch(`${url}/graphql`, { headers: { accept: "text/html" } })).headers;
  const kind = { html: "text/html", css: "text/css", js: "text/javascript" }[name.split(".")[1] ?? "html"];
  const headers = { "content-type": `${kind}; charset=utf-8`, "content-security-policy": page.get("content-security-policy") };
  return route.fulfill({ headers, body: files[name.includes(".") ? name : "page.html"] });
};
const open = async (options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  if (process.env.DEV) {
    await page.route("**/graphql/*", serve);
    await page.route("**/graphql", (route) => route.request().method() === "GET" ? serve(route) : route.continue());
  }
  page.on("pageerror", (error) => troubles.push(`error: ${error.stack}`));
  page.on("console", (message) => message.type() === "error" && troubles.push(`console: ${message.text()}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${url}/`)) troubles.push(`request elsewhere: ${request.url()}`);
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(`${url}/graphql`);
  await page.waitForSelector("#query-layer .t-keyword");
  return page;
};

const page = await open();
const key = async (...keys) => { for (const one of keys) await page.keyboard.press(one); };
const type = (text) => page.keyboard.type(text);
const value = () => page.inputValue("#query");
const write = async (text, on = page) => {
  await on.evaluate(({ text: all }) => {
    const area = /** @type {HTMLTextAreaElement} */ (document.querySelector("#query"));
    area.focus();
    // Not as if typed: Chromium takes seconds to insert 50 kB so.
    area.value = all.replace("|", "");
    area.dispatchEvent(new Event("input"));
    if (all.includes("|")) area.setSelectionRange(all.indexOf("|"), all.indexOf("|"));
  }, { text });
  await on.waitForTimeout(30);
};
const offers = (on = page) => on.$$eval("#offers [role=option] .name", (all) => all.map((one) => one.textContent));
const listed = async (first) => {
  const is = (wanted) => document.querySelector("#offers [aria-selected=true] .name")?.textContent === wanted;
  await page.waitForFunction(is, first, { timeout: 10_000 }).catch(async () => assert.fail(`not ${first} but ${await offers()}: ${await value()}`));
};
const closed = (on = page) => on.waitForFunction(() => /** @type {HTMLElement} */ (document.querySelector("#offers")).hidden);
const same = async (what, on = page) => {
  const [text, layer] = await on.$eval("#query", (area) => [area.value, document.querySelector("#query-layer").textContent]);
  assert.equal(layer, text, what);
};
const active = () => page.evaluate(() => document.activeElement?.id);

// Without a token, the page says what is missing.
await page.focus("#query");
await key("Control+Space");
await page.waitForFunction(() => /token/.test(document.querySelector("#offered").textContent));

// By keyboard alone: a token, and a query with each kind of completion. Ctrl+Space reads the schema.
await page.focus("#token");
await type(token);
await key("Tab", "Tab", "Tab");
assert.equal(await active(), "query");
await key("Control+A", "Delete", "Control+Space");
await listed("query");
assert.deepEqual(await offers(), ["query", "mutation", "subscription", "fragment"]);
assert.equal(await page.textContent("#offered"), "4 completions");
await key("Enter");
await type("Mine($which: [ScheduleStatu");
await listed("ScheduleStatus");
await key("Tab");
await type("!]) {");
await key("Enter");
await type("schedules(fi");
await listed("filter");
await key("ArrowDown");
await listed("first");
await key("ArrowDown");
await listed("filter");
await key("Enter");
await listed("{ }");
await key("Enter");
await type("stat");
await listed("status");
await key("Enter");
await listed("$which");
await key("Enter");
await closed();
await key("End");
await type(", orderBy: ");
await key("Control+Space");
const order = (await offers())[0];
await key("Enter");
await type(") {");
await key("Enter");
await type("no");
await listed("nodes");
await key("Enter");
await type("...Brief ");
await type("ki");
await listed("kind");
await key("Enter");
await key("Control+End");
await key("Enter");
await type("}");
await key("Enter");
await type("}");
await key("Enter");
await type("fra");
await listed("fragment");
await key("Enter");
await type("Brief ");
await key("Control+Space");
await listed("on");
await key("Enter");
await listed((await offers())[0]);
await type("Schedule");
await listed("Schedule");
await key("Escape");
await closed();
await type(" { scheduleId label stat");
await listed("status");
await key("Enter");
await type(" }");
await same("the typed query");
assert.equal(await value(), `query Mine($which: [ScheduleStatus!]) {
  schedules(filter: { status: $which }, orderBy: ${order}) {
    nodes {
      ...Brief kind
    }
  }
}
fragment Brief on Schedule { scheduleId label status }`);
assert.equal(await page.textContent("#faults"), "");
await key("Escape", "Tab");
assert.equal(await active(), "variables");
await key("Control+A");
await type("{\"which\": [\"PENDING\"]}");
await key("Control+Enter");
await page.waitForFunction(() => /^200 in/.test(document.querySelector("#state").textContent));
const answer = JSON.parse(await page.textContent("#result"));
assert.equal(answer.data.schedules.nodes[0].kind, "MESSAGE");
assert.equal(await page.$$eval("#result .t-field", (all) => all[0].textContent), "\"data\"");
assert.equal(await page.$$eval("#variables-layer .t-string", (all) => all[0].textContent), "\"PENDING\"");
if (shots) await page.screenshot({ path: path.join(shots, "query.png") });

// The classes of tokens, and the faults in words.
await write("query A($b: Int) { # note\n  x: schedules(first: $b, after: \"s\", limit: 3, filter: {status: PENDING}) @skip(if: false) { totl }\n}\n|");
const classes = await page.$$eval("#query-layer code > div > span > span", (all) => all.map((one) => `${one.textContent} ${one.className}`));
for (const wanted of ["query t-keyword", "A t-title", "$b t-variable", "Int t-type", "# note t-comment", "x t-alias", "schedules t-field", "first t-argument",
  "\"s\" t-string", "3 t-number", "PENDING t-constant", "@skip t-directive", "{ t-punct", "limit t-argument t-wrong", "totl t-field t-wrong"]) {
  assert.ok(classes.includes(wanted), `${wanted} of ${classes.join(", ")}`);
}
assert.equal(await page.textContent("#faults"), "Line 2: schedules has no argument limit. Line 2: ScheduleConnection has no field totl.");
assert.equal(await page.getAttribute("#query", "aria-invalid"), "true");
// A word at the cursor is not wrong yet.
await write("{ pend|\n}");
assert.equal(await page.textContent("#faults"), "");
await key("ArrowDown");
await page.waitForFunction(() => /no field pend/.test(document.querySelector("#faults").textContent));

// The layer changes only the lines that differ: after any edit it is as if made anew.
assert.equal(await page.evaluate(async () => {
  const { layer } = await import(`${location.origin}/graphql/highlight.js`);
  const { read } = await import(`${location.origin}/graphql/language.js`);
  const made = () => {
    const [area, pre] = [document.createElement("textarea"), document.createElement("pre")];
    return { pre, paint: layer(area, pre).paint };
  };
  const kept = made();
  const pieces = ["{", "}", "\n", "query A {", "\n\n", "\"\"\"", "\"", "a: b(c: 1)", " ", "# no", "$x", "{\n  id\n}\n"];
  let [text, seed] = ["", 7];
  const next = (most) => { seed = (seed * 48271) % 2147483647; return seed % most; };
  for (let round = 0; round < 2000; round += 1) {
    const from = next(text.length + 1);
    const to = Math.min(text.length, from + (next(3) ? 0 : next(12)));
    text = text.slice(0, from) + (next(4) ? pieces[next(pieces.length)] : "") + text.slice(to);
    if (text.length > 600) text = text.slice(next(500));
    const marks = read(text).tokens.map((token, at) => at % 7 === round % 3 ? { ...token, mark: `${token.mark} wrong` } : token);
    kept.paint(text, marks);
    const fresh = made();
    fresh.paint(text, marks);
    const [one, other] = [kept, fresh].map(({ pre }) => [...pre.querySelectorAll("code > div > span")].map((line) => line.outerHTML).join());
    if (kept.pre.textContent !== text || one !== other) return `round ${round}: ${JSON.stringify(text)}`;
  }
  return "";
}), "");

// Undo takes back what was accepted, and redo brings it again.
await write("{\n  |\n}");
await type("eng");
await listed("engine");
await key("Enter");
assert.equal(await value(), "{\n  engine {\n    \n  }\n}");
await type("at");
assert.equal(await value(), "{\n  engine {\n    at\n  }\n}");
await key("Escape", "Control+Z");
for (let tries = 0; tries < 4 && (await value()).includes("{\n    "); tries += 1) await key("Control+Z");
assert.match(await value(), /^\{\n {2}e?n?g?\n\}$/);
await same("after undoing");
await key("Control+Shift+Z");
await same("after redoing");

// Escape closes the list; only a second one lets Tab leave. Left and Home close it too.
await write("{ pe|");
await type("n");
await listed("pendingCount");
await key("Escape", "Tab");
assert.equal(await active(), "query");
assert.equal(await value(), "{ pen  ");
await key("Escape", "Tab");
assert.notEqual(await active(), "query");
await write("{ pe|");
await type("n");
await listed("pendingCount");
await key("ArrowLeft");
await closed();
// What is complete already lets Enter be a line break.
await write("{ pendingCoun|");
await type("t");
await closed();
await key("Enter");
assert.equal(await value(), "{ pendingCount\n");
// Pages of the list.
await write("{ schedules { nodes { |");
await key("Control+Space");
const fields = await offers();
assert.ok(fields.length > 20);
await key("PageDown");
await listed(fields[8]);
await key("ArrowUp", "PageUp");
await listed(fields[0]);
await key("ArrowUp");
await listed(fields.at(-1));
assert.ok(await page.evaluate(() => {
  const [box, one] = [document.querySelector("#offers"), document.querySelector("[aria-selected=true]")].map((each) => each.getBoundingClientRect());
  return one.top >= box.top && one.bottom <= box.bottom;
}), "the choice is in view");
assert.equal(await page.getAttribute("#query", "aria-activedescendant"), await page.getAttribute("#offers [aria-selected=true]", "id"));
assert.equal(await page.getAttribute("#query", "aria-expanded"), "true");
// By mouse.
await page.click("#offers li:nth-child(3)");
assert.ok((await value()).startsWith(`{ schedules { nodes { ${fields[2]}`));
assert.equal(await active(), "query");
await closed();

// The list begins below the word that it completes.
await write("{\n  schedules { nodes { label sta|");
await type("t");
await listed("status");
const [box, word] = await page.evaluate(() => {
  const found = [...document.querySelectorAll("#query-layer span > span")].at(-1);
  return [document.querySelector("#offers"), found].map((one) => one.getBoundingClientRect().toJSON());
});
assert.ok(Math.abs(box.left - word.left) < 3 && box.top >= word.bottom - 2 && box.top < word.bottom + 8, JSON.stringify([box, word]));
await key("Escape");

// The layer is exactly below the text: the pictures of either alone are equal, also when scrolled. Parts of a line begin at other
// fractions of a pixel than the whole line, which makes 60 of 255 levels of difference; a quarter of a pixel makes 110.
const farthest = async (pictures) => {
  const [one, other] = await Promise.all(pictures.map(async (bytes) => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return canvas.getImageData(0, 0, image.width, image.height).data;
  }));
  return one.reduce((most, level, at) => Math.max(most, Math.abs(level - other[at])), 0);
};
const tall = Array.from({ length: 60 }, (_, at) => `${" ".repeat(at % 7)}a${at}: schedules(first: ${at}, after: "é→𝄞 \\" ${"wide ".repeat(at % 30)}") { \tnodes { id } } # !=`).join("\n");
await write(tall);
await page.evaluate(() => {
  const sheet = document.styleSheets[0];
  const add = (rule) => sheet.insertRule(rule, sheet.cssRules.length);
  add(".editor code span span { color: var(--ink) !important; text-decoration: none !important; }");
  // At whole pixels: a browser rounds the place of a field that scrolls, and not that of other text.
  add(".editor { position: fixed !important; left: 20px; top: 60px; width: 400px; }");
  add(".only-text .lit { -webkit-text-fill-color: var(--ink); }");
  add(".only-text pre { visibility: hidden; }");
  document.querySelector("#query").blur();
});
for (const [x, y] of [[0, 0], [0, 333], [180, 1e5], [1e5, 77]]) {
  await page.$eval("#query", (area, to) => area.scrollTo(...to), [x, y]);
  const pictures = [];
  for (const isText of [false, true]) {
    await page.evaluate((is) => document.querySelector(".editor").classList.toggle("only-text", is), isText);
    await page.waitForTimeout(60);
    pictures.push(await page.locator("#query").screenshot());
  }
  if (shots) pictures.forEach((picture, at) => fs.writeFileSync(path.join(shots, `layer-${x}-${y}-${at}.png`), picture));
  const far = await page.evaluate(farthest, pictures.map((picture) => [...picture]));
  assert.ok(far < 100, `the layer is not below the text at ${x}, ${y}: ${far}`);
}
await page.context().close();

// Descriptions and names of a schema, and answers, are text.
{
  const hostile = await open();
  await hostile.route("**/graphql", async (route) => {
    if (route.request().method() !== "POST" || !route.request().postData().includes("__schema")) return route.fallback();
    const response = await route.fetch();
    const body = (await response.text()).replaceAll("\"description\":\"", `"description":${JSON.stringify(FORGED).slice(0, -1)} `);
    return route.fulfill({ response, body });
  });
  await hostile.fill("#token", token);
  await hostile.click("text=Read schema");
  await hostile.waitForSelector("#who.good");
  await write("{ |", hostile);
  await hostile.keyboard.press("Control+Space");
  await hostile.waitForSelector("#offers [role=option]");
  assert.match(await hostile.textContent("#offers .note"), /^ab\\u202ecd\\u200b\\udb40\\udc41<img src=x/);
  await write("{ schedules { nodes { label message } } }", hostile);
  await hostile.click("#run");
  await hostile.waitForSelector("#state.good");
  const shown = await hostile.textContent("#result");
  assert.match(shown, /ab\\u202ecd\\u200b\\udb40\\udc41<img src=x/);
  assert.equal(JSON.parse(shown).data.schedules.nodes[0].message, FORGED);
  assert.equal(await hostile.evaluate(() => window.forged ?? document.querySelectorAll("main img, main script").length), 0);
  assert.doesNotMatch(await hostile.evaluate(() => document.body.innerText), /[\u202A-\u202E\u2066-\u2069\u200B\u2028]|[\u{E0000}-\u{E0FFF}]/u);

  // A subscription: results stand one above the other, the newest first.
  await write("subscription { events { kind scheduleId } }", hostile);
  await hostile.click("#run");
  await hostile.waitForFunction(() => /following/.test(document.querySelector("#state").textContent));
  await create("one");
  await create("two");
  await hostile.waitForFunction(() => document.querySelectorAll("#result > div").length >= 2);
  assert.equal((await hostile.$$eval("#result > div", (all) => all.map((one) => JSON.parse(one.textContent)))).length >= 2, true);
  await hostile.context().close();
}

// The list open, as wide and as dark as it may be. The layer is hidden from axe as from readers aloud: its contrast is measured here.
const contrast = () => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const light = (color) => {
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  const found = {};
  for (const [box, ground] of [["#query-layer", ".editor"], ["#result", "#answer"]]) {
    const below = light(getComputedStyle(document.querySelector(ground)).backgroundColor);
    for (const one of document.querySelectorAll(`${box} [class^=t-]`)) found[`${box} ${one.className}`] = ratio(light(getComputedStyle(one).color), below);
  }
  return found;
};
let [looked, least] = [0, 21];
for (const colorScheme of ["light", "dark"]) {
  for (const width of [320, 768, 1280]) {
    const small = await open({ viewport: { width, height: 800 }, colorScheme, reducedMotion: "reduce" });
    await small.fill("#token", token);
    await small.click("text=Read schema");
    await small.waitForSelector("#who.good");
    await write("{ schedules(first: 1) { totalCount nodes { label paused } } }", small);
    await small.click("#run");
    await small.waitForFunction(() => document.querySelector("#result").textContent);
    await write(`{ schedules { nodes { ${"label ".repeat(width === 768 ? 20 : 1)}|`, small);
    await small.keyboard.press("Control+Space");
    await small.waitForSelector("#offers [role=option]");
    const where = `${width} px, ${colorScheme}`;
    const place = await small.$eval("#offers", (one) => one.getBoundingClientRect().toJSON());
    assert.ok(place.left >= 0 && place.right <= width && place.top >= 0 && place.bottom <= 800, `${where}: ${JSON.stringify(place)}`);
    assert.equal(await small.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${where} is wider than the window`);
    await small.evaluate(axe);
    const violations = await small.evaluate(async () => (await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] })).violations
      .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.failureSummary}`).join("; ")}`));
    assert.deepEqual(violations, [], where);
    assert.equal(await small.evaluate(() => document.getAnimations().length), 0, "nothing moves");
    if (shots) await small.screenshot({ path: path.join(shots, `list-${width}-${colorScheme}.png`) });
    await small.keyboard.press("Escape");
    await write("query A($b: Int = 1) { # c\n  x: schedules(after: \"s\", first: $b, filter: {status: PENDING}) @skip(if: true) { totl }\n}", small);
    const ratios = await small.evaluate(contrast);
    for (const [what, ratio] of Object.entries(ratios)) assert.ok(ratio >= 4.5, `${what} at ${where}: ${ratio}`);
    least = Math.min(least, ...Object.values(ratios));
    // The system's colors: the field shows its own text.
    await small.emulateMedia({ forcedColors: "active" });
    const forced = await small.$eval("#query", (area) => {
      const { webkitTextFillColor: fill, color } = getComputedStyle(area);
      return [fill === color ? "its own" : `${fill}, not ${color}`, getComputedStyle(document.querySelector("#query-layer")).visibility];
    });
    assert.deepEqual(forced, ["its own", "hidden"], where);
    await small.context().close();
    looked += 1;
  }
}
console.log(`${looked} pictures with the list open, no violation; least contrast of a token ${least.toFixed(2)}`);

// Typing in a document of 50 kB, with the schema known: from the key to the next picture.
{
  const big = await open();
  await big.fill("#token", token);
  await big.click("text=Read schema");
  await big.waitForSelector("#who.good");
  let text = "";
  for (let number = 0; text.length < 50_000; number += 1) {
    text += `query Q${number}($n: Int = 10) {\n  # number ${number}\n  schedules(first: $n, filter: { status: [PENDING, QUEUED] }) {\n    totalCount\n    nodes { scheduleId kind other: label status fireAt @include(if: true) }\n  }\n}\n`;
  }
  const middle = text.indexOf("totalCount", 25_000);
  await write(`${text.slice(0, middle)}|${text.slice(middle)}`, big);
  await same("50 kB", big);
  await big.evaluate(() => {
    window.took = [];
    document.querySelector("#query").addEventListener("keydown", (event) => {
      const began = event.timeStamp;
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => window.took.push(performance.now() - began);
        channel.port2.postMessage(0);
      });
    }, { capture: true });
  });
  await big.keyboard.type("pageInfo { hasNextPage } edges \"x\" # remark \n nodes { label } ", { delay: 60 });
  await same("50 kB, typed in", big);
  const took = (await big.evaluate(() => window.took)).sort((a, b) => a - b);
  console.log(`50 kB: a key to the next picture, median ${took[took.length >> 1].toFixed(1)} ms, most ${took.at(-1).toFixed(1)} ms of ${took.length}`);
  // Above the bound the text is plain.
  await write(text.repeat(5), big);
  assert.equal(await big.$eval("#query", (area) => area.classList.contains("lit")), false);
  await big.context().close();
}

assert.deepEqual(troubles, []);
await browser.close();
daemon.kill();
console.log("query page: as expected");
process.exit(0);
