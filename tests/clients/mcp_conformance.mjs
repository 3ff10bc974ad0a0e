// The conformance suite of the Model Context Protocol, as far as it asks for nothing but the protocol: its other scenarios call
// tools that a server has only to be tested. It cannot send a token, so a proxy of ours adds one, and passes all else on.
import { spawnSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

const [url, token] = process.argv.slice(2);
const target = new URL(url);
const suite = path.resolve("node_modules/@modelcontextprotocol/conformance/dist/index.js");
const scenarios = ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"];

const proxy = http.createServer((asked, answer) => {
  const own = `127.0.0.1:${proxy.address().port}`;
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

function run(scenario, port, cwd) {
  const args = [suite, "server", "--url", `http://127.0.0.1:${port}/mcp`, "--scenario", scenario];
  return new Promise((done) => {
    spawn(process.execPath, args, { stdio: "inherit", cwd }).on("exit", (code) => done(code === 0));
  });
}

const opened = spawnSync(process.argv[4], ["eql", "--url", url, '[(psi.agent-session/open {:session-id "main"})]'], {
  env: { ...process.env, REVEILLE_TOKEN: token },
});
if (opened.status !== 0) throw new Error(String(opened.stderr));
const cwd = mkdtempSync(path.join(tmpdir(), "reveille-mcp-"));
proxy.listen(0, "127.0.0.1", async () => {
  const failed = [];
  for (const scenario of scenarios) {
    if (!(await run(scenario, proxy.address().port, cwd))) failed.push(scenario);
  }
  proxy.close();
  rmSync(cwd, { recursive: true });
  if (failed.length > 0) console.error(`failed: ${failed.join(", ")}`);
  process.exit(failed.length === 0 ? 0 : 1);
});
