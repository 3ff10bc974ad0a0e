// Real agents, unmodified, with a model that follows a script: what is due goes into the agent's own conversation, begun by the
// daemon, gone on with after the agent was killed, and gone on with after the daemon was killed. What watches see of an address, of
// a file and of a server of the Model Context Protocol wakes them too, each once, also where the daemon was killed in between.
// Usage: node resume.mjs URL TOKEN BINARY [AGENT…]; REPEAT=20 wakes each so often. `AGENTS_MODULES` names another node_modules.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import http from "node:http";
import { agents, configured, pause, serve, settled, whole, withEach } from "./own_agents.mjs";
import { note } from "./results.mjs";
import { scriptedModel } from "./scripted_model.mjs";

const [, , binary, ...named] = process.argv.slice(2);
const repeat = Number(process.env.REPEAT ?? 1);
const PATIENCE_MS = 90_000;

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

async function wake(name) {
  const { once } = agents[name];
  const home = mkdtempSync(path.join(tmpdir(), "reveille-resume-"));
  const work = path.join(home, "work");
  mkdirSync(work);
  const model = await scriptedModel((turn) => ({ say: `Heard ${whole(turn).match(/Remember (WORD-\d+)/g)?.at(-1)?.slice(9)}.` }));
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
      configured(name, model, home),
  );
  let daemon = await serve(binary, home);
  let number = 0;
  const prompt = async (patience = PATIENCE_MS) => {
    number += 1;
    const text = `Remember WORD-${number}.`;
    await daemon.eql(`[(psi.scheduler/create {:kind :message :session-id "s" :message ${JSON.stringify(text)} :delay-ms 1000})]`);
    const turn = await settled(daemon, text, patience);
    assert.equal(turn.outcome, "COMPLETED", JSON.stringify(turn));
    // Codex says that it does not know the model first.
    assert.ok(turn.text.endsWith(`Heard WORD-${number}.`), turn.text);
    // The first request of the turn has every earlier turn, and each prompt once; an agent may ask for more about a part of it.
    const [asked, ...more] = model.seen.filter((turn) => turn.tools.length > 0 && whole(turn).includes(text)).map(whole);
    for (let earlier = 1; earlier <= number; earlier += 1) {
      const times = asked.split(`Remember WORD-${earlier}.`).length - 1;
      assert.equal(times, 1, `WORD-${earlier} is there ${times} times in the request for WORD-${number}`);
      const isOnce = (request) => request.split(`Remember WORD-${earlier}.`).length <= 2;
      assert.ok(more.every(isOnce), `WORD-${earlier} is there more than once in a later request of the turn for WORD-${number}`);
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
      daemon = await serve(binary, home);
      await prompt();
      const restart = async () => (daemon = await serve(binary, home));
      told = Math.round(await watch(daemon, restart, model, [origin, files]));
    }
    times.sort((one, two) => one - two);
    const middle = Math.round(times[Math.floor(times.length / 2)]);
    note(name, "resume", `${times.length} of ${times.length}, once each, ${middle} ms`, `begun in ${Math.round(begun - 1_000)} ms; resumed ` +
      `${times.length} of ${times.length} after a kill, ${middle} ms from slot to end of turn; ${once ? "" : `resumed after a kill of the daemon; told within ${told} ms of a start what three watches missed while it was killed; `}each prompt once`);
    note(name, "daemon", once ? "not, see below" : "gone on with, once", once ? "loaded once, and not a second time" : "gone on with after a kill of the daemon");
    if (model.elsewhere.size > 0) console.log(`${name} wanted, and did not get: ${[...model.elsewhere].join(", ")}`);
  } finally {
    await daemon.kill("SIGTERM");
    model.close();
    site.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
}

await withEach(named, wake);
