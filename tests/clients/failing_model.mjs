// Real agents, unmodified, whose model refuses the login (401), has no room (429), or says nothing: what the daemon says of the run, how
// soon, and that the prompt is in the conversation once at most when the model is there again.
// Usage: node failing_model.mjs URL TOKEN BINARY [AGENT…]; `AGENTS_MODULES` names another node_modules.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { agents, configured, pause, serve, settled, whole, withEach } from "./own_agents.mjs";
import { note } from "./results.mjs";
import { scriptedModel } from "./scripted_model.mjs";

const [, , binary, ...named] = process.argv.slice(2);
// Start, opening, settling and silence have deadlines in the daemon's configuration; the rest is the agent's own end.
const SILENCE_S = 15;
const DEADLINE_MS = 60_000;
const faults = {
  401: () => ({ status: 401 }),
  429: () => ({ status: 429 }),
  silence: () => new Promise(() => {}),
};

async function fail(name) {
  const said = [];
  for (const [fault, answer] of Object.entries(faults)) said.push(`${fault}: ${await meet(name, fault, answer)}`);
  note(name, "fails", said.join("; "));
}

async function meet(name, fault, answer) {
  const home = mkdtempSync(path.join(tmpdir(), "reveille-fails-"));
  const work = path.join(home, "work");
  mkdirSync(work);
  let isThere = true;
  const model = await scriptedModel((turn) => (isThere || turn.tools.length === 0 ? { say: "Heard." } : answer()));
  const timing = `silence = "${SILENCE_S}s"\ngrace = "2s"\nturn = "40s"\nbackoff = "2s"\nidle = "1s"`;
  writeFileSync(path.join(home, "agents.toml"), configured(name, model, home, timing));
  const daemon = await serve(binary, home);
  const create = (text) =>
    daemon.eql(`[(psi.scheduler/create {:kind :message :session-id "s" :message ${JSON.stringify(text)} :delay-ms 1000})]`);
  const shown = async () => {
    const { schedules } = await daemon.graphql(
      "{ schedules(last: 1) { nodes { status reason runs { state reason error { message } turn { outcome stopReason text usage { inputTokens outputTokens } } } } } }",
    );
    const [{ status, reason, runs }] = schedules.nodes;
    return { status, reason, run: runs[0] };
  };
  try {
    await daemon.eql(`[(psi.agent-session/open {:session-id "s" :address "${name}" :directory ${JSON.stringify(work)}})]`);
    await create("Remember WORD-1.");
    await settled(daemon, "Remember WORD-1.", 60_000);
    await pause(2_000);
    isThere = false;
    await create("Remember WORD-2.");
    const began = performance.now();
    let last;
    // It is said what became of it: the run waits or has failed for a reason, or its turn has an end that is no success.
    for (;;) {
      last = await shown();
      const { reason, run } = last;
      const isSaid = (run?.turn?.outcome && run.turn.outcome !== "COMPLETED") || (run && reason && !["SESSION_BUSY", "DELIVERY_IN_FLIGHT"].includes(reason));
        assert.notEqual(run?.turn?.outcome, "COMPLETED", `${fault}: it is no success: ${JSON.stringify(run)}`);
      if (isSaid) break;
      assert.ok(performance.now() - began < DEADLINE_MS, `${fault}: nothing is said of it: ${JSON.stringify(last)}`);
      await pause(200);
    }
    const took = ((performance.now() - began - 1_000) / 1_000).toFixed(0);
    isThere = true;
    await create("Remember WORD-3.");
    await settled(daemon, "Remember WORD-3.", 150_000);
    const asked = model.seen.filter((turn) => turn.tools.length > 0 && whole(turn).includes("WORD-3"));
    for (const request of asked.map(whole)) {
      const times = request.split("Remember WORD-2.").length - 1;
      assert.ok(times <= 1, `${fault}: the prompt is in the conversation ${times} times`);
      assert.equal(request.split("Remember WORD-3.").length - 1, 1, `${fault}: the next prompt is there once`);
    }
    const { run, reason } = last;
    const what = (run.turn?.outcome ?? reason ?? run.reason).toLowerCase().replaceAll("_", "-");
    return `${what} after ${took} s`;
  } finally {
    await daemon.kill("SIGTERM");
    model.close();
    await pause(300);
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  }
}

// Gemini's conversation is loaded once, so that what comes after the fault cannot be asked for.
const loaded = Object.keys(agents).filter((name) => !agents[name].once && agents[name].command.every(Boolean));
await withEach(named.length > 0 ? named : loaded, fail);
