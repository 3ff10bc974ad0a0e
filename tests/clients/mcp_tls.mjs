// A server of others over TLS, by the protocol's own SDK: its tools are called, changed and called off, with its token, and a server
// with another certificate is not spoken to. Usage: node mcp_tls.mjs BINARY; it starts a daemon of its own.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import https from "node:https";
import { tmpdir } from "node:os";
import readline from "node:readline";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as z from "zod";

const [binary] = process.argv.slice(2);
const TOKEN = "tls-tls-tls-tls-tls-tls-tls-tls-tls-tls";
const PATIENCE_MS = 60_000;
const home = mkdtempSync(`${tmpdir()}/reveille-mcp-tls-`);
const openssl = (...args) => execFileSync("openssl", args, { cwd: home, stdio: ["ignore", "ignore", "pipe"] });

// The operator has named one of two authorities.
const REQUEST = ["req", "-newkey", "rsa:2048", "-nodes"];
for (const name of ["known", "strange"]) {
  openssl(...REQUEST, "-x509", "-days", "2", "-subj", `/CN=${name}`, "-keyout", `${name}-ca.key`, "-out", `${name}-ca.pem`);
}

// A certificate for a host, by an authority.
function certificate(by, host) {
  writeFileSync(`${home}/names`, `subjectAltName=DNS:${host}\nbasicConstraints=CA:FALSE\n`);
  openssl(...REQUEST, "-subj", `/CN=${host}`, "-keyout", "server.key", "-out", "server.csr");
  const authority = ["-CA", `${by}-ca.pem`, "-CAkey", `${by}-ca.key`, "-CAcreateserial"];
  openssl("x509", "-req", "-in", "server.csr", ...authority, "-days", "2", "-extfile", "names", "-out", "server.pem");
  return { key: readFileSync(`${home}/server.key`), cert: readFileSync(`${home}/server.pem`) };
}

const seen = { versions: new Set(), tokens: new Set(), calls: 0, off: 0 };

function tools() {
  const server = new McpServer({ name: "of others", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  server.registerTool("sum", { description: "Adds.", inputSchema: { a: z.number().max(1000), b: z.number() }, outputSchema: { sum: z.number() } }, ({ a, b }) => {
    seen.calls += 1;
    return { content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } };
  });
  server.registerTool("grow", { description: "Adds a tool." }, () => {
    server.registerTool("grown", { description: "It was not there before." }, () => ({ content: [{ type: "text", text: "here" }] }));
    return { content: [{ type: "text", text: "grown" }] };
  });
  server.registerTool("fail", { description: "Fails." }, () => ({ content: [{ type: "text", text: "no" }], isError: true }));
  server.registerTool("slow", { description: "Takes its time." }, ({ signal }) => {
    signal.addEventListener("abort", () => (seen.off += 1));
    return new Promise((end) => setTimeout(() => end({ content: [] }), 20_000).unref());
  });
  return server;
}

// As the SDK's documentation has it: a transport for each session.
async function listen(identity) {
  const sessions = new Map();
  const server = https.createServer({ ...identity, minVersion: "TLSv1.3" }, async (request, reply) => {
    seen.versions.add(request.socket.getProtocol());
    seen.tokens.add(request.headers.authorization);
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await tools().connect(transport);
    }
    await transport.handleRequest(request, reply);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}

const servers = {
  known: await listen(certificate("known", "localhost")),
  // By an authority that nobody has named, and for another name than the one that is asked for.
  strange: await listen(certificate("strange", "localhost")),
  misnamed: await listen(certificate("known", "example.com")),
};
writeFileSync(`${home}/token`, "s3cret\n", { mode: 0o600 });
const tables = Object.entries(servers).map(
  ([name, server]) =>
    `[mcp.${name}]\nurl = "https://localhost:${server.address().port}/mcp"\nca-file = "${home}/known-ca.pem"\n` +
    `token-file = "${home}/token"\ntimeout-ms = 1000\n`,
);
writeFileSync(`${home}/daemon.toml`, `[primitives]\nwatchers = true\n${tables.join("")}`);
const child = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", "state", "--config", "daemon.toml", "--log", "info"], {
  cwd: home,
  env: { HOME: home, REVEILLE_TOKEN: TOKEN },
  stdio: ["ignore", "pipe", "pipe"],
});
let log = "";
child.stderr.setEncoding("utf8").on("data", (part) => (log += part));
try {
  const line = await new Promise((ready) => readline.createInterface({ input: child.stdout }).once("line", ready));
  const url = line.replace("reveille ready ", "");
  const post = async (path, body, type = "application/json") => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": type, "reveille-session": "main" };
    const reply = await fetch(`${url}/${path}`, { method: "POST", headers, body });
    return reply.text();
  };
  // The answer to one call, also where nothing could be called.
  const call = async (name, params = {}) => {
    const answer = JSON.parse(await post("tools/run_parallel", JSON.stringify({ actions: [{ name, params }] })));
    return (answer.results ?? answer.error.results)[0];
  };
  const until = async (what, isSo) => {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await new Promise((next) => setTimeout(next, 50))) {
      if (await isSo()) return;
    }
    assert.fail(`${what}: not within ${PATIENCE_MS / 1000} s\n${log}`);
  };
  assert.match(await post("eql", '[(psi.agent-session/open {:session-id "main"})]', "application/edn"), /session-id "main"/);

  await until("the tools are there", async () => (await call("known.sum", { a: 1, b: 2 })).success);
  assert.deepEqual((await call("known.sum", { a: 20, b: 22 })).data, { sum: 42 });
  assert.match((await call("known.sum", { a: 1 })).error, /params.b is required/, "the arguments are checked by its schema");
  assert.match(JSON.stringify(await call("known.sum", { a: 5000, b: 1 })), /invalid|expected/i, "and by the server itself");
  const failed = await call("known.fail");
  assert.ok(!failed.success && JSON.stringify(failed).includes("no"), JSON.stringify(failed));
  assert.ok((await call("known.grow")).success);
  await until("the new tool is there", async () => (await call("known.grown")).success);
  const slow = await call("known.slow");
  assert.match(JSON.stringify(slow), /timed out after 1 s/);
  await until("the call is called off", () => seen.off === 1);
  assert.deepEqual([...seen.versions], ["TLSv1.3"]);
  assert.deepEqual([...seen.tokens], ["Bearer s3cret"]);

  console.log(`a server of others over TLS answered ${seen.calls} calls`);
  await until("the others are given up", () => /strange/.test(log) && /misnamed/.test(log));
  for (const name of ["strange", "misnamed"]) {
    assert.match(log, new RegExp(`a server of tools is gone server="${name}" why=no TLS with`));
    assert.match((await call(`${name}.sum`, { a: 1, b: 1 })).error, /not found/);
  }
  assert.ok(!log.includes("s3cret"));
} finally {
  child.kill("SIGKILL");
  for (const server of Object.values(servers)) server.close();
  rmSync(home, { recursive: true, force: true });
}
process.exit(0);
