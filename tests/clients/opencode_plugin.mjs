// The plugin for opencode as the binary writes it, in a process that stands for opencode: what it tells the daemon, and what it puts
// into which conversation. Usage: node opencode_plugin.mjs BINARY
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const [binary, as] = process.argv.slice(2);
const home = as === undefined ? mkdtempSync(path.join(tmpdir(), "reveille-plugin-")) : process.env.HOME;
const state = path.join(home, "state");
const pause = (ms) => new Promise((go) => setTimeout(go, ms));
const eql = (query) => execFileSync(binary, ["eql", "--data-dir", state, query], { encoding: "utf8" });
const SESSIONS =
  "[{:psi.agent-session/sessions [:psi.agent-session/session-id :psi.agent-session/reception :psi.agent-session/inbox-count]}]";

async function until(what, isSo) {
  for (const end = Date.now() + 20_000; Date.now() < end; await pause(50)) {
    const is = await isSo();
    if (is) return is;
  }
  throw new Error(`it did not come to: ${what}\n${eql(SESSIONS)}`);
}

function schedule(id, message) {
  eql(`[(psi.scheduler/create {:kind :message :session-id "opencode:${id}" :message "${message}" :delay-ms 1000})]`);
}

// What opencode gives its plugins, as far as ours uses it.
const prompts = [];
let isAccepting = true;
const client = {
  session: {
    get: async ({ path: { id } }) => ({ data: { id, parentID: id.startsWith("ses_sub") ? "ses_1" : undefined } }),
    promptAsync: async (prompt) => {
      prompts.push(prompt);
      return isAccepting ? {} : { error: { name: "busy" } };
    },
  },
};
const said = (plugin, id, text) =>
  plugin["chat.message"]({ sessionID: id, agent: "plan", model: { providerID: "p", modelID: "m" } }, { parts: [{ type: "text", text }] });
const idle = (plugin, id) => plugin.event({ event: { type: "session.idle", properties: { sessionID: id } } });
const session = (id) => new RegExp(`session-id "opencode:${id}"[^}]*`).exec(eql(SESSIONS))?.[0] ?? "";
const load = async (folder) => (await import(path.join(folder, "reveille.js"))).Reveille({ client, directory: home });

async function inOpencode() {
  const folder = path.join(home, "plugin");
  execFileSync(binary, ["plugin", "opencode", "--to", folder, "--data-dir", state]);
  writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
  const plugin = await load(folder);

  const call = { args: { message: "m" } };
  await plugin["tool.execute.before"]({ tool: "reveille_create", sessionID: "ses_1" }, call);
  assert.deepEqual(call.args, { message: "m", address: "opencode:ses_1", directory: home });

  await said(plugin, "ses_1", "Hello.");
  await until("it waits in the turn", () => session("ses_1").includes(":host"));
  schedule("ses_1", "WAKE one.");
  await pause(1_800);
  assert.equal(prompts.length, 0, "not in the turn");
  await idle(plugin, "ses_1");
  await until("it is woken", () => prompts.length === 1);
  const [{ path: to, body }] = prompts;
  assert.equal(to.id, "ses_1");
  assert.deepEqual([body.agent, body.model.modelID], ["plan", "m"], "as the person wrote last");
  assert.match(body.parts[0].text, /\[Reveille\] run .*WAKE one\.$/s);

  // It is delivered once opencode shows it, and not before.
  const delivered = () => /delivered-count 1/.test(eql("[{:psi.scheduler/schedules [:psi.scheduler/delivered-count]}]"));
  assert.ok(!delivered());
  await said(plugin, "ses_1", body.parts[0].text);
  await until("it is delivered", delivered);
  await idle(plugin, "ses_1");
  await until("it waits again", () => session("ses_1").includes(":host"));

  // What opencode does not take comes again.
  isAccepting = false;
  schedule("ses_1", "WAKE two.");
  await until("opencode refuses it", () => prompts.length === 2);
  isAccepting = true;
  await until("it comes again", () => prompts.length > 2);
  assert.match(prompts.at(-1).body.parts[0].text, /WAKE two\.$/);

  // Two conversations of one process, and a sub-agent, which is none of its own.
  await said(plugin, "ses_2", "Hello.");
  await said(plugin, "ses_sub", "A task.");
  await idle(plugin, "ses_2");
  schedule("ses_2", "WAKE three.");
  await until("the second is woken", () => prompts.some(({ path: { id }, body }) => id === "ses_2" && body.parts[0].text.endsWith("WAKE three.")));
  assert.equal(session("ses_sub"), "", "a sub-agent's conversation is no session");

  await plugin.event({ event: { type: "session.deleted", properties: { info: { id: "ses_2" } } } });
  await until("nobody waits there", () => session("ses_2").includes(":nobody"));
  console.log("opencode's plugin: marks, waits, wakes, gives receipts, and leaves sub-agents alone");
}

// Over ACP the conversation has a host of its own, and without the program nothing breaks.
async function elsewhere() {
  const folder = path.join(home, "plugin");
  if (as === "acp") {
    return assert.deepEqual(Object.keys(await load(folder)), ["tool.execute.before"]);
  }
  const script = path.join(folder, "reveille.js");
  writeFileSync(script, readFileSync(script, "utf8").replace(binary, "/nowhere/reveille"));
  const plugin = await load(folder);
  await said(plugin, "ses_3", "Hello.");
  return idle(plugin, "ses_3");
}

if (as !== undefined) {
  await elsewhere();
  process.exit();
}
const daemon = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", state]);
try {
  await new Promise((ready) => daemon.stdout.once("data", ready));
  await inOpencode();
  for (const way of ["acp", "alone"]) {
    execFileSync(process.execPath, [process.argv[1], binary, way], { env: { ...process.env, HOME: home }, stdio: "inherit" });
  }
  console.log("over ACP it marks calls and does no more; without the program nothing breaks");
} catch (error) {
  console.error(error.stack);
  process.exitCode = 1;
} finally {
  const ended = new Promise((end) => daemon.once("exit", end));
  daemon.kill();
  await ended;
  await pause(1_500);
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
}
process.exit();
