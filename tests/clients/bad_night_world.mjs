// What bad_night.mjs lives in: clocks that leap, the real daemon on them, a host that takes turns, and what is planned when.
// tests/blackbox/faults/time_lapse.c puts the clocks ahead, waits and time since boot included: libfaketime leaves waits alone.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";

export const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** Clocks that begin at an instant, and leap. */
export class Lapse {
  #file;
  #ahead = 0n;
  #wall;

  constructor(home, start) {
    this.library = path.join(home, "time_lapse.so");
    const source = new URL("../blackbox/faults/time_lapse.c", import.meta.url).pathname;
    execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", this.library, source, "-ldl"]);
    this.path = path.join(home, "lapse");
    this.#file = fs.openSync(this.path, "w");
    this.#wall = BigInt(start - Date.now()) * 1_000_000n;
    this.#write();
  }

  get env() {
    return { LD_PRELOAD: this.library, TIME_LAPSE: this.path };
  }

  now() {
    return Date.now() + Number((this.#ahead + this.#wall) / 1_000_000n);
  }

  /** Leaps to that instant, if it is still to come. */
  leap(to) {
    const by = to - this.now();
    if (by <= 0) return;
    this.#ahead += BigInt(Math.round(by)) * 1_000_000n;
    this.#write();
  }

  #write() {
    fs.writeSync(this.#file, Buffer.from(BigInt64Array.of(this.#ahead, this.#ahead, this.#wall).buffer), 0, 24, 0);
  }
}

/** A port that was free a moment ago. */
export const freePort = () => new Promise((resolve) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

/** Posts over a connection of its own: one that is kept would time out with each leap. */
async function post(url, headers, text = "") {
  const reply = await new Promise((resolve, reject) => {
    http.request(url, { method: "POST", headers, agent: false }, resolve).on("error", reject).end(text);
  });
  const parts = [];
  for await (const part of reply) parts.push(part);
  return { headers: reply.headers, body: String(Buffer.concat(parts)) };
}

/** The real daemon on such clocks, at one address and with one data directory for all its lives. */
export class Daemon {
  #child;

  constructor(binary, home, port, lapse) {
    Object.assign(this, { binary, home, lapse, url: `http://127.0.0.1:${port}`, data: path.join(home, "data") });
    fs.mkdirSync(this.data, { mode: 0o700 });
    // Whatever ends this program ends it, and leaves nothing.
    process.on("exit", () => {
      this.#child?.kill("SIGKILL");
      fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
  }

  async start() {
    const config = path.join(this.home, "reveille.toml");
    const args = ["serve", "--listen", new URL(this.url).host, "--data-dir", this.data, "--config", config, "--log", "error"];
    this.#child = spawn(this.binary, args, { env: { ...process.env, ...this.lapse.env }, stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve, reject) => {
      this.#child.stdout.on("data", (data) => /reveille ready/.test(String(data)) && resolve());
      this.#child.on("exit", () => reject(new Error("the daemon ended")));
    });
    this.token = this.tokenOf("operator");
  }

  tokenOf(name) {
    return fs.readFileSync(path.join(this.data, `${name}.token`), "utf8").trim();
  }

  end(signal) {
    const ended = new Promise((resolve) => { this.#child.removeAllListeners("exit").on("exit", resolve); });
    this.#child.kill(signal);
    return ended;
  }

  /** Waits until it has noted that it lives, which it does each second: a crash then has a beginning. */
  async noted() {
    for (const end = performance.now() + 20_000; performance.now() < end; await pause(50)) {
      const [, alive] = /alive "([^"]+)"/.exec(fs.readFileSync(path.join(this.data, "lives.edn"), "utf8")) ?? [];
      if (alive && this.lapse.now() - Date.parse(alive) < 1_500) return;
    }
    throw new Error("it notes nothing");
  }

  /** Asks the graph, as the operator or with the headers of somebody else. */
  async ask(query, variables = {}, who = {}) {
    const headers = { "content-type": "application/json", authorization: `Bearer ${this.token}`, ...who };
    if (who.cookie) delete headers.authorization;
    const { body } = await post(`${this.url}/graphql`, headers, JSON.stringify({ query, variables }));
    const answer = JSON.parse(body);
    assert.ok(answer.data && !answer.errors, JSON.stringify(answer.errors ?? answer));
    return answer.data;
  }

  /** The address with the code by which a browser comes in, once and within a minute. */
  login() {
    return execFileSync(this.binary, ["dashboard", "--print", "--data-dir", this.data], { encoding: "utf8" }).trim();
  }

  /** Comes in as a browser does: the headers of one that is logged in. */
  async enter() {
    const code = new URL(this.login()).hash.slice(1);
    const { headers, body } = await post(`${this.url}/enter`, { "reveille-code": code });
    return { cookie: headers["set-cookie"][0].split(";")[0], "reveille-csrf": JSON.parse(body).key, origin: this.url };
  }
}

/** What is planned: each thing at its instant, what was planned first in front. */
export class Agenda {
  #all = [];

  add(at, what) {
    this.#all.push({ at, what });
    this.#all.sort((one, two) => one.at - two.at);
  }

  get next() {
    return this.#all[0]?.at ?? Infinity;
  }

  async upTo(now) {
    while (this.next <= now) await this.#all.shift().what();
  }
}

/** The host of the sessions, over one connection. `conduct` says what comes of a delivery: `{ turnMs }`, or `{ error }`. */
export class Host {
  #stream = null;
  #rest = "";
  #asked = new Map();
  #last = 0;
  #tokens = new Map();
  /** What it was handed, by run: where a delivery comes again, its turn goes on. */
  handed = [];

  constructor(daemon, agenda, conduct) {
    Object.assign(this, { daemon, agenda, conduct, sessions: [] });
  }

  tokenOf(session) {
    return this.#tokens.get(session);
  }

  async attach(sessions) {
    this.sessions = sessions;
    this.#stream = await this.#connect();
    this.#stream.setEncoding("utf8").on("data", (text) => this.#heard(text)).on("error", () => {});
    for (const session of sessions) {
      const opened = await this.tell("session/open", { "session-id": session, "or-attach?": true });
      if (opened.token) this.#tokens.set(session, opened.token);
    }
  }

  #connect() {
    const authorization = `Bearer ${this.daemon.tokenOf("host-nightly")}`;
    const headers = { Connection: "Upgrade", Upgrade: "reveille-json", Authorization: authorization };
    return new Promise((resolve, reject) => {
      const request = http.request(`${this.daemon.url}/stream`, { headers });
      request.once("upgrade", (_, stream) => resolve(stream)).once("error", reject);
      request.once("response", (response) => reject(new Error(`the stream is answered with ${response.statusCode}`))).end();
    });
  }

  /** It is gone, with all that it was about to do. */
  lose() {
    this.#stream.destroy();
    this.#stream = null;
    this.#rest = "";
    this.#asked.clear();
  }

  tell(op, fields) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#stream.write(`${JSON.stringify({ id, op, ...fields })}\n`);
    });
  }

  #heard(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const said of lines.map((line) => JSON.parse(line))) {
      const asked = this.#asked.get(said.id);
      this.#asked.delete(said.id);
      if (said.push === "delivery") this.#take(said);
      else if (said.error) asked?.reject(new Error(JSON.stringify(said.error)));
      else asked?.resolve(said.ok);
    }
  }

  #take({ "delivery-id": run, "session-id": session, message }) {
    const now = this.daemon.lapse.now();
    const { turnMs, error } = this.conduct(message.label ?? "", now);
    this.handed.push({ run, session, label: message.label, at: now });
    if (error) return void this.tell("delivery/nack", { "delivery-id": run, phase: "prompt-submit", error });
    void this.tell("session/busy", { "session-id": session, "busy?": true });
    void this.tell("delivery/ack", { "delivery-id": run });
    const stream = this.#stream;
    const idle = () => stream === this.#stream && this.tell("session/busy", { "session-id": session, "busy?": false });
    this.agenda.add(now + turnMs, idle);
  }
}

const STILL = "{ engine { nextWakeMs } runs(first: 1, filter: { state: [IN_FLIGHT] }) { totalCount } }";

/** Lets the time pass until an instant: from deadline to deadline, as they come, with what is planned in between. */
export async function live(daemon, agenda, until, isUp = true) {
  const { lapse } = daemon;
  for (;;) {
    const wake = isUp ? await settled(daemon) : Infinity;
    const next = Math.min(wake, agenda.next, until);
    lapse.leap(next);
    await agenda.upTo(Math.max(lapse.now(), next));
    if (next >= until) return;
  }
}

/** Waits until all that is due is done; the daemon's next deadline. */
export async function settled(daemon) {
  for (const end = performance.now() + 20_000; performance.now() < end;) {
    const { engine, runs } = await daemon.ask(STILL);
    if (engine.nextWakeMs === null) return Infinity;
    if (Number(engine.nextWakeMs) > 0 && runs.totalCount === 0) return daemon.lapse.now() + Number(engine.nextWakeMs);
    await pause(2);
  }
  throw new Error("what was due is not done");
}
