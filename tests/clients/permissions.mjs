// Real agents, unmodified, with a model that follows a script: what one asks permission for in a turn that the daemon began waits
// for an operator, who sees the command that would be run; it is run when he has allowed it, and is not when he has denied it.
// Usage: node permissions.mjs URL TOKEN BINARY [AGENT…]
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { configured, pause, serve, settled, TOKEN, whole, withEach } from "./own_agents.mjs";
import { note } from "./results.mjs";
import { scriptedModel } from "./scripted_model.mjs";

const [, , binary, ...named] = process.argv.slice(2);
const PATIENCE_MS = 90_000;

// How a command is run, by the name of the tool.
const shells = {
  Bash: (command) => ({ command, description: "Makes a file" }),
  bash: (command) => ({ command, description: "Makes a file" }),
  // Codex asks for what its model wants to do outside of the sandbox.
  exec_command: (cmd) => ({ cmd, sandbox_permissions: "require_escalated", justification: "Makes a file" }),
  run_shell_command: (command) => ({ command, description: "Makes a file", is_background: false }),
};

// Asked to make a file, the model calls the shell once, and says what came of it.
function answer(turn) {
  const shell = turn.tools.find((name) => name in shells);
  const [, file] = [...whole(turn).matchAll(/Make the file (\w+)\./g)].at(-1) ?? [];
  if (file === undefined || shell === undefined) return { say: "Fine." };
  const command = `touch ${file}`;
  return whole(turn).includes(command) ? { say: `It came to: ${turn.results.at(-1)}` } : { call: shell, input: shells[shell](command) };
}

async function ask(name) {
  const home = mkdtempSync(path.join(tmpdir(), "reveille-permissions-"));
  const work = path.join(home, "work");
  mkdirSync(work);
  const model = await scriptedModel(answer);
  const rules = `ask = [{ kind = "execute" }]\nanswer = "60s"\n${name === "codex" ? 'mode = "read-only"' : ""}`;
  writeFileSync(path.join(home, "agents.toml"), configured(name, model, home, rules));
  writeFileSync(path.join(home, "token"), TOKEN, { mode: 0o600 });
  const daemon = await serve(binary, home);
  const command = (...words) =>
    promisify(execFile)(binary, [...words, "--url", daemon.url, "--token-file", path.join(home, "token")], { env: { HOME: home } });
  // Has the agent make a file, and answers what it asks.
  const turn = async (file, verb) => {
    const text = `Make the file ${file}.`;
    await daemon.eql(`[(psi.scheduler/create {:kind :message :session-id "s" :message ${JSON.stringify(text)} :delay-ms 1000})]`);
    let open;
    for (const end = Date.now() + PATIENCE_MS; ; await pause(50)) {
      [open] = (await daemon.graphql("{ engine { openQuestions { runId digest title kind details } } }")).engine.openQuestions;
      if (open) break;
      const { schedules } = await daemon.graphql("{ schedules(last: 1) { nodes { status runs { state reason turn { outcome text permissions { title answer } } } } } }");
      assert.ok(Date.now() < end && !schedules.nodes[0].runs[0]?.turn?.outcome, `it asks nobody: ${JSON.stringify(schedules)}`);
    }
    assert.ok(`${open.title} ${open.details}`.includes(`touch ${file}`), `the command is shown: ${JSON.stringify(open)}`);
    const { stdout } = await command("approvals");
    assert.ok(stdout.includes(`touch ${file}`), stdout);
    await pause(500);
    assert.ok(!existsSync(path.join(work, file)), "it waits");
    await command(verb, open.runId, "--digest", open.digest);
    const { permissions, outcome } = await settled(daemon, text, PATIENCE_MS);
    return { outcome, answers: permissions.map(({ answer }) => answer), there: existsSync(path.join(work, file)) };
  };
  try {
    await daemon.eql(`[(psi.agent-session/open {:session-id "s" :address "${name}" :directory ${JSON.stringify(work)}})]`);
    const allowed = await turn("allowed", "approve");
    assert.deepEqual({ ...allowed, outcome: "" }, { outcome: "", answers: ["ALLOWED"], there: true });
    const denied = await turn("denied", "deny");
    assert.deepEqual({ ...denied, outcome: "" }, { outcome: "", answers: ["REJECTED"], there: false });
    // Allowed once is not allowed for always.
    const again = await turn("again", "approve");
    assert.deepEqual({ ...again, outcome: "" }, { outcome: "", answers: ["ALLOWED"], there: true });
    const said = `ran what an operator had allowed (${allowed.outcome}), not what one had denied (${denied.outcome}), and asked each time`;
    note(name, "approve", denied.outcome === "CANCELLED" ? "yes; a refusal ends the turn" : "yes", said);
  } catch (error) {
    const seen = model.seen.filter(({ tools }) => tools.length > 0).at(-1);
    console.error(`${name}: the model saw last: ${seen && whole(seen).slice(-2_000)}; tools: ${seen?.tools}`);
    throw error;
  } finally {
    await daemon.kill("SIGTERM");
    model.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
}

await withEach(named, ask);
