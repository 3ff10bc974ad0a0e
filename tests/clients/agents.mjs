// Real agents, unmodified, with a model that follows a script: each schedules something through `reveille mcp` and is woken, and
// then by a watch on a tool of its harness.
// Usage: node agents.mjs URL TOKEN BINARY [AGENT…]
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { acpHost } from "./acp_host.mjs";
import { scriptedModel } from "./scripted_model.mjs";

const [url, token, binary, ...named] = process.argv.slice(2);
const modules = path.resolve("node_modules");
const PATIENCE_MS = 60_000;
const WISH = "Have a look at the build in two seconds.";
const LATER = "Check whether the build of release 1.4 has finished, and say so.";

// How each agent is started, and told where its model is. Nothing of the person's own is in their environment.
const agents = {
  claude: {
    command: [process.execPath, `${modules}/@zed-industries/claude-agent-acp/dist/index.js`],
    env: (model) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
  },
  opencode: {
    command: [`${modules}/.bin/opencode`, "acp"],
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
    command: [`${modules}/.bin/codex-acp`],
    env: (model, home) => ({ SCRIPTED_MODEL_KEY: "none", CODEX_HOME: codexHome(model, home) }),
  },
};

// Codex takes its providers from a file alone.
function codexHome(model, home) {
  writeFileSync(
    path.join(home, "config.toml"),
    `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
env_key = "SCRIPTED_MODEL_KEY"
wire_api = "responses"
`,
  );
  return home;
}

// Asked for something later, the model calls the tool as models do, with a field that does not exist, and then as the error
// has it. The tool goes by the name that the agent gives it.
function answer({ tools, said, results }) {
  const create = tools.find((name) => /reveille.*create$/.test(name));
  if (results.length > 0) {
    const result = json(results.at(-1));
    return result.error ? { call: create, input: result.error.example } : { say: `Asked for: ${result.schedule_id}` };
  }
  if (!said.includes(WISH) || create === undefined) return { say: "Fine." };
  return { call: create, input: { message: LATER, when: "in 2 seconds", timezone: "UTC" } };
}

// What a tool answered; agents may put words of their own above it.
function json(result) {
  return JSON.parse(result.slice(result.indexOf("{")));
}

async function wake(name, { command, env }) {
  const home = mkdtempSync(path.join(tmpdir(), "reveille-agent-"));
  const model = await scriptedModel(answer);
  const started = performance.now();
  let [host, step, build] = [undefined, "it starts", "running"];
  const late = setTimeout(() => fail(name, new Error(`${PATIENCE_MS} ms have passed, and not: ${step}`)), PATIENCE_MS);
  try {
    host = await acpHost({
      reveille: { binary, url, token },
      session: name,
      command,
      tools: { "build.state": () => build },
      cwd: home,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        HTTP_PROXY: model.url,
        HTTPS_PROXY: model.url,
        NO_PROXY: "127.0.0.1",
        ...env(model.url, home),
      },
    });
    step = "the turn in which it is asked ends";
    await host.say(WISH);
    const told = model.seen.flatMap(({ results }) => results.slice(-1));
    assert.equal(told.length, 2, `the tool was called twice: ${told}`);
    assert.equal(json(told[0]).error.kind, "unknown_field");
    const { created, schedule_id: id, next } = json(told[1]);
    assert.equal(created, true);

    // It is in the daemon, as this session's, word for word.
    step = "the daemon says what it has";
    const asked = `[{[:psi.scheduler/schedule-id ${JSON.stringify(id)}]
                     [:psi.scheduler/message :psi.scheduler/origin-session-id :psi.scheduler/fire-at]}]`;
    const [schedule] = Object.values(await host.eql(asked));
    assert.equal(schedule.message, LATER);
    assert.equal(schedule["origin-session-id"], name);
    // The tool tells instants to the second, unless somebody wrote a fraction.
    const second = (at) => Math.floor(new Date(at).getTime() / 1000);
    assert.equal(second(schedule["fire-at"]), second(next[0]));

    // It comes to the model as a turn of the conversation in which it was asked for, and not before its time.
    step = "the model is woken";
    const woken = await model.asked(({ said }) => said.includes(LATER));
    assert.ok(Date.now() >= new Date(next[0]).getTime(), "never early");
    assert.ok(woken.before.includes(WISH) && woken.before.includes(id), "the same conversation");
    step = "the daemon has the receipt";
    await host.event((event) => event.kind === "run-delivered" && event["schedule-id"] === id);
    step = "the turn that was begun for it ends";
    assert.equal((await host.woken).stopReason, "end_turn");
    const woke = Math.round(performance.now() - started);

    // What the harness's own tool says is looked at until it has changed, and the model is told of that once.
    step = "the watch has looked once";
    const { watcher_id: watch } = await call(host, "watch_start", { name: "build.state", interval: 5 });
    while ((await call(host, "watch_status", { watcher_id: watch })).check_count < 1) await pause(200);
    build = "done";
    step = "the watch has woken the model";
    const seen = ({ said }) => said.includes(`[WATCHER UPDATE] watcher_id=${watch}`);
    await model.asked(seen);
    step = "the watch has looked twice more";
    while ((await call(host, "watch_status", { watcher_id: watch })).check_count < 4) await pause(200);
    assert.equal(model.seen.filter(seen).length, 1, "told once");
    console.log(`${name}: woken, ${woke} ms after its start, and once by a watch on its harness's tool`);
    if (model.elsewhere.size > 0) console.log(`${name} wanted, and did not get: ${[...model.elsewhere].join(", ")}`);
  } finally {
    clearTimeout(late);
    await host?.close();
    model.close();
    // A child that was killed may leave a file behind at the last moment.
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
}

// Calls a tool in the agent's session, with that session's token.
async function call({ token: own }, tool, args) {
  const headers = { authorization: `Bearer ${own}`, "content-type": "application/json" };
  const reply = await fetch(`${url}/tools/${tool}`, { method: "POST", headers, body: JSON.stringify(args) });
  const answer = await reply.json();
  assert.ok(reply.ok, JSON.stringify(answer));
  return answer;
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function fail(name, error) {
  console.error(`${name}: ${error.stack}`);
  process.exit(1);
}

// An agent that is not named is run where it is installed; the one in package.json is installed.
const there = Object.keys(agents).filter((name) => name === "claude" || existsSync(agents[name].command[0]));
for (const name of named.length > 0 ? named : there) {
  await wake(name, agents[name]).catch((error) => fail(name, error));
}
process.exit(0);
