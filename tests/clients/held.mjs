// Real agents, unmodified, with a model that follows a script: a conversation that the daemon began is opened in a window of tmux, as
// its user would. What is due there waits, a turn in the window is not lost, and once the window has ended the conversation goes on.
// Usage: node held.mjs URL TOKEN BINARY [AGENT…]; needs tmux. `AGENTS_MODULES` names another node_modules. With --unguarded a
// command that lists nobody answers who has a conversation open: it is gone on with beside the window, and turns have to be lost.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { agents as own, configured, first, node, pause, serve, settled, variables, whole, withEach } from "./own_agents.mjs";
import { note } from "./results.mjs";
import { scriptedModel } from "./scripted_model.mjs";
import { agents as windowed } from "./window_agents.mjs";

const [, , binary, ...rest] = process.argv.slice(2);
const named = rest.filter((name) => name !== "--unguarded");
const isUnguarded = rest.includes("--unguarded");
// A daemon of Codex holds a conversation for a minute after its last window.
const PATIENCE_MS = 150_000;
const typed = "Remember WORD-9.";

// How a window is opened with a conversation, and what it shows when it is ready.
const windows = {
  claude: {
    program: first("@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude"),
    argv: (id) => ["--resume", id, "--dangerously-skip-permissions"],
    // Claude Code lists who has a conversation open.
    config: (program) => `holders = [${JSON.stringify(program)}, "agents", "--json"]`,
  },
  codex: { program: first(".bin/codex"), argv: (id) => ["resume", id] },
  opencode: { program: first(".bin/opencode"), argv: (id) => ["-s", id], isReady: /ctrl\+p commands/ },
  // It would wipe the conversation, see docs/AGENTS.md: a window with another one is opened.
  gemini: { program: first(".bin/gemini"), argv: () => [], isReady: /Type your message/, isOther: true, quit: "/quit" },
  qwen: { program: first(".bin/qwen"), argv: (id) => ["--resume", id], isReady: /Type your message/ },
};

async function hold(name) {
  const { program, argv, config = () => own[name].config, isOther, ...its } = windows[name];
  const { files = () => ({}), environment = () => ({}), question = {} } = windowed[name] ?? {};
  const isReady = its.isReady ?? windowed[name].isReady;
  const home = mkdtempSync(path.join(tmpdir(), "reveille-held-"));
  const work = path.join(home, "work");
  mkdirSync(work);
  const model = await scriptedModel((turn) => ({ say: `Heard ${whole(turn).match(/Remember (WORD-\d+)/g)?.at(-1)?.slice(9)}.` }));
  const holders = isUnguarded ? 'holders = ["/bin/echo", "[]"]' : config(program);
  writeFileSync(path.join(home, "agents.toml"), configured(name, model, home, 'idle = "1s"\nprobe = "1s"', holders));
  for (const [file, text] of Object.entries(files(model.url, work))) {
    mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
    if (!existsSync(path.join(home, file)) || name === "codex") writeFileSync(path.join(home, file), text);
  }
  const env = { ...variables(own[name], model, home), TERM: "xterm-256color", LANG: "C.UTF-8", ...environment(model.url) };
  // Nobody is asked before a window is ready.
  delete env.GEMINI_CLI_NO_RELAUNCH;
  const tmux = (...args) => execFileSync("tmux", ["-L", path.basename(home), ...args], { env, cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const screen = () => tmux("capture-pane", "-p", "-t", "w");
  const daemon = await serve(binary, home);
  const create = (text) =>
    daemon.eql(`[(psi.scheduler/create {:kind :message :session-id "s" :message ${JSON.stringify(text)} :delay-ms 1000})]`);
  const until = async (what, isSo, ms = PATIENCE_MS) => {
    for (const end = Date.now() + ms; Date.now() < end; await pause(50)) {
      const is = await isSo();
      if (is) return is;
    }
    throw new Error(`it did not come to: ${typeof what === "function" ? what() : what}\n${(() => { try { return screen(); } catch { return "no window"; } })()}`);
  };
  const asked = (text) => model.seen.some((turn) => turn.tools.length > 0 && whole(turn).includes(text));
  try {
    await daemon.eql(`[(psi.agent-session/open {:session-id "s" :address "${name}" :directory ${JSON.stringify(work)}})]`);
    await create("Remember WORD-1.");
    const { process: pid } = await settled(daemon, "Remember WORD-1.", PATIENCE_MS);
    await until("its process has ended", () => !existsSync(`/proc/${pid}`));
    const answer = await daemon.eql('[{[:psi.agent-session/session-id "s"] [:psi.agent-session/address]}]');
    const [, id] = new RegExp(`"${name}:([^"]+)"`).exec(answer);
    const script = [`${modulesBin(program)}`, ...argv(id)].join(" ");
    tmux("new-session", "-d", "-s", "w", "-x", "150", "-y", "50", script);
    await until("the window is ready", async () => {
      if (question.asks?.test(screen())) {
        if (!question.chosen.test(screen())) tmux("send-keys", "-t", "w", question.key);
        await pause(700);
        if (question.chosen.test(screen())) tmux("send-keys", "-t", "w", "Enter");
        await pause(700);
        return false;
      }
      return isReady.test(screen());
    });
    await pause(2_000);
    const type = async (text) => {
      tmux("send-keys", "-t", "w", "-l", text);
      await pause(1_000);
      tmux("send-keys", "-t", "w", "Enter");
      await until("the window has had a turn", () => asked(text));
    };
    if (!isOther) await type(typed);
    if (isUnguarded) return console.log(`${name}: ${await split({ create, daemon, model, tmux, type, until, asked })}`);
    await create("Remember WORD-2.");
    let shown;
    // Gemini's has to be a minute old before it is gone on with.
    await until(() => `it waits: ${JSON.stringify(shown)}`, async () => {
      const { schedules } = await daemon.graphql("{ schedules(last: 1) { nodes { status reason runs { error { message } } } } }");
      [shown] = schedules.nodes;
      assert.ok(["PENDING", "DUE", "QUEUED"].includes(shown.status), JSON.stringify(shown));
      return shown.reason === "HELD_ELSEWHERE";
    });
    await pause(5_000);
    assert.ok(!asked("WORD-2"), "nothing was said in it");
    if (its.quit) {
      // It outlives its terminal, and has the conversation open as long as it runs.
      tmux("send-keys", "-t", "w", "-l", its.quit);
      await pause(1_000);
      tmux("send-keys", "-t", "w", "Enter");
      await until("the window has ended", () => { try { return screen() === undefined; } catch { return true; } });
    } else {
      tmux("kill-server");
    }
    const closed = performance.now();
    await until("the conversation goes on", () => asked("WORD-2"));
    const late = Math.round(performance.now() - closed);
    const { outcome } = await settled(daemon, "Remember WORD-2.", PATIENCE_MS);
    const last = whole(model.seen.filter((turn) => turn.tools.length > 0 && whole(turn).includes("WORD-2")).at(-1));
    for (const text of ["Remember WORD-1.", "Remember WORD-2.", ...(isOther ? [] : [typed])]) {
      assert.equal(last.split(text).length - 1, 1, `${text} is there once: ${last.slice(-2_000)}`);
    }
    const said = `nothing was said while a window was open; the model was asked ${late} ms after its end (${outcome}), and no turn is lost`;
    note(name, "held", `waits; ${(late / 1_000).toFixed(1)} s after its end`, said);
  } finally {
    try { tmux("kill-server"); } catch { /* it has ended */ }
    await daemon.kill("SIGTERM");
    model.close();
    await pause(500);
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  }
}

// What becomes of a conversation with two holders: the daemon goes on with it beside the window, the person goes on in the window,
// and a third process looks at what there is.
async function split({ create, daemon, model, tmux, type, until, asked }) {
  await create("Remember WORD-2.");
  await settled(daemon, "Remember WORD-2.", PATIENCE_MS);
  await type("Remember WORD-10.");
  await pause(2_000);
  tmux("kill-server");
  await create("Remember WORD-3.");
  await until("the conversation goes on", () => asked("WORD-3"));
  await settled(daemon, "Remember WORD-3.", PATIENCE_MS);
  const last = whole(model.seen.filter((turn) => turn.tools.length > 0 && whole(turn).includes("WORD-3")).at(-1));
  const lost = ["Remember WORD-1.", typed, "Remember WORD-2.", "Remember WORD-10."].filter((text) => !last.includes(text));
  assert.ok(lost.length > 0, "without the guard a turn is lost, or the guard is of no use");
  return `without the guard the conversation split, and this was lost: ${lost.join(" ")}`;
}

// A script of node is run by the node that the agents have.
function modulesBin(program) {
  return /\/(gemini|qwen)$/.test(program) ? `${node} ${program}` : program;
}

const there = Object.keys(windows).filter((name) => windows[name].program && own[name].command.every(Boolean));
// The gate has no windows, and Codex alone takes minutes.
if (named.length === 0 && !windows.claude.program) {
  console.log("open windows: SKIPPED, there is no Claude Code here: just agents");
  process.exit(0);
}
// In Codex and opencode two holders do no harm.
const harmed = ["claude", "qwen"].filter((name) => there.includes(name));
await withEach(named.length > 0 ? named : isUnguarded ? harmed : there, hold);
