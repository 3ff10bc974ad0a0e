// An unmodified Claude Code, opencode, Codex, Qwen Code or Gemini CLI in a window of tmux, with a model that follows a script: it is
// set up as a user would, and the idle window is woken. Prints figures. Usage: node windows.mjs BINARY AGENT [TIMES] [CLEARS] [OWN]; needs tmux.
//
// CLEARS and OWN are how often Claude Code or Qwen Code goes on with another conversation, and how often Claude Code's own cron wakes it
// beside ours. Gemini CLI's window is not woken, and handed what is due at the end of a turn.
// AGENT_PROGRAM names the agent's program, if it is not the one beside this file.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { note } from "./results.mjs";
import { scriptedModel } from "./scripted_model.mjs";
import { agents } from "./window_agents.mjs";

const [binary, agent, times = "20", clears = "20", own = "0"] = process.argv.slice(2);
const its = agents[agent];
const program = process.env.AGENT_PROGRAM ?? its.program();
if (!program) {
  console.log(`${agent} window: SKIPPED, there is no ${agent} here: just agents, or set AGENT_PROGRAM`);
  process.exit(0);
}
const STEP_MS = 30_000;
// opencode, without a network, looks for its packages for more than a minute.
const START_MS = 180_000;

const home = mkdtempSync(path.join(tmpdir(), "reveille-window-"));
const state = path.join(home, "state");
const work = path.join(home, "work");
mkdirSync(work);
const seen = [];
let slow = () => {};

// Asked for something later, the model calls the tool. A title that opencode asks for has no tools.
const model = await scriptedModel(async (request) => {
  const { tools, before, user } = request;
  if (tools.length === 0) return { say: "A title" };
  const said = its.said?.(request) ?? request.said;
  seen.push({ at: Date.now(), said, before, user, schemas: request.schemas });
  if (said.includes("TAKE YOUR TIME")) await new Promise((go) => { slow = go; });
  const create = tools.find((name) => /reveille.*create$/.test(name));
  const call = its.callOfItsOwn?.(request) ?? its.call(request, create);
  if (!call) return { say: "Fine." };
  const input = { message: "WAKE by the model", when: "in 2 seconds" };
  return typeof call === "string" ? { call, input: its.input?.(input) ?? input } : call;
});

const environment = {
  PATH: `${path.dirname(program)}:${path.dirname(binary)}:${process.env.PATH}`,
  HOME: home,
  TERM: "xterm-256color",
  LANG: "C.UTF-8",
  HTTP_PROXY: model.url,
  HTTPS_PROXY: model.url,
  NO_PROXY: "127.0.0.1,localhost",
  ...its.environment(model.url),
};
// What a user has there already.
for (const [name, text] of Object.entries(its.files(model.url, work))) {
  mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
  writeFileSync(path.join(home, name), text);
}

// The model answers nobody while this waits, so nobody is sent to it.
const alone = { ...environment, HTTP_PROXY: "http://127.0.0.1:9", HTTPS_PROXY: "http://127.0.0.1:9" };
const run = (name, args) =>
  execFileSync(name, args, { env: alone, cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const eql = (query) => run(binary, ["eql", "--data-dir", state, query]);
const tmux = (...args) => run("tmux", ["-L", path.basename(home), ...args]);
const key = (name) => tmux("send-keys", "-t", "w", name);
const pause = (ms) => new Promise((go) => setTimeout(go, ms));
const screen = () => tmux("capture-pane", "-p", "-t", "w");
const shown = (text) => screen().split(text).length;

// A window that has just drawn itself may not listen yet, or forget what it was told: the text has to be there, and to stay. Keys that
// come with a text at once are taken for a part of it.
async function type(text, stays = 1_000) {
  const before = shown(text);
  for (let time = 0; time < 5 && shown(text) <= before; time += 1) {
    tmux("send-keys", "-t", "w", "-l", text);
    for (const end = Date.now() + 1_000; Date.now() < end && shown(text) <= before; await pause(20));
    await pause(stays);
  }
  key("Enter");
}

async function until(what, isSo, ms = STEP_MS) {
  for (const end = Date.now() + ms; Date.now() < end; await pause(20)) {
    const is = await isSo();
    if (is) return is;
  }
  const window = (() => { try { return screen(); } catch { return "no window"; } })();
  throw new Error(`it did not come to: ${what}\n${window}\n${eql(SESSIONS)}`);
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

async function open() {
  tmux("new-session", "-d", "-s", "w", "-x", "150", "-y", "50", [program, ...(its.argv ?? [])].join(" "));
  const { asks, key: arrow, chosen, isSure } = its.question ?? {};
  // Its window may be drawn before it asks.
  if (isSure) await until("it asks", () => asks.test(screen()), START_MS);
  await until("the window is there", async () => {
    if (!asks?.test(screen())) return its.isReady.test(screen());
    await until("the answer is chosen", async () => {
      if (chosen.test(screen())) return true;
      key(arrow);
      await pause(700);
      return chosen.test(screen());
    });
    key("Enter");
    await until("it has its answer", () => !asks.test(screen()));
    return false;
  }, START_MS);
  await pause(2_000);
  // One conversation is waited for before anybody has written in it.
  if (its.conversations === "one" && !its.isAsleep) await until("somebody waits in its session", live);
}

// What the model has asked for is left, and the end of the next turn hands it over; so is what comes due in a turn.
async function handsOverAtTheEndOfATurn() {
  await type("Look at the build in two seconds.");
  const left = () => /session-id "([^"]+)" :psi.agent-session\/reception :nobody :psi.agent-session\/inbox-count 1/.exec(eql(SESSIONS));
  const [, session] = await until("what the model scheduled is left", left);
  await type("Hello again.");
  await until("it is handed over", () => woken("WAKE by the model"));
  assert.ok(woken("WAKE by the model").before.includes("schedule_id"), "in the conversation that asked for it");
  note(agent, "turn", "handed over at its end", "handed over at the end of the next turn, in its own conversation");
  note(agent, "live", "no door; left until the next turn's end");
  await until("nothing is left", () => !left());
  await waitsForTheEndOfATurn(session);
  const counts = eql("[{:psi.scheduler/schedules [:psi.scheduler/delivered-count]}]");
  assert.equal(counts.match(/delivered-count 1/g)?.length, 2, counts);
}

async function wakesWhatTheModelScheduled() {
  await type("Look at the build in two seconds.");
  await until("the model's own schedule wakes it", () => woken("WAKE by the model"));
  assert.ok(woken("WAKE by the model").before.includes("schedule_id"), "in the conversation that asked for it");
  console.log("woken by what the model scheduled itself, in its own conversation");
  return until("somebody waits in its session", live);
}

async function wakesTheIdleWindow(session) {
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
  const said = `woken ${late.length} of ${times}, p50 ${figures[0]} ms, p99 ${figures[1]} ms`;
  note(agent, "live", said, `idle window: ${said}, most ${late.at(-1)} ms`);
  assert.ok(late[0] >= 0, "never early");
  // A few are no measurement, and a machine of the gate may be busy.
  assert.ok(late.length < 20 || (figures[0] <= 500 && figures[1] <= 2_000));
  const twice = late.map((_, time) => seen.filter(({ said }) => said.includes(`WAKE ${time}.`)).length);
  assert.ok(twice.every((count) => count === 1), `each prompt once: ${twice}`);
  const counts = eql("[{:psi.scheduler/schedules [:psi.scheduler/delivered-count :psi.scheduler/failed-count]}]");
  assert.equal(counts.match(/delivered-count 1/g)?.length, Number(times) + 1, counts);
  assert.equal(counts.match(/failed-count [1-9]/g), null);
}

async function waitsForTheEndOfATurn(session) {
  await type("TAKE YOUR TIME");
  await until("the turn has begun", () => seen.at(-1).said.includes("TAKE YOUR TIME"));
  schedule(session, "WAKE at the end of the turn.", 1_000);
  await pause(2_500);
  assert.equal(woken("WAKE at the end of the turn."), undefined, "not in the turn");
  const released = Date.now();
  slow();
  await until("it is handed over", () => woken("WAKE at the end of the turn."));
  const after = woken("WAKE at the end of the turn.").at - released;
  note(agent, "turn", `${after} ms after its end`, `at the end of a turn: ${after} ms after it`);
}

// What Claude Code schedules by itself is shown, read-only, from the end of the turn on, and no longer than Claude Code names it.
async function showsItsOwnSchedules() {
  const shownOwn = () => eql("[{:psi.agent-session/sessions [:reveille.session/agent-schedules]}]");
  const due = new Date(Date.now() + 40 * 3_600_000);
  const [day, month] = [due.getDate(), due.getMonth() + 1];
  await type(`OWN CRON 99 at 7 3 ${day} ${month} *`);
  await until("its own schedule is shown", () => shownOwn().includes(`"7 3 ${day} ${month} *"`));
  assert.ok(shownOwn().includes("FIRED 99."), shownOwn());
  console.log("its own schedule is shown, with its time and its prompt");
  await until("somebody waits", live);
}

// A monitor of ours, by Claude's name for one: it wakes the window when a file has changed, once.
async function wakesByAMonitor() {
  writeFileSync(path.join(work, "build.txt"), "red");
  await type("WATCH THE FILE");
  const checked = () => /check-count 1\b/.test(eql("[{:reveille/watches [:reveille.watch/check-count]}]"));
  await until("its first check has been made", checked);
  await until("somebody waits", live);
  writeFileSync(path.join(work, "build.txt"), "green");
  const changed = performance.now();
  const told = () => seen.filter(({ said }) => said.includes("the build") && said.includes("green"));
  await until("the window is woken", () => told().length > 0);
  console.log(`a monitor of a file: woken ${Math.round(performance.now() - changed)} ms after the change`);
  await until("the turn ends", live);
  await pause(2_000);
  assert.equal(new Set(told().map(({ before }) => before)).size, 1, "once");
}

// The agent's own one-shot, for a minute to come: how late the model's request is.
async function measuresItsOwnCron() {
  const late = [];
  for (let time = 0; time < Number(own); time += 1) {
    await until("somebody waits", live);
    // Claude Code may be early for those of the hour and the half hour.
    const due = new Date(Math.ceil((Date.now() + 10_000) / 60_000) * 60_000);
    if (due.getMinutes() % 30 === 0) due.setMinutes(due.getMinutes() + 1);
    const [minute, hour, day, month] = [due.getMinutes(), due.getHours(), due.getDate(), due.getMonth() + 1];
    await type(`OWN CRON ${time} at ${minute} ${hour} ${day} ${month} *`);
    const fired = () => seen.find(({ said }) => said.includes(`FIRED ${time}.`) && !said.includes("CronCreate"));
    await until("its own cron fires", fired, 180_000);
    late.push(fired().at - due.getTime());
  }
  late.sort((one, two) => one - two);
  if (late.length > 0) console.log(`its own cron: woken ${late.length} of ${own}, p50 ${percentile(late, 0.5)} ms, most ${late.at(-1)} ms`);
}

// Trap 11: the schemas of Claude's own tools change often. Whatever a model may say to them, it may say to ours of the same name, and
// ours want nothing more.
async function comparesItsOwnTools() {
  await until("somebody waits", live);
  await type("LOAD YOUR TOOLS");
  const loaded = await until("they are loaded", () => seen.find(({ schemas }) => its.ownTools.every((name) => schemas?.has(name))));
  const { tools } = JSON.parse(run(binary, ["schema", "tools"]));
  for (const name of its.ownTools) {
    const [theirs, ours] = [loaded.schemas.get(name), tools.find((tool) => tool.name === name).inputSchema];
    const missing = Object.keys(theirs.properties ?? {}).filter((key) => !(key in ours.properties));
    const beyond = (ours.required ?? []).filter((key) => !(theirs.required ?? []).includes(key));
    // Reveille opens no socket for a model, and says so.
    assert.deepEqual([missing, beyond], [name === "Monitor" ? ["ws"] : [], []], `${name}: what ours lacks, and what ours wants beyond ${JSON.stringify(theirs)}`);
  }
  console.log(`trap 11: ${its.ownTools.join(", ")} of Claude Code have no argument that ours of the same name have not, but for Monitor's ws`);
}

// Two conversations in one window: each is woken in its own.
async function wakesEachConversation(session) {
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
  return session;
}

// After /clear the process goes on with another conversation: nothing of the old one reaches it.
async function keepsWhatWasCleared() {
  const olds = [];
  for (let time = 0; time < Number(clears); time += 1) {
    const old = await until("somebody waits", live);
    olds.push(old);
    // Due at about the time at which the conversation changes.
    schedule(old, `OLD ${time}.`, 1_000);
    await pause(time * (1_200 / Number(clears)));
    const isOther = () => live() && live() !== old;
    await type("/clear", 250);
    // A window that begins a turn at this moment does not take a command.
    await until("another session is there", isOther, 5_000).catch(() => type("/clear", 250));
    await until("another session is there", isOther);
  }
  const asked = (time) => seen.filter(({ said, before }) => (before + said).includes(`OLD ${time}.`));
  const inbox = () =>
    [...eql(SESSIONS).matchAll(/:psi.agent-session\/inbox-count (\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
  const shownInOld = () => olds.filter((_, time) => asked(time).length > 0).length;
  // One that was on its way is called back, and left a while later.
  await until("each is shown or left", () => shownInOld() + inbox() === Number(clears));
  await pause(2_000);
  const isElsewhere = its.isElsewhere ?? (({ old, requests }) => requests.some(({ user }) => !user.includes(old.slice("claude:".length))));
  const elsewhere = olds.filter((old, time) => isElsewhere({ old, requests: asked(time), text: `OLD ${time}.`, home })).length;
  const [inOld, left] = [shownInOld(), inbox()];
  console.log(`${clears} × /clear: ${inOld} prompts in their own conversation before it, ${left} left in its inbox, ${elsewhere} elsewhere`);
  assert.equal(elsewhere, 0);
  assert.equal(inOld + left, Number(clears), "none is lost, none is doubled");
  return until("somebody waits", live);
}

// A window that is killed leaves nobody who listens, and what is due waits.
async function leavesWhatNobodyHears(session) {
  await pause(1_000);
  process.kill(Number(tmux("list-panes", "-t", "w", "-F", "#{pane_pid}")), "SIGKILL");
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
}

const config = path.join(home, "reveille.toml");
writeFileSync(config, `[primitives]\nwatchers = true\n[tools.builtin]\nfiles = "${work}"\n`);
const daemon = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", state, "--config", config], { env: environment });
try {
  await new Promise((ready) => daemon.stdout.once("data", ready));
  if (its.setUp) its.setUp({ run, binary, program, state });
  else run(binary, ["setup", agent, "--yes", "--data-dir", state]);
  if (its.daemon) run(program, [...its.daemon, "start"]);
  await open();
  if (its.isAsleep) {
    await handsOverAtTheEndOfATurn();
  } else {
    const session = await wakesWhatTheModelScheduled();
    await wakesTheIdleWindow(session);
    if (its.callOfItsOwn) {
      await showsItsOwnSchedules();
      await wakesByAMonitor();
      await comparesItsOwnTools();
    }
    await measuresItsOwnCron();
    await waitsForTheEndOfATurn(session);
    const last = await (its.conversations === "one" ? keepsWhatWasCleared() : wakesEachConversation(session));
    await leavesWhatNobodyHears(last);
  }
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
