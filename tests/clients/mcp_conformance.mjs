// The conformance suite of the Model Context Protocol, for both wire shapes, against the daemon and against a server that has
// the tools and resources which the suite asks for. What fails is in mcp_daemon.yaml and mcp_fixture.yaml with the reason;
// anything else that fails, and anything of these that passes, is an error.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

const [url, token, reveille, fixture] = process.argv.slice(2);
const suite = path.resolve("node_modules/@modelcontextprotocol/conformance/dist/index.js");
const revisions = ["2025-11-25", "2026-07-28"];

// The suite needs Node 22. Where that is not installed, a package that is nothing but the program brings it along.
function node() {
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  const program = `node-${process.platform}-${process.arch}/bin/node`;
  try {
    return createRequire(import.meta.url).resolve(program);
  } catch {
    throw new Error(`the suite needs Node 22, and ${program} is not installed: run this with a newer Node`);
  }
}

// The suite cannot send a token, so this adds one, and passes all else on.
function proxy(target) {
  const server = http.createServer((asked, answer) => {
    const own = `127.0.0.1:${server.address().port}`;
    const headers = { ...asked.headers, authorization: `Bearer ${token}`, "reveille-session": "main" };
    if (headers.host === own) headers.host = target.host;
    if (headers.origin === `http://${own}`) headers.origin = target.origin;
    const options = { host: target.hostname, port: target.port, path: asked.url, method: asked.method, headers };
    const passed = http.request(options, (given) => {
      answer.writeHead(given.statusCode, given.headers);
      given.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    asked.pipe(passed);
  });
  return new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(server)));
}

// A session, and a schedule in it, so that there is a resource.
function prepare() {
  const asked = [
    '[(psi.agent-session/open {:session-id "main"})]',
    '[(psi.scheduler/create {:kind :message :session-id "main" :message "m" :when "in 1 hour"})]',
  ];
  for (const query of asked) {
    const done = spawnSync(reveille, ["eql", "--url", url, query], { env: { ...process.env, REVEILLE_TOKEN: token } });
    if (done.status !== 0) throw new Error(`${query}: ${done.stdout}${done.stderr}`);
  }
}

// What a file expects to fail: each entry, and the comment above it.
function expected(file) {
  const reasons = new Map();
  let reason = "";
  let open = false;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const said = line.match(/^ +# (.*)$/)?.[1];
    const entry = line.match(/^ +- (\S+)$/)?.[1];
    if (said !== undefined) reason = open ? `${reason} ${said}` : said;
    if (entry !== undefined) reasons.set(entry, reason);
    open = said !== undefined;
  }
  return reasons;
}

// What the suite has written down: the checks of each scenario. A scenario that broke off has left none.
function checks(folder) {
  const scenarios = new Map();
  for (const name of readdirSync(folder).sort()) {
    const scenario = name.match(/^server-(.*)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/)?.[1];
    if (scenario === undefined) throw new Error(`the suite has left ${name}, which is no scenario`);
    const file = path.join(folder, name, "checks.json");
    const broken = [{ id: "broken-off", status: "FAILURE", errorMessage: "the scenario broke off" }];
    scenarios.set(scenario, existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : broken);
  }
  return scenarios;
}

function run(server, revision, baseline) {
  const folder = mkdtempSync(path.join(tmpdir(), "reveille-mcp-"));
  const args = [suite, "server", "--url", `${server}/mcp`, "--requirements", revision];
  args.push("--expected-failures", path.resolve(baseline), "-o", folder);
  const child = spawn(node(), args, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk) => (said += chunk));
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("close", (code) => {
      const scenarios = checks(folder);
      rmSync(folder, { recursive: true });
      done({ code, said, scenarios });
    });
  });
}

// The lines of the table, and what was not as expected.
function judge(title, revision, { code, said, scenarios }, reasons, met) {
  const faults = [];
  const sum = { whole: 0, passed: 0, failed: 0 };
  if (scenarios.size === 0) faults.push(`${title} ${revision}: no scenario was run`);
  for (const [scenario, all] of scenarios) {
    const passed = all.filter((check) => check.status === "SUCCESS").length;
    const failed = all.filter((check) => check.status === "FAILURE" || check.status === "WARNING");
    sum.whole += failed.length === 0 ? 1 : 0;
    sum.passed += passed;
    sum.failed += failed.length;
    const why = new Set();
    for (const { id, errorMessage } of failed) {
      const entry = [scenario, `${scenario}:${id}`].find((entry) => reasons.has(entry));
      met.add(entry);
      why.add(entry === undefined ? `UNEXPECTED ${id}: ${errorMessage}` : reasons.get(entry));
      if (entry === undefined) faults.push(`${title} ${revision}: ${scenario}:${id}: ${errorMessage}`);
    }
    console.log(`| ${title} | ${revision} | ${scenario} | ${passed} | ${failed.length} | ${[...why].join("; ")} |`);
  }
  console.log(`| ${title} | ${revision} | ${sum.whole} of ${scenarios.size} | ${sum.passed} | ${sum.failed} | |`);
  if (code !== 0) faults.push(`${title} ${revision}: the suite ends with ${code}:\n${said.split("\n").slice(-30).join("\n")}`);
  return faults;
}

prepare();
const front = await proxy(new URL(url));
const servers = [
  { title: "daemon", address: `http://127.0.0.1:${front.address().port}`, baseline: "mcp_daemon.yaml" },
  { title: "fixture", address: fixture, baseline: "mcp_fixture.yaml" },
];
const faults = [];
console.log("| server | revision | scenario | passed | failed | why |\n|---|---|---|---|---|---|");
for (const { title, address, baseline } of servers) {
  const reasons = expected(baseline);
  const met = new Set();
  for (const revision of revisions) {
    faults.push(...judge(title, revision, await run(address, revision, baseline), reasons, met));
  }
  for (const [entry, reason] of reasons) {
    if (!met.has(entry)) faults.push(`${baseline}: ${entry} does not fail`);
    if (reason === "") faults.push(`${baseline}: ${entry} has no reason`);
  }
}
front.close();
if (faults.length > 0) console.error(`not as expected:\n${faults.join("\n")}`);
process.exit(faults.length === 0 ? 0 : 1);
