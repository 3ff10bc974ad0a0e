// The query page. It keeps everything in memory, asks this server only, and is all there is: no library, no storage.
"use strict";

const $ = (id) => document.getElementById(id);
const START = `# The schedules that come next, and the engine's word on itself.
query Next {
  pendingCount
  schedules(first: 10, filter: {status: [PENDING, QUEUED]}) {
    totalCount
    edges {
      cursor
      node { scheduleId kind label status fireAt reason }
    }
    pageInfo { hasNextPage endCursor }
  }
}

# Every decision as it is made, with its reason.
subscription Events {
  events { cursor at kind reason scheduleId detail }
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
const asked = [];

function headers(accept) {
  const all = { "content-type": "application/json", accept };
  const [token, session] = [$("token").value.trim(), $("session").value.trim()];
  if (token) all.authorization = `Bearer ${token}`;
  if (session) all["reveille-session"] = session;
  return all;
}

function say(element, text, kind = "") {
  element.textContent = text;
  element.className = kind;
}

// The operations of a document, without comments and strings.
function operations(text) {
  const bare = text.replace(/"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|#.*/g, " ");
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

function offer() {
  const select = $("operation");
  const names = operations($("query").value).map((each) => each.name).filter(Boolean);
  const before = select.value;
  select.replaceChildren(new Option(names.length > 1 ? "the one at the cursor" : "the only one", ""), ...names.map((name) => new Option(name, name)));
  select.value = names.includes(before) ? before : "";
}

async function run() {
  stop();
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
  $("result").textContent = "";
  say($("state"), "asking…");
  const began = performance.now();
  try {
    if (operation && operation.kind === "subscription") {
      await follow(request, controller.signal);
      say($("state"), "ended");
    } else {
      const accept = "application/graphql-response+json, application/json;q=0.9";
      const response = await fetch("/graphql", { method: "POST", headers: headers(accept), body: JSON.stringify(request), signal: controller.signal });
      const text = await response.text();
      show(text, response.ok, `${response.status} in ${Math.round(performance.now() - began)} ms`);
    }
  } catch (error) {
    if (error.name === "AbortError") say($("state"), "stopped");
    else say($("state"), `no answer: ${error.message}`, "error");
  } finally {
    if (running === controller) {
      running = null;
      $("stop").disabled = true;
    }
  }
}

function show(text, isFine, state) {
  let errors = !isFine;
  try {
    const value = JSON.parse(text);
    errors = errors || Boolean(value.errors);
    text = JSON.stringify(value, null, 2);
  } catch {
    // Not JSON: as it is.
  }
  $("result").textContent = text;
  say($("state"), state, errors ? "error" : "good");
}

// A subscription as an event stream: answers stand one above the other, the newest first.
async function follow(request, signal) {
  const response = await fetch("/graphql", { method: "POST", headers: headers("text/event-stream"), body: JSON.stringify(request), signal });
  if (!response.ok || !response.body) {
    show(await response.text(), false, `${response.status}`);
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const results = [];
  let rest = "";
  for (let count = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n");
      if (event.startsWith("event: complete")) return;
      if (!data) continue;
      results.unshift(JSON.stringify(JSON.parse(data), null, 2));
      results.length = Math.min(results.length, RESULTS_MAX);
      count += 1;
      $("result").textContent = results.join("\n");
      say($("state"), `following, ${count} so far`, "good");
    }
  }
}

function stop() {
  if (running) running.abort();
}

function remember(request) {
  asked.unshift({ at: new Date(), ...request });
  asked.length = Math.min(asked.length, HISTORY_MAX);
  $("history").replaceChildren(...asked.map((each) => {
    const button = document.createElement("button");
    const head = (each.operationName || each.query.replace(/#.*/g, "").replace(/\s+/g, " ").trim()).slice(0, 60);
    button.type = "button";
    button.textContent = `${each.at.toLocaleTimeString()}  ${head}`;
    button.addEventListener("click", () => {
      $("query").value = each.query;
      $("variables").value = JSON.stringify(each.variables, null, 2);
      offer();
      $("operation").value = each.operationName || "";
    });
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
}

// A textarea that indents. Escape lets the next Tab leave it, so that nobody is caught in it.
function edit(area) {
  let leaves = false;
  area.addEventListener("keydown", (event) => {
    const { selectionStart: start, selectionEnd: end, value } = area;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    } else if (event.key === "Tab" && !leaves) {
      event.preventDefault();
      const from = value.lastIndexOf("\n", start - 1) + 1;
      const lines = value.slice(from, end);
      if (event.shiftKey) area.setRangeText(lines.replace(/^ {1,2}/gm, ""), from, end, "select");
      else if (start !== end) area.setRangeText(lines.replace(/^/gm, "  "), from, end, "select");
      else area.setRangeText("  ", start, end, "end");
    } else if (event.key === "Enter") {
      event.preventDefault();
      const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
      const deeper = /[{([]\s*$/.test(line) ? "  " : "";
      area.setRangeText(`\n${line.match(/^ */)[0]}${deeper}`, start, end, "end");
    }
    leaves = event.key === "Escape";
    offer();
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
    if (!answer.data) throw new Error(answer.errors ? answer.errors[0].message : `status ${response.status}`);
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
  button.textContent = text;
  button.addEventListener("click", () => visit(to));
  return button;
}

function visit(to) {
  trail = to;
  const parts = [link("Schema", []), ...trail.flatMap((name, at) => [" › ", link(name, trail.slice(0, at + 1))])];
  $("path").replaceChildren(...parts);
  const type = types.get(trail[trail.length - 1]);
  $("entry").replaceChildren(...(type ? described(type) : listed([...roots, ...[...types.keys()].filter((name) => !roots.includes(name)).sort()])));
}

function listed(names) {
  return names.map((name) => {
    const line = document.createElement("div");
    line.append(link(name, [name]));
    return line;
  });
}

function described(type) {
  const head = document.createElement("p");
  head.textContent = type.description || "";
  const list = document.createElement("dl");
  for (const field of type.fields || type.inputFields || []) list.append(...lines(field));
  for (const value of type.enumValues || []) list.append(...lines({ ...value, args: [] }));
  return [head, list];
}

function lines(field) {
  const term = document.createElement("dt");
  term.append(field.name);
  const args = (field.args || []).map((arg) => `${arg.name}: ${written(arg.type)}`).join(", ");
  if (args) term.append(`(${args})`);
  if (field.type) term.append(": ", link(written(field.type), [...trail, named(field.type)]));
  if (field.isDeprecated) term.append(" (deprecated)");
  const text = document.createElement("dd");
  text.textContent = field.description || "";
  return [term, text];
}

function find() {
  const text = $("find").value.trim().toLowerCase();
  if (!text) return visit([]);
  const has = (type) => type.name.toLowerCase().includes(text) || (type.fields || type.inputFields || []).some((field) => field.name.toLowerCase().includes(text));
  $("entry").replaceChildren(...listed([...types.values()].filter(has).map((type) => type.name)));
}

$("query").value = START;
edit($("query"));
edit($("variables"));
offer();
$("run").addEventListener("click", run);
$("stop").addEventListener("click", stop);
$("caller").addEventListener("submit", learn);
$("find").addEventListener("input", find);
