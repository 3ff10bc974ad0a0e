// An unmodified opencode or Codex in a window of tmux, with a model that follows a script: it is set up as a user would, and the idle
// window is woken. Prints figures. Usage: node windows.mjs BINARY opencode|codex [TIMES]; needs tmux.
//
// AGENT_PROGRAM names the agent's program, if it is not the one beside this file.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { scriptedModel } from "./scripted_model.mjs";

const [binary, agent, times = "20"] = process.argv.slice(2);
const program = process.env.AGENT_PROGRAM ?? [path.resolve(`node_modules/.bin/${agent}`)].find(existsSync);
if (!program) {
  console.log(`${agent} window: SKIPPED, there is no ${agent} here: just agents, or set AGENT_PROGRAM`);
  process.exit(0);
}
const STEP_MS = 30_000;

const home = mkdtempSync(path.join(tmpdir(), "reveille-window-"));
const state = path.join(home, "state");
const work = path.join(home, "work");
mkdirSync(work);
const seen = [];
let slow = () => {};

// Asked for something later, the model calls the tool. A title that opencode asks for has no tools.
const model = await scriptedModel(async ({ tools, said, results, before }) => {
  if (tools.length === 0) return { say: "A title" };
  seen.push({ at: Date.now(), said, before });
  if (said.includes("TAKE YOUR TIME")) await new Promise((go) => { slow = go; });
  const create = tools.find((name) => /reveille.*create$/.test(name));
  if (said.includes("in two seconds") && results.length === 0 && create) {
    return { call: create, input: { message: "WAKE by the model", when: "in 2 seconds" } };
  }
  return { say: "Fine." };
});

// How each is set up by its user, started, and told to begin another conversation.
const its = {
  opencode: {
    file: ".config/opencode/opencode.json",
    text: JSON.stringify({
      autoupdate: false,
      share: "disabled",
      model: "anthropic/claude-sonnet-4-5",
      small_model: "anthropic/claude-sonnet-4-5",
      provider: { anthropic: { options: { baseURL: `${model.url}/v1`, apiKey: "none" } } },
    }),
    environment: {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    },
    isReady: /Ask anything/,
  },
  codex: {
    file: ".codex/config.toml",
    text: `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
approval_policy = "never"
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${model.url}/v1"
env_key = "SCRIPTED_MODEL_KEY"
wire_api = "responses"
[projects."${work}"]
trust_level = "trusted"
`,
    environment: { SCRIPTED_MODEL_KEY: "none" },
    // Windows of its own daemon are woken at once, and others within ten seconds.
    daemon: ["app-server", "daemon"],
    isReady: /Ask Codex to do anything/,
    asks: /Trust all and continue/,
    trusts: /› 2\. Trust all and continue/,
  },
}[agent];

const environment = {
  PATH: `${path.dirname(program)}:${path.dirname(binary)}:${process.env.PATH}`,
  HOME: home,
  TERM: "xterm-256color",
  LANG: "C.UTF-8",
  HTTP_PROXY: model.url,
  HTTPS_PROXY: model.url,
  NO_PROXY: "127.0.0.1,localhost",
  ...its.environment,
};
// What a user has there already.
mkdirSync(path.dirname(path.join(home, its.file)), { recursive: true });
writeFileSync(path.join(home, its.file), its.text);

const run = (name, args) =>
  execFileSync(name, args, { env: environment, cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const eql = (query) => run(binary, ["eql", "--data-dir", state, query]);
const tmux = (...args) => run("tmux", ["-L", path.basename(home), ...args]);
const pause = (ms) => new Promise((go) => setTimeout(go, ms));
const screen = () => tmux("capture-pane", "-p", "-t", "w");
// A window that has just drawn itself may not listen yet.
const type = async (text) => {
  for (let time = 0; time < 5 && !screen().includes(text); time += 1) {
    tmux("send-keys", "-t", "w", "-l", text);
    await pause(1_000);
  }
  tmux("send-keys", "-t", "w", "Enter");
};

async function until(what, isSo, ms = STEP_MS) {
  for (const end = Date.now() + ms; Date.now() < end; await pause(20)) {
    const is = await isSo();
    if (is) return is;
  }
  const shown = (() => { try { return screen(); } catch { return "no window"; } })();
  throw new Error(`it did not come to: ${what}\n${shown}\n${eql(SESSIONS)}`);
}

const SESSIONS =
  "[{:psi.agent-session/sessions [:psi.agent-session/session-id :psi.agent-session/reception :psi.agent-session/inbox-count]}]";
// The sessions in which somebody listens.
const hosted = () =>
  [...eql(SESSIONS).matchAll(/session-id "([a-z]+:[^"]+)" :psi.agent-session\/reception :host /g)].map((found) => found[1]);
const live = () => hosted()[0];

function schedule(session, message, ms) {
  const made = eql(
    `[{(psi.scheduler/create {:kind :message :session-id "${session}" :message "${message}" :delay-ms ${ms}})
       [:psi.scheduler/fire-at]}]`,
  );
  return new Date(/fire-at #inst "([^"]+)"|fire-at "([^"]+)"/.exec(made).slice(1).find(Boolean)).getTime();
}

const woken = (message) => seen.find(({ said }) => said.includes("[Reveille] run") && said.includes(message));
const percentile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];

const daemon = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", state], { env: environment });
try {
  await new Promise((ready) => daemon.stdout.once("data", ready));
  run(binary, ["setup", agent, "--yes", "--data-dir", state]);
  if (its.daemon) run(program, [...its.daemon, "start"]);
  tmux("new-session", "-d", "-s", "w", "-x", "150", "-y", "50", program);
  if (its.asks) {
    // Once, whether our hooks may run.
    await until("it asks", () => its.asks.test(screen()), 60_000);
    await until("the answer is chosen", async () => {
      tmux("send-keys", "-t", "w", "Down");
      await pause(700);
      return its.trusts.test(screen());
    });
    tmux("send-keys", "-t", "w", "Enter");
    await until("it has its answer", () => !its.asks.test(screen()));
  }
  await until("the window is there", () => its.isReady.test(screen()), 60_000);
  await pause(2_000);

  await type("Look at the build in two seconds.");
  await until("the model's own schedule wakes it", () => woken("WAKE by the model"));
  assert.ok(woken("WAKE by the model").before.includes("schedule_id"), "in the conversation that asked for it");
  console.log("woken by what the model scheduled itself, in its own conversation");
  const session = await until("somebody waits in its session", live);

  const late = [];
  for (let time = 0; time < Number(times); time += 1) {
    await until("the next waiter waits", live);
    const due = schedule(session, `WAKE ${time}.`, 1_000);
    await until(`it is woken for the ${time}th time`, () => woken(`WAKE ${time}.`));
    late.push(woken(`WAKE ${time}.`).at - due);
    await until("the turn ends", live);
  }
  late.sort((one, two) => one - two);
  const figures = [0.5, 0.99].map((part) => percentile(late, part));
  console.log(`idle window: woken ${late.length} of ${times}, p50 ${figures[0]} ms, p99 ${figures[1]} ms, most ${late.at(-1)} ms`);
  assert.ok(late[0] >= 0, "never early");
  // A few are no measurement, and a machine of the gate may be busy.
  assert.ok(late.length < 20 || (figures[0] <= 500 && figures[1] <= 2_000));
  const twice = late.map((_, time) => seen.filter(({ said }) => said.includes(`WAKE ${time}.`)).length);
  assert.ok(twice.every((count) => count === 1), `each prompt once: ${twice}`);
  const counts = eql("[{:psi.scheduler/schedules [:psi.scheduler/delivered-count :psi.scheduler/failed-count]}]");
  assert.equal(counts.match(/delivered-count 1/g)?.length, Number(times) + 1, counts);
  assert.equal(counts.match(/failed-count [1-9]/g), null);

  // What comes due in a turn is handed over at its end.
  await type("TAKE YOUR TIME");
  await until("the turn has begun", () => seen.at(-1).said.includes("TAKE YOUR TIME"));
  schedule(session, "WAKE at the end of the turn.", 1_000);
  await pause(2_500);
  assert.equal(woken("WAKE at the end of the turn."), undefined, "not in the turn");
  const released = Date.now();
  slow();
  await until("it is handed over", () => woken("WAKE at the end of the turn."));
  console.log(`at the end of a turn: ${woken("WAKE at the end of the turn.").at - released} ms after it`);

  // Two conversations in one window: each is woken in its own.
  await until("somebody waits", live);
  await pause(500);
  await type("/new");
  await pause(1_500);
  await type("Hello from the second.");
  const second = await until("another session is there", () => hosted().find((id) => id !== session));
  schedule(session, "WAKE the first.", 1_000);
  schedule(second, "WAKE the second.", 1_000);
  const first = await until("the first is woken", () => woken("WAKE the first."));
  const other = await until("the second is woken", () => woken("WAKE the second."));
  assert.ok(first.before.includes("WAKE by the model") && !first.before.includes("Hello from the second."));
  assert.ok(other.before.includes("Hello from the second.") && !other.before.includes("WAKE by the model"));
  console.log("two conversations of one window: each is woken in its own");

  // A window that is killed leaves nobody who listens, and what is due waits.
  await pause(1_000);
  const pid = Number(tmux("list-panes", "-t", "w", "-F", "#{pane_pid}"));
  process.kill(pid, "SIGKILL");
  if (its.daemon) {
    schedule(session, "WAKE without a window.", 1_000);
    await until("its daemon goes on without a window", () => woken("WAKE without a window."));
    console.log("killed window: its own daemon goes on with the conversation");
    run(program, [...its.daemon, "stop"]);
  }
  await until("nobody listens", () => !live());
  schedule(session, "WAKE nobody.", 1_000);
  await until("it is left", () => /:nobody :psi.agent-session\/inbox-count 1/.test(eql(SESSIONS)));
  console.log("nobody there: nobody is said to listen, and the prompt waits");
  if (model.elsewhere.size > 0) console.log(`wanted, and did not get: ${[...model.elsewhere].join(", ")}`);
} catch (error) {
  console.error(error.stack);
  process.exitCode = 1;
} finally {
  try { tmux("kill-server"); } catch { /* its last window has ended */ }
  if (its.daemon) {
    try { run(program, [...its.daemon, "stop"]); } catch { /* it has ended */ }
  }
  const ended = new Promise((end) => daemon.once("exit", end));
  daemon.kill();
  await ended;
  model.close();
  // What the window has started may still write at the last moment.
  await pause(1_000);
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
}
process.exit();
