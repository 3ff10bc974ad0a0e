// Real agents, unmodified, with a model that follows a script: in a turn that the daemon began, the agent schedules its next one with
// the tools that the daemon gives it (`tools = true`), and is woken by it in the conversation it is in. Nothing is set up for the agent.
// Usage: node own_tools.mjs URL TOKEN BINARY [AGENT…]
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { configured, pause, serve, settled, whole, withEach } from "./own_agents.mjs";
import { note } from "./results.mjs";
import { scriptedModel } from "./scripted_model.mjs";

const [, , binary, ...named] = process.argv.slice(2);
const PATIENCE_MS = 90_000;
const FIRST = "Look again in two seconds.";
const NEXT = "This is the second look.";
const CREATE = "mcp__reveille__create";

// Asked to look again, the model calls `create`; two agents have it call another tool for that first.
function answer(turn) {
  const text = whole(turn) + turn.results.join();
  if (!text.includes(FIRST) || text.includes(NEXT) || text.includes("schedule_id")) return { say: "Fine." };
  const input = { message: NEXT, when: "in 2 seconds" };
  const create = turn.tools.find((tool) => /reveille.*create$/.test(tool));
  if (create) return { call: create, input };
  if (turn.tools.includes("tool_call")) return { call: "tool_call", input: { name: CREATE, arguments: input } };
  if (turn.tools.includes("ToolSearch")) return { call: "ToolSearch", input: { query: `select:${CREATE}`, max_results: 3 } };
  return { say: "Fine." };
}

async function schedulesItsOwn(name) {
  const home = mkdtempSync(path.join(tmpdir(), "reveille-tools-"));
  const work = path.join(home, "work");
  mkdirSync(work);
  const model = await scriptedModel(answer);
  // What the agent calls its tools when it asks for permission is its own affair.
  writeFileSync(path.join(home, "agents.toml"), configured(name, model, home, 'tools = true\nallow = [{ tool = "*" }]'));
  const daemon = await serve(binary, home);
  try {
    await daemon.eql(`[(psi.agent-session/open {:session-id "s" :address "${name}" :directory ${JSON.stringify(work)}})]`);
    await daemon.eql(`[(psi.scheduler/create {:kind :message :session-id "s" :message ${JSON.stringify(FIRST)} :delay-ms 1000})]`);
    await settled(daemon, FIRST, PATIENCE_MS);
    const { outcome } = await settled(daemon, NEXT, PATIENCE_MS);
    const last = whole(model.seen.filter((turn) => turn.tools.length > 0 && whole(turn).includes(NEXT)).at(-1));
    assert.ok(last.includes(FIRST), "in the same conversation");
    const { schedules } = await daemon.graphql("{ schedules(last: 5) { nodes { message originSessionId } } }");
    const made = schedules.nodes.filter(({ message }) => message === NEXT);
    assert.deepEqual(made.map(({ originSessionId }) => originSessionId), ["s"], "made once, for its own session");
    note(name, "own", "yes", `scheduled its next turn with the tools it was given, and was woken by it in its own conversation (${outcome})`);
  } catch (error) {
    const seen = model.seen.filter(({ tools }) => tools.length > 0).at(-1);
    console.error(`${name}: the model saw last: ${seen && whole(seen).slice(-2_000)} ${seen?.results.join().slice(-500)}; tools: ${seen?.tools}`);
    throw error;
  } finally {
    await daemon.kill("SIGTERM");
    model.close();
    await pause(500);
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  }
}

await withEach(named, schedulesItsOwn);
