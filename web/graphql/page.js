// The query page. It keeps everything in memory, asks this server only, and is all there is: no library, no storage.
import { edit, put } from "./editor.js";
import { json, layer } from "./highlight.js";
import { jsonTokens, read } from "./language.js";
import { index, INTROSPECTION, named, written } from "./schema.js";
import { suggest } from "./suggest.js";
import { visible } from "./visible.js";

/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);
const START = `# The schedules that come next.
query Next {
  pendingCount
  schedules(first: 10, filter: {
    status: [PENDING, QUEUED]
  }) {
    totalCount
    nodes {
      scheduleId kind label status
      fireAt reason
    }
    pageInfo { hasNextPage endCursor }
  }
}

# Every decision as it is made, with its reason.
subscription Events {
  events {
    cursor at kind reason
    scheduleId detail
  }
}
`;
const RESULTS_MAX = 200;
const HISTORY_MAX = 50;
const FAULTS_MAX = 3;

/** @type {AbortController | null} */
let running = null;
/** @type {any} */
let schema = null;
let trail = [];
let asked = [];
// The query as it was read last, and its fault that is not shown, because the word at the cursor is still being typed.
let reading = readAt("", -1);
/** @type {any} */
let held = null;
// What the list of operations shows.
let offered = "";

function headers(accept) {
  /** @type {Record<string, string>} */
  const all = { "content-type": "application/json", accept };
  const [token, session] = [$("token").value.trim(), $("session").value.trim()];
  if (token) all.authorization = `Bearer ${token}`;
  if (session) all["reveille-session"] = session;
  return all;
}

function say(element, text, kind = "") {
  element.textContent = visible(text);
  element.className = kind;
}

function chosen() {
  const found = reading.operations;
  const [name, cursor] = [$("operation").value, $("query").selectionStart];
  return found.find((each) => each.name === name) || found.filter((each) => each.at <= cursor).pop() || found[0];
}

// Names the operation that would run, before it runs.
function offer() {
  const select = $("operation");
  const names = reading.operations.map((each) => each.name).filter(Boolean);
  const before = names.includes(select.value) ? select.value : "";
  const atCursor = before ? "at the cursor" : `at the cursor: ${chosen()?.name}`;
  const first = names.length > 1 ? atCursor : "the only one";
  if (offered === [first, ...names].join()) return;
  offered = [first, ...names].join();
  select.replaceChildren(new Option(first, ""), ...names.map((name) => new Option(name, name)));
  select.value = before;
}

async function run() {
  stop();
  $("result").textContent = "";
  let variables;
  try {
    variables = JSON.parse($("variables").value.trim() || "{}");
  } catch (error) {
    say($("state"), `variables are not JSON: ${error.message}`, "error");
    return;
  }
  const operation = chosen();
  const request = { query: $("query").value, variables };
  if (operation && operation.name) request.operationName = operation.name;
  remember(request);
  const controller = new AbortController();
  running = controller;
  $("stop").disabled = false;
  say($("state"), "asking…");
  bringIntoView($("answer"));
  try {
    const isSubscription = operation && operation.kind === "subscription";
    await (isSubscription ? follow(request, controller.signal) : ask(request, controller.signal));
  } catch (error) {
    // What was stopped by asking anew has nothing to say any more.
    if (running !== controller) return;
    if (error.name === "AbortError") say($("state"), "stopped");
    else say($("state"), error.isLate ? error.message : `no answer: ${error.message}`, "error");
  } finally {
    if (running === controller) {
      running = null;
      $("stop").disabled = true;
    }
  }
}

async function ask(request, signal) {
  const began = performance.now();
  const accept = "application/graphql-response+json, application/json;q=0.9";
  const response = await fetch("/graphql", { method: "POST", headers: headers(accept), body: JSON.stringify(request), signal });
  const text = await response.text();
  show(text, response.ok, `${response.status} in ${Math.round(performance.now() - began)} ms`);
}

// The answer's errors in short; a status of 200 may hide some, and color alone does not say so.
function trouble(value) {
  const isUnknown = value.error?.code === "UNAUTHORIZED" && $("token").value.trim();
  if (value.error) return isUnknown ? "this token is not known here" : value.error.message;
  if (!value.errors) return "";
  const [{ message, locations }] = value.errors;
  const where = locations && locations[0] ? ` (line ${locations[0].line})` : "";
  return value.errors.length > 1 ? `${value.errors.length} errors` : message.split("\n")[0].slice(0, 150) + where;
}

function show(text, isFine, state) {
  let [wrong, isJson] = ["", false];
  try {
    const value = JSON.parse(text);
    wrong = trouble(value);
    text = JSON.stringify(value, null, 2);
    isJson = true;
  } catch {
    // Not JSON: as it is.
  }
  if (isJson) $("result").replaceChildren(json(visible(text)));
  else $("result").textContent = visible(text);
  say($("state"), wrong ? `${state}: ${wrong}` : state, wrong || !isFine ? "error" : "good");
}

// In a narrow window the answer is below what can be seen.
function bringIntoView(section) {
  const { top } = section.getBoundingClientRect();
  if (top < 0 || top > innerHeight * 0.7) section.scrollIntoView();
}

// A subscription as an event stream: answers stand one above the other, the newest first.
async function follow(request, signal) {
  const body = JSON.stringify(request);
  const response = await fetch("/graphql", { method: "POST", headers: headers("text/event-stream"), body, signal });
  if (!response.ok || !response.body) {
    show(await response.text(), false, `${response.status}`);
    return;
  }
  say($("state"), "following, nothing yet", "good");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let [rest, count, wrong] = ["", 0, ""];
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw error.name === "AbortError" ? error : cutOff(count);
    });
    if (done) throw cutOff(count);
    const events = (rest + value).split("\n\n");
    rest = events.pop() || "";
    const results = [];
    const isComplete = events.some((event) => event.startsWith("event: complete"));
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n");
      if (!data) continue;
      const answer = JSON.parse(data);
      wrong = trouble(answer);
      results.push(JSON.stringify(answer, null, 2));
      count += 1;
    }
    prepend(results.slice(-RESULTS_MAX));
    const shown = count > RESULTS_MAX ? `, the last ${RESULTS_MAX} shown` : "";
    if (isComplete) {
      say($("state"), wrong ? `ended: ${wrong}` : `ended, ${count} in all${shown}`, wrong ? "error" : "");
      return;
    }
    if (results.length) say($("state"), `following, ${count} so far${shown}${wrong && `: ${wrong}`}`, wrong ? "error" : "good");
  }
}

// A stream ends in `complete`; without it something is missing from here on.
function cutOff(count) {
  const how = count ? `after ${count}; ask again with after: the newest cursor, to miss nothing` : "before anything came";
  return Object.assign(new Error(`cut off ${how}`), { isLate: true });
}

// Puts results on top, the last one first. Somebody who has scrolled down reads there: the text in view does not move.
function prepend(results) {
  const pre = $("result");
  const [top, height] = [pre.scrollTop, pre.scrollHeight];
  for (const text of results) {
    const result = document.createElement("div");
    result.append(json(`${visible(text)}\n`));
    pre.prepend(result);
  }
  if (top) pre.scrollTop = top + pre.scrollHeight - height;
  while (pre.childElementCount > RESULTS_MAX) pre.lastElementChild.remove();
}

function stop() {
  if (running) running.abort();
}

function remember(request) {
  const text = JSON.stringify(request);
  asked = [{ at: new Date(), request }, ...asked.filter((each) => JSON.stringify(each.request) !== text)].slice(0, HISTORY_MAX);
  $("history").replaceChildren(...asked.map(({ at, request: { query, variables, operationName } }) => {
    const button = document.createElement("button");
    const head = (operationName || query.replace(/#.*/g, "").replace(/\s+/g, " ").trim()).slice(0, 60);
    button.type = "button";
    button.textContent = visible(`${at.toLocaleTimeString()}  ${head}`);
    button.addEventListener("click", () => {
      put($("variables"), JSON.stringify(variables, null, 2));
      put($("query"), query);
      $("operation").value = operationName || "";
      offer();
    });
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
}

async function learn() {
  say($("who"), "reading…");
  try {
    const body = JSON.stringify({ query: INTROSPECTION });
    const response = await fetch("/graphql", { method: "POST", headers: headers("application/json"), body });
    const answer = await response.json();
    if (!answer.data) throw new Error(`${response.status}: ${answer.errors ? answer.errors[0].message : trouble(answer)}`);
    schema = index(answer.data.__schema);
    say($("who"), `${names().length} types`, "good");
    visit([]);
    look();
    return true;
  } catch (error) {
    say($("who"), error.message, "error");
    return false;
  }
}

// The schema's types, without those that describe schemas.
function names() {
  return schema ? [...schema.types.keys()].filter((name) => !name.startsWith("__")) : [];
}

function link(text, to) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = visible(text);
  button.addEventListener("click", () => {
    visit(to);
    // The link is gone: without this the keyboard would begin at the top of the page again.
    $("path").lastElementChild.focus();
  });
  return button;
}

function visit(to) {
  if (!schema) return;
  trail = to;
  const parts = [link("Schema", []), ...trail.flatMap((name, at) => [" › ", link(name, trail.slice(0, at + 1))])];
  $("path").replaceChildren(...parts);
  $("path").lastElementChild.setAttribute("aria-current", "page");
  const type = schema.types.get(trail[trail.length - 1]);
  const roots = Object.values(schema.roots).filter(Boolean);
  const others = names().filter((name) => !roots.includes(name)).sort();
  $("entry").replaceChildren(...(type ? described(type) : [...roots, ...others].map((name) => listed(name, [name]))));
  $("docs").scrollTop = 0;
}

function listed(text, to) {
  const line = document.createElement("div");
  line.append(link(text, to));
  return line;
}

function described(type) {
  const head = document.createElement("p");
  head.textContent = visible(type.description || "");
  const list = document.createElement("dl");
  for (const part of type.parts.values()) list.append(...lines(part));
  return [head, list];
}

function lines(field) {
  const term = document.createElement("dt");
  term.append(field.name);
  if (field.type) term.append(": ", link(written(field.type), [...trail, named(field.type)]));
  if (field.isDeprecated) term.append(" (deprecated)");
  const text = document.createElement("dd");
  text.textContent = visible(field.description || "");
  return [term, text, ...[...field.args.values()].map(argument)];
}

function argument(arg) {
  const line = document.createElement("dd");
  const name = document.createElement("code");
  name.append(`${arg.name}: `, link(written(arg.type), [...trail, named(arg.type)]));
  line.append(name, visible(` ${arg.description || ""}`));
  return line;
}

function find() {
  const text = $("find").value.trim().toLowerCase();
  if (!text || !schema) return visit([]);
  const has = (name) => name.toLowerCase().includes(text);
  const found = names().flatMap((type) => {
    const parts = [...schema.types.get(type).parts.keys()].filter(has);
    return [...(has(type) ? [type] : []), ...parts.map((part) => `${type}.${part}`)];
  });
  trail = [];
  $("path").replaceChildren(link("Schema", []), ` › ${found.length || "nothing"} found`);
  $("entry").replaceChildren(...found.map((name) => listed(name, [name.split(".")[0]])));
  return undefined;
}

function readAt(text, cursor) {
  return { text, cursor, schema, ...read(text, schema, cursor) };
}

// The reading of the query as it is now; one key asks for it several times.
function fresh() {
  const { value, selectionStart: cursor } = $("query");
  if (reading.cursor !== cursor || reading.text !== value || reading.schema !== schema) reading = readAt(value, cursor);
  return reading;
}

// Shows the query as it is now: its colors, its faults and its operations.
function look() {
  fresh();
  held = faultAtCursor();
  color();
  offer();
}

// A word is not wrong yet while it is typed.
function faultAtCursor() {
  const at = document.activeElement === $("query") ? $("query").selectionStart : -1;
  return reading.faults.find(({ token }) => token.from < at && at <= token.to) || null;
}

// Faults are underlined, and listed in words for readers who do not see the lines.
function color() {
  const faults = reading.faults.filter((fault) => fault !== held);
  const wrong = new Set(faults.map(({ token }) => token));
  const text = $("query").value;
  query.paint(text, reading.tokens.map((token) => wrong.has(token) ? { ...token, mark: `${token.mark} wrong` } : token));
  const line = (at) => text.slice(0, at).split("\n").length;
  const said = faults.slice(0, FAULTS_MAX).map(({ token, why }) => `Line ${line(token.from)}: ${why}.`).join(" ");
  const more = faults.length > FAULTS_MAX ? ` And ${faults.length - FAULTS_MAX} more.` : "";
  say($("faults"), said + more, "error");
  $("query").setAttribute("aria-invalid", String(faults.length > 0));
}

// The cursor has moved: another operation may be the one that runs, and the word that was typed is complete.
function moved() {
  offer();
  if (held === faultAtCursor()) return;
  held = faultAtCursor();
  color();
}

async function learnForList() {
  if (!$("token").value.trim()) return "Completion needs the schema: enter a token above first.";
  return await learn() ? "" : "Completion needs the schema, and it could not be read.";
}

// All of the answer, not of the page.
function selectAnswer(event) {
  if (event.key !== "a" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  getSelection()?.selectAllChildren($("result"));
}

$("query").value = START;
// The cursor would be behind the text, and Run would begin the last operation.
$("query").setSelectionRange(0, 0);
const query = layer($("query"), $("query-layer"));
const variables = layer($("variables"), $("variables-layer"));
const list = suggest($("query"), {
  box: $("offers"),
  status: $("offered"),
  place: query.place,
  look: fresh,
  learn: learnForList,
});
const colorVariables = () => variables.paint($("variables").value, jsonTokens($("variables").value));
edit($("query"), () => { list.close(); run(); }, list.key);
edit($("variables"), run);
$("query").addEventListener("input", (event) => { look(); list.typed(event); });
$("variables").addEventListener("input", colorVariables);
$("run").addEventListener("click", run);
$("stop").addEventListener("click", stop);
$("caller").addEventListener("submit", (event) => { event.preventDefault(); learn(); });
$("find").addEventListener("input", find);
$("operation").addEventListener("change", offer);
$("result").addEventListener("keydown", selectAnswer);
document.addEventListener("selectionchange", moved);
look();
colorVariables();
