// A harness: an agent that speaks the Agent Client Protocol on one side, Reveille's EDN stream on the other.
//
// What Reveille delivers becomes a prompt of the agent's session; turns are reported as they begin and end. The agent's MCP
// server is `reveille mcp` with the token of this session, which can do nothing elsewhere.
import { spawn } from "node:child_process";
import readline from "node:readline";
import { loadString } from "nbb";

// ClojureScript's own reader, down to plain objects: keywords become strings.
const readEdn = await loadString(`
  (require '[clojure.edn :as edn])
  (fn [text] (clj->js (edn/read-string {:default (fn [_ value] value)} text)))`);

// Starts `command` and opens `session` in the daemon that `reveille` (a binary, an address, a token) leads to. `tools` are the
// harness's own, by their names: functions that return a text.
export async function acpHost({ reveille, session, command, env, cwd, tools = {} }) {
  const stream = edn(reveille);
  await stream.ask("{:op :host/attach}");
  const offers = Object.keys(tools).map((name) => `{:name ${JSON.stringify(name)} :risk :read}`);
  await stream.ask(`{:op :tools/offer :tools [${offers.join(" ")}]}`);
  stream.onCall = ({ "call-id": id, tool }) =>
    stream.ask(`{:op :tool/result :call-id ${JSON.stringify(id)} :ok ${JSON.stringify(tools[tool]())}}`);
  const { token } = await stream.ask(`{:op :session/open :session-id ${JSON.stringify(session)}}`);
  const agent = acp(command, { env, cwd });
  const server = {
    name: "reveille",
    command: reveille.binary,
    args: ["mcp", "--url", reveille.url],
    env: [{ name: "REVEILLE_TOKEN", value: token }],
  };
  await agent.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await agent.ask("session/new", { cwd, mcpServers: [server] });

  const told = (op) => stream.ask(`{:op ${op} :session-id ${JSON.stringify(session)}}`);
  const turn = async (text) => {
    await told(":session/busy :busy? true");
    try {
      return await agent.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    } finally {
      await told(":session/busy :busy? false");
    }
  };
  let delivered;
  const woken = new Promise((done) => { delivered = done; });
  stream.onDelivery = async ({ "delivery-id": id, message }) => {
    const ended = turn(message.content.map(({ text }) => text).join("\n"));
    // The agent is ours and has the prompt; whether its model does anything about it is not the receipt's business.
    await stream.ask(`{:op :delivery/ack :delivery-id ${JSON.stringify(id)}}`);
    delivered(await ended);
  };
  return {
    token,
    eql: (query) => stream.ask(`{:op :eql :query ${query}}`),
    event: stream.event,
    // The end of the first turn that Reveille began.
    woken,
    // What a person types.
    async say(text) {
      await told(`:session/user-message :text ${JSON.stringify(text)}`);
      return turn(text);
    },
    async close() {
      await agent.close();
      await stream.close();
    },
  };
}

// The EDN stream, over `reveille stdio`.
function edn({ binary, url, token }) {
  const child = spawn(binary, ["stdio", "--url", url], {
    env: { REVEILLE_TOKEN: token },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { line, ask, close } = calls(child);
  const events = [];
  const waiting = [];
  const stream = {
    onDelivery: () => {},
    onCall: () => {},
    ask: (request) => ask((id) => `{:id ${id} ${request.slice(1)}`),
    // The first decision that is such, now or later.
    async event(isSuch) {
      if (!events.asked) await stream.ask("{:op :subscribe :after 0}");
      events.asked = true;
      for (;;) {
        const found = events.find(isSuch);
        if (found) return found;
        await new Promise((wake) => waiting.push(wake));
      }
    },
    close,
  };
  line((text) => {
    const message = readEdn(text);
    // What goes wrong in there is for whoever runs this: it ends the process.
    if (message.push === "delivery") stream.onDelivery(message);
    // A keyword comes without its namespace: this is `:tool/call`.
    if (message.push === "call") stream.onCall(message);
    if (message.push === "event") {
      events.push(message.event);
      for (const wake of waiting.splice(0)) wake();
    }
    return { id: message.id, result: message.ok, error: message.error };
  });
  return stream;
}

// The Agent Client Protocol: JSON-RPC, a line each.
function acp([program, ...args], options) {
  // In a group of its own, because it has children, who are to end with it and with us.
  const child = spawn(program, args, { ...options, detached: true, stdio: ["pipe", "pipe", "inherit"] });
  const kill = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  process.on("exit", kill);
  child.on("exit", () => process.off("exit", kill));
  const { line, ask, write, close } = calls(child);
  line((text) => {
    const { id, method, params, result, error } = JSON.parse(text);
    if (method === undefined) return { id, result, error };
    if (method === "session/request_permission") {
      // A person would be asked here.
      const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
      write(JSON.stringify({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId } } }));
    } else if (id !== undefined) {
      write(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: `no ${method} here` } }));
    }
    return {};
  });
  return {
    ask: (method, params) => ask((id) => JSON.stringify({ jsonrpc: "2.0", id, method, params })),
    close: () => close(kill),
  };
}

// Numbered requests to a child, a line each, and their answers in whatever order.
function calls(child) {
  const open = new Map();
  let number = 0;
  const fail = (why) => {
    for (const { reject } of open.values()) reject(why);
    open.clear();
  };
  child.on("error", fail);
  child.on("exit", (code, signal) => fail(new Error(`${child.spawnfile} ended with ${code ?? signal}`)));
  child.stdin.on("error", fail);
  const write = (text) => child.stdin.write(`${text}\n`);
  return {
    write,
    ask: (print) =>
      new Promise((resolve, reject) => {
        number += 1;
        open.set(number, { resolve, reject });
        write(print(number));
      }),
    line(read) {
      readline.createInterface({ input: child.stdout }).on("line", (text) => {
        const { id, result, error } = read(text);
        const { resolve, reject } = open.get(id) ?? {};
        open.delete(id);
        if (error !== undefined && error !== null) reject?.(new Error(JSON.stringify(error)));
        else resolve?.(result);
      });
    },
    // Until it is gone.
    close(end = () => child.stdin.end()) {
      if (child.exitCode !== null || child.signalCode !== null) return undefined;
      const gone = new Promise((done) => child.on("exit", done));
      end();
      return gone;
    },
  };
}
