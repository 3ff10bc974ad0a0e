// Real agents, unmodified, with a model that follows a script: `reveille agents test NAME` begins a conversation, kills the agent, and
// finds that it is woken in that conversation. Usage: node trial.mjs URL TOKEN BINARY [AGENT…]
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { configured, pause, serve, whole, withEach } from "./own_agents.mjs";
import { note } from "./results.mjs";
import { scriptedModel } from "./scripted_model.mjs";

const [, , binary, ...named] = process.argv.slice(2);

// It knows the word only from what was said before.
const answer = (turn) => ({ say: turn.said.includes("Which word") ? `${/Remember the word (\w+),/.exec(turn.before)?.[1]}` : "OK" });

async function test(name) {
  const home = mkdtempSync(path.join(tmpdir(), "reveille-trial-"));
  const work = path.join(home, "work");
  mkdirSync(work);
  const model = await scriptedModel(answer);
  writeFileSync(path.join(home, "agents.toml"), configured(name, model, home));
  const daemon = await serve(binary, home);
  try {
    const args = ["agents", "test", name, "--directory", work, "--data-dir", path.join(home, "state"), "--patience", "120"];
    const { stdout } = await promisify(execFile)(binary, args, { env: { HOME: home } });
    assert.deepEqual(stdout.match(/^\w+ +\w+/gm).map((line) => line.replace(/ +/, " ")), STEPS, stdout);
    note(name, "tried", "passes", stdout.trim().split("\n").at(-1).replace(/ +/g, " "));
  } catch (error) {
    console.error(`${name}: ${error.stdout ?? ""}${error.stderr ?? ""} ${JSON.stringify(model.seen.at(-1) && whole(model.seen.at(-1)).slice(-500))}`);
    throw error;
  } finally {
    await daemon.kill("SIGTERM");
    model.close();
    await pause(500);
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  }
}

const STEPS = ["ok agent", "ok begin", "ok kill", "ok resume", "ok same"];

await withEach(named, test);
