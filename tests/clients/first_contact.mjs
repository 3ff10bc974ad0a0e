// What a newcomer does, with unmodified agents and a model that follows a script: `reveille setup AGENT --yes`, a daemon, and an agent
// that is asked for something later and ends. Says of each whether it was scheduled, whether the model was asked when it was due,
// and what Reveille says of it. Usage: node first_contact.mjs URL TOKEN BINARY [CASE…]; `AGENTS_MODULES` names another node_modules.
//
// What windows do is in windows.mjs, and what an agent does that the daemon has begun itself in resume.mjs.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import readline from "node:readline";
import { first, node, pause, whole } from "./own_agents.mjs";
import { note } from "./results.mjs";
import { scriptedModel } from "./scripted_model.mjs";
import { agents as windowed } from "./window_agents.mjs";

const [, , binary, ...named] = process.argv.slice(2);
const DUE_S = 20;
const PATIENCE_MS = 90_000;
const asks = "Look at the build in two seconds, as WORD-7 says.";
const wake = "WAKE: look at the build.";

// How an agent is asked one thing, after which its process ends.
const once = {
  claude: {
    program: first("@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude"),
    argv: ["-p", asks, "--dangerously-skip-permissions"],
  },
  opencode: { program: first(".bin/opencode"), argv: ["run", asks] },
  codex: { program: first(".bin/codex"), argv: ["exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", asks] },
  qwen: { program: first(".bin/qwen"), argv: ["--yolo", "-p", asks] },
};

// A user's machine: a home with what the agent has there already, and a model.
async function machine(name) {
  const its = { ...windowed[name], ...once[name] };
  const home = mkdtempSync(path.join(tmpdir(), "reveille-first-"));
  const [state, work] = ["state", "work"].map((part) => path.join(home, part));
  mkdirSync(work);
  const model = await scriptedModel((request) => {
    if (request.tools.length === 0) return { say: "A title" };
    const all = whole(request) + request.results.join();
    if (all.includes(wake) || all.includes("schedule_id")) return { say: "Fine." };
    const create = request.tools.find((tool) => /reveille.*create$/.test(tool));
    if (name === "claude" && !create && request.tools.includes("ToolSearch") && !all.includes('"name":"ToolSearch"')) {
      return { call: "ToolSearch", input: { query: "select:mcp__plugin_reveille_reveille__create", max_results: 3 } };
    }
    const input = { message: wake, when: `in ${DUE_S} seconds` };
    if (create) return { call: create, input };
    if (request.tools.includes("tool_call")) return { call: "tool_call", input: { name: "mcp__reveille__create", arguments: input } };
    return { say: "There is no such tool." };
  });
  for (const [file, text] of Object.entries(its.files(model.url, work))) {
    mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
    writeFileSync(path.join(home, file), text);
  }
  const env = {
    PATH: [path.dirname(its.program), path.dirname(binary), first(".bin"), path.dirname(node), "/usr/local/bin:/usr/bin:/bin"].join(":"),
    HOME: home,
    LANG: "C.UTF-8",
    HTTP_PROXY: model.url,
    HTTPS_PROXY: model.url,
    NO_PROXY: "127.0.0.1,localhost",
    ...its.environment(model.url),
  };
  // Without waiting for it here: the model answers in this process.
  const run = (program, argv) =>
    new Promise((done, fail) => {
      const child = execFile(program, argv, { env, cwd: work, timeout: PATIENCE_MS }, (error, out, err) =>
        error ? fail(new Error(`${program} ${argv.join(" ")}: ${error.message}\n${out}\n${err}`)) : done(out));
      child.stdin.end();
    });
  let daemon;
  const serve = async () => {
    daemon = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", state, "--log", "warn"], { env, stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((ready) => readline.createInterface({ input: daemon.stdout }).once("line", ready));
  };
  const close = async () => {
    daemon?.kill();
    if (daemon && daemon.exitCode === null) await new Promise((end) => daemon.once("exit", end));
    model.close();
    await pause(500);
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  };
  const eql = (query) => run(binary, ["eql", "--data-dir", state, query]);
  // The requests to the model in which the prompt is what was said last. Its own call of the tool has the words, too.
  const told = () => model.seen.filter((turn) => turn.tools.length > 0 && isWake(its.said?.(turn) ?? turn.said));
  return { its, name, home, state, work, model, env, run, serve, eql, told, close };
}

const isWake = (said) => said.includes(wake) && /\[Reveille\] run |\[Scheduled in Reveille/.test(said);

const SCHEDULES = "[{:psi.scheduler/schedules [:psi.scheduler/status :psi.scheduler/fire-at :psi.scheduler/reason :psi.scheduler/label \
  {:psi.scheduler/runs [:reveille.run/state {:reveille.run/turn [:reveille.turn/outcome]}]}]}]";
const SESSIONS = "[{:psi.agent-session/sessions [:psi.agent-session/session-id :psi.agent-session/reception :psi.agent-session/inbox-count]}]";

async function until(what, isSo) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause(200)) {
    const is = await isSo();
    if (is) return is;
  }
  throw new Error(`it did not come to: ${typeof what === "string" ? what : await what()}`);
}

// What the model was told when it called `create`.
const answered = ({ model }) => model.seen.flatMap(({ results }) => results).find((result) => /schedule_id|created|error|failed to connect/.test(result)) ?? "nothing";

// Set up whole, by one command: what ends is woken in its own conversation.
async function setUpWhole(name) {
  const user = await machine(name);
  try {
    const { run, serve, eql, told, state, its, model, env } = user;
    await run(binary, ["setup", name, "--yes", "--data-dir", state]);
    const config = path.join(state, "reveille.toml");
    assert.ok(existsSync(config), `setup has written no [agents.${name}]`);
    // The user's own model is told to the agent as in the user's shell.
    const own = Object.keys(its.environment(model.url)).concat(["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"]);
    appendFileSync(config, `\n[agents.${name}.env]\n${own.map((key) => `${key} = ${JSON.stringify(env[key])}\n`).join("")}`);
    await serve();
    await run(its.program, its.argv);
    const before = await eql(SCHEDULES);
    assert.match(before, /status :pending/, `it was scheduled: ${answered(user)}\n${before}`);
    const due = Date.parse(/fire-at (?:#inst )?"([^"]+)"/.exec(before)[1]);
    assert.equal(told().length, 0, "nobody is woken early");
    await until(async () => `woken: ${await eql(SCHEDULES)} ${await eql(SESSIONS)}`, () => told().length > 0);
    const late = Date.now() - due;
    const said = whole(told()[0]);
    assert.ok(said.includes("WORD-7"), "it is the conversation in which it was asked");
    const shown = await until(() => eql(SCHEDULES), async () => {
      const now = await eql(SCHEDULES);
      return /outcome :completed/.test(now) && now;
    });
    assert.match(shown, /status :delivered/);
    await pause(2_000);
    const times = told().map((turn) => whole(turn).split(/\[Reveille\] run |\[Scheduled in Reveille/).length - 1);
    assert.ok(times.every((count) => count === 1), `once: ${times}`);
    return `scheduled, woken in its own conversation ${late} ms after the slot; Reveille says delivered, and completed`;
  } finally {
    await user.close();
  }
}

// With the plugin alone, nobody wakes what has ended: that is what Reveille says, to the model and to the operator.
async function withoutTheAgent(name) {
  const user = await machine(name);
  try {
    const { run, serve, eql, told, state, its } = user;
    await run(binary, ["setup", name, "--yes", "--data-dir", state]);
    rmSync(path.join(state, "reveille.toml"), { force: true });
    await serve();
    await run(its.program, its.argv);
    assert.match(await eql(SCHEDULES), /status :pending/);
    await until("it is due", async () => !/status :pending/.test(await eql(SCHEDULES)));
    await pause(5_000);
    assert.equal(told().length, 0);
    const [schedules, sessions] = [await eql(SCHEDULES), await eql(SESSIONS)];
    assert.ok(/state :left/.test(schedules) && !/delivered/.test(schedules), `it is not said to be delivered: ${schedules}`);
    assert.match(sessions, /reception :nobody :psi.agent-session\/inbox-count 1/);
    return "scheduled, not woken, and not said to be: it is left in the inbox, and nobody listens";
  } finally {
    await user.close();
  }
}

// Nobody has started a daemon.
async function withoutADaemon(name) {
  const user = await machine(name);
  try {
    const { run, told, state, its } = user;
    await run(binary, ["setup", name, "--yes", "--data-dir", state]);
    await run(its.program, its.argv);
    const answer = answered(user);
    assert.match(answer, /no daemon|reveille serve|failed to connect/i, `the model is told: ${answer}`);
    await pause((DUE_S + 3) * 1_000);
    assert.equal(told().length, 0);
    return `nobody is woken, and the model was told: ${answer.replaceAll("\n", " ").slice(0, 200)}`;
  } finally {
    await user.close();
  }
}

// Starts `opencode serve` for a user. Returns the process, its address, and how it is asked.
async function opencodeServer({ its, env, work }) {
  const server = spawn(its.program, ["serve", "--port", "0", "--print-logs"], { env, cwd: work, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const url = await new Promise((found) => {
    for (const output of [server.stdout, server.stderr]) {
      readline.createInterface({ input: output }).on("line", (line) => {
        const at = /listening on (http:\S+)/.exec(line);
        if (at) found(at[1]);
      });
    }
  });
  const post = (where, body) => fetch(`${url}${where}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return { server, url, post };
}

// `opencode serve` with an open session, which a program talks to.
async function served() {
  const user = await machine("opencode");
  let server;
  try {
    const { run, serve, eql, told, state } = user;
    await run(binary, ["setup", "opencode", "--yes", "--data-dir", state]);
    await serve();
    const its = await opencodeServer(user);
    server = its.server;
    const { post } = its;
    const { id } = await (await post("/session", {})).json();
    await (await post(`/session/${id}/message`, { parts: [{ type: "text", text: asks }] })).text();
    const before = await eql(SCHEDULES);
    assert.match(before, /status :pending/, `it was scheduled: ${answered(user)}\n${before}`);
    const due = Date.parse(/fire-at (?:#inst )?"([^"]+)"/.exec(before)[1]);
    await until(() => eql(SESSIONS), () => told().length > 0);
    const late = Date.now() - due;
    assert.ok(whole(told()[0]).includes("WORD-7"), "it is the conversation in which it was asked");
    await until(() => eql(SCHEDULES), async () => /status :delivered/.test(await eql(SCHEDULES)));
    return `scheduled, woken in its open conversation ${late} ms after the slot; Reveille says delivered`;
  } finally {
    if (server) try { process.kill(-server.pid); } catch { /* it has ended */ }
    await user.close();
  }
}

// A channel that a user has written: a program that gets the message on its input, and tells an agent. `said` begins a
// conversation, and returns the words of the program.
async function byOwnChannel(name, said) {
  const user = await machine(name);
  const close = [];
  try {
    const { serve, eql, told, state, home, env, work } = user;
    const words = await said(user, close);
    const script = path.join(home, "tell.mjs");
    writeFileSync(script, `let input = "";\nfor await (const part of process.stdin) input += part;\nconst { text } = JSON.parse(input).data;\n${words}\n`);
    mkdirSync(state, { recursive: true, mode: 0o700 });
    const table = Object.entries(env).map(([key, value]) => `${key} = ${JSON.stringify(value)}`).join(", ");
    writeFileSync(path.join(state, "reveille.toml"), `[channels.own]\ncommand = [${JSON.stringify(node)}, ${JSON.stringify(script)}]\nenv = { ${table} }\ncwd = ${JSON.stringify(work)}\n`, { mode: 0o600 });
    await serve();
    await eql('[(psi.agent-session/open {:session-id "main"})]');
    const before = told().length;
    const text = `[Reveille] run by hand. ${wake}`;
    await eql(`[(psi.scheduler/create {:kind :message :session-id "main" :message ${JSON.stringify(text)} :channel "own" :delay-ms 2000})]`);
    const due = Date.parse(/fire-at (?:#inst )?"([^"]+)"/.exec(await eql(SCHEDULES))[1]);
    await until(() => eql(SCHEDULES), () => told().length > before);
    const late = Date.now() - due;
    assert.ok(whole(told()[0]).includes("WORD-7"), "it is the conversation in which it was asked");
    const shown = await until(() => eql(SCHEDULES), async () => {
      const now = await eql(SCHEDULES);
      return !/status :(pending|queued)|in-flight/.test(now) && now;
    });
    assert.match(shown, /status :delivered/);
    await pause(2_000);
    assert.equal(told().length, 1, "once");
    return `scheduled, woken in its own conversation ${late} ms after the slot; Reveille says delivered: the program took it`;
  } finally {
    for (const end of close) end();
    await user.close();
  }
}

// The server of opencode is told by its own route, which answers at once.
async function toOpencode(user, close) {
  const { server, url, post } = await opencodeServer(user);
  close.push(() => process.kill(-server.pid));
  const { id } = await (await post("/session", {})).json();
  await (await post(`/session/${id}/message`, { parts: [{ type: "text", text: asks }] })).text();
  return `const told = await fetch("${url}/session/${id}/prompt_async", { method: "POST", headers: { "content-type": "application/json" },
  body: JSON.stringify({ parts: [{ type: "text", text }] }) });
process.exit(told.ok ? 0 : 1);`;
}

// Claude Code is begun in its conversation once more, and its turn has to end within the time that a channel has.
async function toClaude({ its, run }) {
  const out = await run(its.program, [...its.argv, "--output-format", "json"]);
  const { session_id: id } = JSON.parse(out);
  return `const { spawnSync } = await import("node:child_process");
const { status } = spawnSync(${JSON.stringify(its.program)}, ["-p", text, "--resume", "${id}", "--dangerously-skip-permissions"], { stdio: "ignore" });
process.exit(status ?? 1);`;
}

const cases = {
  "claude -p": [() => setUpWhole("claude"), once.claude.program, "claude"],
  "claude -p, the plugin alone": [() => withoutTheAgent("claude"), once.claude.program],
  "claude -p, no daemon": [() => withoutADaemon("claude"), once.claude.program],
  "opencode run": [() => setUpWhole("opencode"), once.opencode.program, "opencode"],
  "opencode serve": [served, once.opencode.program],
  "opencode serve, a channel of one's own": [() => byOwnChannel("opencode", toOpencode), once.opencode.program],
  "claude, a channel of one's own": [() => byOwnChannel("claude", toClaude), once.claude.program],
  "codex exec": [() => setUpWhole("codex"), once.codex.program, "codex"],
  "qwen -p": [() => setUpWhole("qwen"), once.qwen.program, "qwen"],
};

let failed = false;
for (const [name, [run, program, agent]] of Object.entries(cases)) {
  if (named.length > 0 && !named.includes(name)) continue;
  if (!program) {
    console.log(`${name}: SKIPPED, it is not here: just agents`);
    continue;
  }
  try {
    const said = await run();
    // What a user has who follows the page; the other cases are what happens without a part of it.
    if (agent) note(agent, "setup", /woken .* slot/.exec(said)[0], said);
    else console.log(`${name}: ${said}`);
  } catch (error) {
    console.error(`${name}: ${error.stack}`);
    failed = true;
  }
}
process.exit(failed ? 1 : 0);
