// An unmodified Claude Code in a window of tmux, with a model that follows a script: the plugin is installed as a user would, and
// the idle window is woken. Prints figures. Usage: node claude_window.mjs BINARY [TIMES] [CLEARS]; needs tmux.
//
// CLAUDE names the program of Claude Code, if it is not the one of @anthropic-ai/claude-code beside this file.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { scriptedModel } from "./scripted_model.mjs";

const [binary, times = "20", clears = "20"] = process.argv.slice(2);
const packages = ["claude-code-linux-x64", "claude-code-linux-arm64"];
const found = packages.map((name) => path.resolve(`node_modules/@anthropic-ai/${name}/claude`)).find(existsSync);
const claude = process.env.CLAUDE ?? found;
if (!claude) {
  console.log("claude window: SKIPPED, there is no Claude Code here: just agents, or set CLAUDE");
  process.exit(0);
}
const STEP_MS = 30_000;

const home = mkdtempSync(path.join(tmpdir(), "reveille-window-"));
const state = path.join(home, "state");
const work = path.join(home, "work");
mkdirSync(work);
const seen = [];
let slow = () => {};

// Asked for something later, the model calls the tool of the plugin, which it has to load first.
const model = await scriptedModel(async ({ tools, said, results, before, user }) => {
  // What a person types may come with words of the agent's own behind it, in a message of their own.
  const all = before + said;
  const last = all.slice(Math.max(0, all.lastIndexOf('"role":"assistant"')));
  seen.push({ at: Date.now(), said: last, before, user });
  if (last.includes("TAKE YOUR TIME")) await new Promise((go) => { slow = go; });
  const isAsked = all.includes("in two seconds") && !(all + results.join()).includes("schedule_id");
  const create = tools.find((name) => /reveille.*create$/.test(name));
  if (isAsked && create) return { call: create, input: { message: "WAKE by the model", when: "in 2 seconds" } };
  if (isAsked && tools.includes("ToolSearch")) {
    return { call: "ToolSearch", input: { query: "select:mcp__plugin_reveille_reveille__create", max_results: 3 } };
  }
  return { say: "Fine." };
});

const environment = {
  PATH: `${path.dirname(claude)}:${process.env.PATH}`,
  HOME: home,
  TERM: "xterm-256color",
  LANG: "C.UTF-8",
  ANTHROPIC_BASE_URL: model.url,
  ANTHROPIC_API_KEY: "none-none-none-none-none",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  HTTP_PROXY: model.url,
  HTTPS_PROXY: model.url,
  NO_PROXY: "127.0.0.1,localhost",
  IS_SANDBOX: "1",
};
writeFileSync(
  path.join(home, ".claude.json"),
  JSON.stringify({
    hasCompletedOnboarding: true,
    theme: "dark",
    projects: { [work]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    bypassPermissionsModeAccepted: true,
  }),
);
mkdirSync(path.join(home, ".claude"));
writeFileSync(path.join(home, ".claude/settings.json"), JSON.stringify({ skipDangerousModePermissionPrompt: true }));

const run = (program, args) =>
  execFileSync(program, args, { env: environment, cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const eql = (query) => run(binary, ["eql", "--data-dir", state, query]);
const tmux = (...args) => run("tmux", ["-L", path.basename(home), ...args]);
const screen = () => tmux("capture-pane", "-p", "-t", "w");
const pause = (ms) => new Promise((go) => setTimeout(go, ms));
const type = async (text) => {
  tmux("send-keys", "-t", "w", "-l", text);
  await pause(250);
  tmux("send-keys", "-t", "w", "Enter");
};

async function until(what, isSo, ms = STEP_MS) {
  for (const end = Date.now() + ms; Date.now() < end; await pause(20)) {
    const is = await isSo();
    if (is) return is;
  }
  throw new Error(`it did not come to: ${what}\n${screen()}\n${eql(SESSIONS)}`);
}

const SESSIONS =
  "[{:psi.agent-session/sessions [:psi.agent-session/session-id :psi.agent-session/reception :psi.agent-session/inbox-count]}]";
// The session in which somebody listens.
const live = () => /session-id "(claude:[^"]+)" :psi.agent-session\/reception :host /.exec(eql(SESSIONS))?.[1];

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
  tmux("new-session", "-d", "-s", "w", "-x", "150", "-y", "50", `${claude} --dangerously-skip-permissions`);
  await until("the window is there", async () => {
    const shown = screen();
    if (/Do you want to use this API key/.test(shown)) {
      tmux("send-keys", "-t", "w", "Up");
      await pause(300);
      tmux("send-keys", "-t", "w", "Enter");
      await pause(1_000);
    }
    return /bypass permissions on/.test(shown);
  });
  return until("somebody waits in its session", live);
}

const daemon = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", state], { env: environment });
try {
  await new Promise((ready) => daemon.stdout.once("data", ready));
  const market = run(binary, ["plugin", "claude", "--data-dir", state]).trim();
  run(claude, ["plugin", "marketplace", "add", market]);
  run(claude, ["plugin", "install", "reveille@reveille"]);
  const session = await open();

  await type("Look at the build in two seconds.");
  await until("the model's own schedule wakes it", () => woken("WAKE by the model"));
  const own = woken("WAKE by the model");
  assert.ok(own.before.includes("schedule_id"), "in the conversation that asked for it");
  console.log("woken by what the model scheduled itself, in its own conversation");

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
  assert.ok(figures[0] <= 500 && figures[1] <= 2_000);
  const twice = late.map((_, time) => seen.filter(({ said }) => said.includes(`WAKE ${time}.`)).length);
  assert.ok(twice.every((count) => count === 1), `each prompt once: ${twice}`);

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

  // After /clear the process goes on with another conversation: nothing of the old one reaches it.
  const olds = [];
  for (let time = 0; time < Number(clears); time += 1) {
    const old = await until("somebody waits", live);
    olds.push(old);
    // Due at about the time at which the conversation changes.
    schedule(old, `OLD ${time}.`, 1_000);
    await pause(time * (1_200 / Number(clears)));
    await type("/clear");
    await until("another session is there", () => live() && live() !== old);
  }
  await pause(2_000);
  const prompts = olds.map((old, time) => {
    const asked = seen.filter(({ said, before }) => (before + said).includes(`OLD ${time}.`));
    return { asked: asked.length, elsewhere: asked.filter(({ user }) => !user.includes(old.slice("claude:".length))).length };
  });
  const elsewhere = prompts.filter((prompt) => prompt.elsewhere > 0).length;
  const inOld = prompts.filter(({ asked }) => asked > 0).length;
  const left = [...eql(SESSIONS).matchAll(/:psi.agent-session\/inbox-count (\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
  console.log(`${clears} × /clear: ${inOld} prompts in their own conversation before it, ${left} left in its inbox, ${elsewhere} elsewhere`);
  assert.equal(elsewhere, 0);
  assert.equal(inOld + left, Number(clears), "none is lost, none is doubled");

  // A window that is killed leaves nobody who listens, and what is due waits.
  const last = await until("somebody waits", live);
  const pid = Number(tmux("list-panes", "-t", "w", "-F", "#{pane_pid}"));
  process.kill(pid, "SIGKILL");
  await until("nobody listens", () => !live());
  schedule(last, "WAKE nobody.", 1_000);
  await until("it is left", () => /:nobody :psi.agent-session\/inbox-count 1/.test(eql(SESSIONS)));
  console.log("killed window: nobody is said to listen, and the prompt waits");
  if (model.elsewhere.size > 0) console.log(`wanted, and did not get: ${[...model.elsewhere].join(", ")}`);
} catch (error) {
  console.error(error.stack);
  process.exitCode = 1;
} finally {
  try { tmux("kill-server"); } catch { /* its last window has ended */ }
  const ended = new Promise((end) => daemon.once("exit", end));
  daemon.kill();
  await ended;
  model.close();
  // What the window has started may still write at the last moment.
  await pause(1_000);
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
}
process.exit();
