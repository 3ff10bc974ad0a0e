// The query page. It keeps everything in memory, asks this server only, and is all there is: no library, no storage.
"use strict";

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
const TYPE = "kind name ofType { kind name ofType { kind name ofType { kind name } } }";
const INTROSPECTION = `{ __schema { queryType { name } mutationType { name } subscriptionType { name } types {
  kind name description
  fields(includeDeprecated: true) { name description isDeprecated args { name description type { ${TYPE} } } type { ${TYPE} } }
  inputFields { name description type { ${TYPE} } }
  enumValues(includeDeprecated: true) { name description }
} } }`;
const RESULTS_MAX = 200;
const HISTORY_MAX = 50;

let running = null;
let types = new Map();
let roots = [];
let trail = [];
let asked = [];

function headers(accept) {
  const all = { "content-type": "application/json", accept };
  const [token, session] = [$("token").value.trim(), $("session").value.trim()];
  if (token) all.authorization = `Bearer ${token}`;
  if (session) all["reveille-session"] = session;
  return all;
}

// A text in which a reader sees all that there is: controls, marks of direction and what has no width stand there by their
// numbers, as JSON escapes them, so that the answer still reads back. Line breaks are layout; JSON has none inside a string.
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;
const HIDDEN = /[\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
function visible(text) {
  const byNumber = (found) => [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
  return text.replace(CONTROLS, byNumber).replace(HIDDEN, byNumber);
}

function say(element, text, kind = "") {
  element.textContent = visible(text);
  element.className = kind;
}

// The operations of a document. Comments and strings become as many blanks, so that places stay those of the text.
function operations(text) {
  const bare = text.replace(/"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|#.*/g, (gone) => " ".repeat(gone.length));
  const found = [];
  for (const match of bare.matchAll(/\b(query|mutation|subscription)\b\s*([_A-Za-z]\w*)?(?=[^{}]*\{)/g)) {
    const before = bare.slice(0, match.index);
    const depth = (before.match(/\{/g) || []).length - (before.match(/\}/g) || []).length;
    if (depth === 0) found.push({ kind: match[1], name: match[2] || "", at: match.index });
  }
  return found;
}

function chosen() {
  const found = operations($("query").value);
  const name = $("operation").value;
  return found.find((each) => each.name === name) || found.filter((each) => each.at <= $("query").selectionStart).pop() || found[0];
}

// Names the operation that would run: nobody should find out by running the wrong one.
function offer() {
  const select = $("operation");
  const names = operations($("query").value).map((each) => each.name).filter(Boolean);
  const before = select.value;
  select.value = names.includes(before) ? before : "";
  const first = names.length > 1 && !select.value ? `at the cursor: ${chosen().name}` : names.length > 1 ? "at the cursor" : "the only one";
  const options = [first, ...names];
  if (options.join() !== [...select.options].map((option) => option.text).join()) {
    select.replaceChildren(new Option(first, ""), ...names.map((name) => new Option(name, name)));
    select.value = names.includes(before) ? before : "";
  }
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
  if (value.error) return value.error.code === "UNAUTHORIZED" && $("token").value.trim() ? "this token is not known here" : value.error.message;
  if (!value.errors) return "";
  const [{ message, locations }] = value.errors;
  const where = locations && locations[0] ? ` (line ${locations[0].line})` : "";
  return value.errors.length > 1 ? `${value.errors.length} errors` : message.split("\n")[0].slice(0, 150) + where;
}

function show(text, isFine, state) {
  let wrong = "";
  try {
    const value = JSON.parse(text);
    wrong = trouble(value);
    text = JSON.stringify(value, null, 2);
  } catch {
    // Not JSON: as it is.
  }
  $("result").textContent = visible(text);
  say($("state"), wrong ? `${state}: ${wrong}` : state, wrong || !isFine ? "error" : "good");
}

// In a narrow window the answer is below what can be seen.
function bringIntoView(section) {
  const { top } = section.getBoundingClientRect();
  if (top < 0 || top > innerHeight * 0.7) section.scrollIntoView();
}

// A subscription as an event stream: answers stand one above the other, the newest first.
async function follow(request, signal) {
  const response = await fetch("/graphql", { method: "POST", headers: headers("text/event-stream"), body: JSON.stringify(request), signal });
  if (!response.ok || !response.body) {
    show(await response.text(), false, `${response.status}`);
    return;
  }
  say($("state"), "following, nothing yet", "good");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const results = [];
  let [rest, count, wrong] = ["", 0, ""];
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw error.name === "AbortError" ? error : cutOff(count);
    });
    if (done) throw cutOff(count);
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    const before = count;
    const isComplete = events.some((event) => event.startsWith("event: complete"));
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n");
      if (!data) continue;
      const answer = JSON.parse(data);
      wrong = trouble(answer);
      results.unshift(JSON.stringify(answer, null, 2));
      count += 1;
    }
    if (count > before) {
      results.length = Math.min(results.length, RESULTS_MAX);
      prepend(results.join("\n"));
    }
    const shown = count > RESULTS_MAX ? `, the last ${RESULTS_MAX} shown` : "";
    if (isComplete) {
      say($("state"), wrong ? `ended: ${wrong}` : `ended, ${count} in all${shown}`, wrong ? "error" : "");
      return;
    }
    if (count > before) say($("state"), `following, ${count} so far${shown}${wrong && `: ${wrong}`}`, wrong ? "error" : "good");
  }
}

// A stream ends in `complete`; without it something is missing from here on.
function cutOff(count) {
  const how = count ? `after ${count}; ask again with after: the newest cursor, to miss nothing` : "before anything came";
  return Object.assign(new Error(`cut off ${how}`), { isLate: true });
}

// Who has scrolled down reads there: what comes on top does not move it.
function prepend(text) {
  const pre = $("result");
  const [top, height] = [pre.scrollTop, pre.scrollHeight];
  pre.textContent = visible(text);
  if (top) pre.scrollTop = top + pre.scrollHeight - height;
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
      offer();
      $("operation").value = operationName || "";
      offer();
    });
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
}

// Writes over a part of a field, or all of it, as if typed: unlike an assignment, that can be undone.
function put(area, text, from = 0, to = area.value.length) {
  area.focus();
  area.setSelectionRange(from, to);
  if (from === to && !text) return;
  if (!document.execCommand(text ? "insertText" : "delete", false, text)) area.setRangeText(text, from, to, "end");
}

function indent(area, isBack) {
  const { selectionStart: start, selectionEnd: end, value } = area;
  if (start === end && !isBack) return put(area, "  ", start, end);
  const from = value.lastIndexOf("\n", start - 1) + 1;
  const lines = value.slice(from, end);
  const moved = isBack ? lines.replace(/^ {1,2}/gm, "") : lines.replace(/^/gm, "  ");
  put(area, moved, from, end);
  // A selection stays one; a mere cursor does not become one, or the next key would overwrite the line.
  if (start !== end) area.setSelectionRange(from, from + moved.length);
}

// A field that indents. Escape lets the next Tab leave it, forwards or backwards, so that nobody is caught in it.
function edit(area) {
  let leaves = false;
  area.addEventListener("keydown", (event) => {
    if (event.isComposing || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    const { selectionStart: start, selectionEnd: end, value } = area;
    const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
    const has = event.ctrlKey || event.metaKey || event.altKey;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    } else if (event.key === "Tab" && !leaves && !has) {
      event.preventDefault();
      indent(area, event.shiftKey);
    } else if (event.key === "Enter" && !has) {
      event.preventDefault();
      const deeper = /[{([]\s*$/.test(line) ? "  " : "";
      put(area, `\n${line.match(/^ */)[0]}${deeper}`, start, end);
    } else if (/^[})\]]$/.test(event.key) && start === end && /^(  )+$/.test(line)) {
      event.preventDefault();
      put(area, event.key, start - 2, end);
    }
    leaves = event.key === "Escape";
  });
  area.addEventListener("input", offer);
}

async function learn(event) {
  event.preventDefault();
  say($("who"), "reading…");
  try {
    const body = JSON.stringify({ query: INTROSPECTION });
    const response = await fetch("/graphql", { method: "POST", headers: headers("application/json"), body });
    const answer = await response.json();
    if (!answer.data) throw new Error(`${response.status}: ${answer.errors ? answer.errors[0].message : trouble(answer)}`);
    const schema = answer.data.__schema;
    types = new Map(schema.types.filter((type) => !type.name.startsWith("__")).map((type) => [type.name, type]));
    roots = [schema.queryType, schema.mutationType, schema.subscriptionType].filter(Boolean).map((type) => type.name);
    say($("who"), `${types.size} types`, "good");
    visit([]);
  } catch (error) {
    say($("who"), error.message, "error");
  }
}

function written(type) {
  if (type.kind === "NON_NULL") return `${written(type.ofType)}!`;
  return type.kind === "LIST" ? `[${written(type.ofType)}]` : type.name;
}

function named(type) {
  return type.ofType ? named(type.ofType) : type.name;
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
  if (!types.size) return;
  trail = to;
  const parts = [link("Schema", []), ...trail.flatMap((name, at) => [" › ", link(name, trail.slice(0, at + 1))])];
  parts[parts.length - 1].setAttribute("aria-current", "page");
  $("path").replaceChildren(...parts);
  const type = types.get(trail[trail.length - 1]);
  const others = [...types.keys()].filter((name) => !roots.includes(name)).sort();
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
  for (const field of type.fields || type.inputFields || type.enumValues || []) list.append(...lines(field));
  return [head, list];
}

function lines(field) {
  const term = document.createElement("dt");
  term.append(field.name);
  if (field.type) term.append(": ", link(written(field.type), [...trail, named(field.type)]));
  if (field.isDeprecated) term.append(" (deprecated)");
  const text = document.createElement("dd");
  text.textContent = visible(field.description || "");
  return [term, text, ...(field.args || []).map(argument)];
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
  if (!text || !types.size) return visit([]);
  const has = ({ name }) => name.toLowerCase().includes(text);
  const found = [...types.values()].flatMap((type) => {
    const parts = (type.fields || type.inputFields || type.enumValues || []).filter(has);
    return [...(has(type) ? [type.name] : []), ...parts.map((part) => `${type.name}.${part.name}`)];
  });
  trail = [];
  $("path").replaceChildren(link("Schema", []), ` › ${found.length || "nothing"} found`);
  $("entry").replaceChildren(...found.map((name) => listed(name, [name.split(".")[0]])));
}

// All of the answer, not of the page.
function selectAnswer(event) {
  if (event.key !== "a" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  getSelection().selectAllChildren($("result"));
}

$("query").value = START;
// The cursor would be behind the text, and Run would begin the last operation.
$("query").setSelectionRange(0, 0);
edit($("query"));
edit($("variables"));
offer();
$("run").addEventListener("click", run);
$("stop").addEventListener("click", stop);
$("caller").addEventListener("submit", learn);
$("find").addEventListener("input", find);
$("operation").addEventListener("change", offer);
$("result").addEventListener("keydown", selectAnswer);
document.addEventListener("selectionchange", offer);
