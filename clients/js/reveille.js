// A client of Reveille in one file, without dependencies: it is the host of sessions, calls tools, and asks in EQL and GraphQL.
//
// It speaks the stream protocol in JSON, one line for each message (docs/HARNESS.md), over the Unix socket or over HTTP.
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The daemon waits 30 seconds for a receipt. One is given before, for a delivery that is still at work or waits its turn. */
const RECEIPT_MS = 20_000;
/** How long a session is asked for that another connection still has, such as that of the former process. */
const TAKE_OVER_MS = 5_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;
/** So many receipts are remembered, for deliveries that come again after a lost connection. */
const RECEIPTS_KEPT = 1_000;
/** A longer line is not the daemon's. */
const LINE_CHARS_MAX = 64 << 20;

/** A refusal of the daemon, with its data, or the loss of the connection (`isLost`). */
export class ReveilleError extends Error {
  constructor(said, isLost = false) {
    // Tools have errors of their own shapes.
    const error = said.error ?? said["psi-tool/error"] ?? said;
    super(error.message ?? JSON.stringify(said));
    const { class: kind, phase, data = error } = error;
    Object.assign(this, { name: "ReveilleError", class: kind, phase, data, code: data.code ?? kind, isLost });
  }
}

const lost = (why) => new ReveilleError({ message: `the connection to the daemon is lost: ${why}` }, true);

export class Reveille {
  #where;
  #line;

  /** `{ socket }`, or `{ url, token }`. Without either: the socket of the data directory. */
  constructor({ socket, url, token } = {}) {
    if (url && !token) throw new TypeError("a url needs the token that it is for");
    this.#where = url ? { url, token } : { socket: socket ?? join(dataDirectory(), "reveille.sock") };
  }

  /**
   * The deliveries of a session, one at a time: `for await (const delivery of reveille.host("main")) …`. The session is opened,
   * or taken over with what waits for it. The body is the turn: the session is busy meanwhile, and its end acknowledges the
   * delivery if nothing else has. A lost connection is made again. `break` leaves the delivery to the next host, unless it has
   * a receipt.
   */
  async *host(session, { config, zone, signal, onLost } = {}) {
    const host = new Host(this.#where, { session, config, zone, onLost });
    const stop = () => host.close();
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    try {
      await host.start();
      for (let delivery; (delivery = await host.next()); await host.turnEnded(delivery)) yield delivery;
    } finally {
      signal?.removeEventListener("abort", stop);
      host.close();
    }
  }

  /** Calls a tool by its name, on behalf of a session. Resolves with its result; rejects with its error. */
  call(tool, args = {}, { session } = {}) {
    return this.request("call", { tool, args, "session-id": session });
  }

  /** Asks in EQL, which is written as EDN: `reveille.eql("[:psi.scheduler/pending-count]")`. */
  eql(query, { entity, lenient } = {}) {
    return this.request("eql", { query, entity, "lenient?": lenient });
  }

  /** Any operation of the stream. Its fields may be undefined. */
  async request(op, fields = {}) {
    // Nothing is sent a second time: what was under way when a connection was lost may have been done.
    const line = this.#line;
    const isUsable = await line?.then(({ isOver }) => !isOver, () => false);
    if (!isUsable && this.#line === line) this.#line = Line.open(this.#where);
    return (await this.#line).ask(op, fields);
  }

  /** Asks in GraphQL, over HTTP. Resolves with the data; rejects with the first error, which has all of them in `data`. */
  async graphql(query, variables, { session } = {}) {
    const { url, token } = this.#where;
    if (!url) throw new TypeError("GraphQL is asked over HTTP: make the client with a url and a token");
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
    if (session) headers["Reveille-Session"] = session;
    const body = JSON.stringify({ query, variables });
    const answer = await (await fetch(new URL("/graphql", url), { method: "POST", headers, body })).json();
    const failure = answer.errors?.[0] ?? answer.error;
    if (failure) throw new ReveilleError({ message: failure.message, class: "graphql", data: { errors: answer.errors } });
    return answer.data;
  }

  /** Ends the connection of calls and queries. Hosts have their own, which end with their loops. */
  async close() {
    (await this.#line?.catch(() => undefined))?.close();
  }
}

/** What came due, and the ways to answer it. */
class Delivery {
  #host;

  constructor(push, host) {
    this.#host = host;
    this.id = push["delivery-id"];
    this.session = push["session-id"];
    this.message = push.message;
    this.text = push.message.content.map((part) => part.text).join("\n");
    this.schedule = push.message["schedule-id"];
    this.label = push.message.label;
  }

  /** It has arrived. The body may go on for as long as it wants. */
  ack() {
    return this.#host.receipt(this, "delivery/ack", {});
  }

  /** It could not be handed to the agent; `phase` is "prompt-submit", or "create-session" if there is no session for it. */
  nack(error, { phase = "prompt-submit" } = {}) {
    return this.#host.receipt(this, "delivery/nack", { phase, error: error?.message ?? String(error) });
  }
}

/** The host of one session, over however many connections it takes. */
class Host {
  #where;
  #asked;
  #onLost;
  #line;
  #isClosed = false;
  #failure;
  #waiting = [];
  /** The delivery whose turn it is. */
  #turn;
  /** The receipts that were given, by delivery: what comes again has been handled, or waits here. */
  #receipts = new Map();
  #timers = new Map();
  #wake = () => {};

  constructor(where, { session, config, zone, onLost }) {
    this.#where = where;
    this.#asked = { "session-id": session, "session-config": config, zone, "or-attach?": true };
    this.#onLost = onLost ?? (() => {});
  }

  /** Becomes the host. The first connection has to succeed; later ones are tried until they do. */
  async start() {
    if (!this.#isClosed) await this.#connect();
  }

  async next() {
    while (!this.#waiting.length && !this.#isClosed && !this.#failure) {
      await new Promise((wake) => { this.#wake = wake; });
    }
    if (this.#failure) throw this.#failure;
    if (this.#isClosed) return undefined;
    this.#turn = this.#waiting.shift();
    // Before the receipt: the next delivery comes when the turn ends.
    void this.#tell("session/busy", { "session-id": this.#turn.session, "busy?": true });
    return this.#turn;
  }

  async turnEnded(delivery) {
    await delivery.ack();
    this.#turn = undefined;
    await this.#tell("session/busy", { "session-id": delivery.session, "busy?": false });
  }

  /** Answers a delivery once. False if it had an answer already, or if the daemon did not take this one. */
  async receipt({ id }, op, fields) {
    if (this.#receipts.has(id)) return false;
    this.#forgetTimer(id);
    // Remembered first: if the daemon does not hear it, the delivery comes again and is answered then.
    this.#receipts.set(id, { op, fields });
    if (this.#receipts.size > RECEIPTS_KEPT) this.#receipts.delete(this.#receipts.keys().next().value);
    return this.#answer(id);
  }

  close() {
    this.#isClosed = true;
    for (const id of [...this.#timers.keys()]) this.#forgetTimer(id);
    this.#line?.close();
    this.#wake();
  }

  #forgetTimer(id) {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  async #connect() {
    const line = await Line.open(this.#where, (push) => this.#pushed(push));
    // At once: what waited is pushed with the answer, and may need its receipt again.
    this.#line = line;
    if (this.#isClosed) return line.close();
    const until = Date.now() + TAKE_OVER_MS;
    for (let wait = FIRST_WAIT_MS; ; wait *= 2) {
      try {
        const isBusy = this.#turn?.session === this.#asked["session-id"];
        await line.ask("session/open", { ...this.#asked, "busy?": isBusy || undefined });
        break;
      } catch (error) {
        if (error.code !== "CONFLICT" || Date.now() > until) {
          line.close();
          throw error;
        }
        await sleep(wait);
      }
    }
    void line.over.then((why) => this.#reconnect(why));
    return undefined;
  }

  async #reconnect(why) {
    // What waits without a receipt comes again, from a daemon that knows who is to have it.
    for (const { id } of this.#waiting) this.#forgetTimer(id);
    this.#waiting = this.#waiting.filter(({ id }) => this.#receipts.has(id));
    for (let wait = FIRST_WAIT_MS; !this.#isClosed; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      this.#onLost(why, wait);
      await sleep(wait * (0.5 + Math.random() / 2));
      try {
        if (!this.#isClosed) await this.#connect();
        return;
      } catch (error) {
        why = error;
        // A lost connection, and a session that another one has, may change. Any other refusal does not.
        if (!error.isLost && error.code !== "CONFLICT" && error.code !== "UNAVAILABLE") {
          this.#failure = error;
          this.#wake();
          return;
        }
      }
    }
  }

  #pushed(push) {
    if (push.push === "session/closed" && push["session-id"] === this.#asked["session-id"]) this.close();
    if (push.push !== "delivery") return;
    const id = push["delivery-id"];
    if (this.#receipts.has(id)) {
      void this.#answer(id);
    } else if (this.#turn?.id !== id && !this.#waiting.some((other) => other.id === id)) {
      const delivery = new Delivery(push, this);
      this.#timers.set(id, setTimeout(() => void delivery.ack(), RECEIPT_MS));
      this.#waiting.push(delivery);
      this.#wake();
    }
  }

  #answer(id) {
    const { op, fields } = this.#receipts.get(id);
    return this.#tell(op, { "delivery-id": id, ...fields });
  }

  /** Tells the daemon something, and whether it heard it. After a loss, the next connection tells what still matters. */
  async #tell(op, fields) {
    try {
      await this.#line.ask(op, fields);
      return true;
    } catch (error) {
      if (error instanceof ReveilleError) return false;
      throw error;
    }
  }
}

/** One connection: requests with their answers, and pushes. */
class Line {
  #stream;
  #onPush;
  #asked = new Map();
  #last = 0;
  #rest = "";
  isOver = false;

  static async open(where, onPush = () => {}) {
    return new Line(await (where.socket ? socketTo(where.socket) : upgraded(where)), onPush);
  }

  constructor({ stream, first }, onPush) {
    this.#stream = stream;
    this.#onPush = onPush;
    stream.setEncoding("utf8");
    stream.setKeepAlive(true, 30_000);
    /** Resolves with the reason, once the connection is over. */
    this.over = new Promise((resolve) => {
      let why = "it was closed";
      stream.on("error", (error) => { why = error.message; });
      stream.on("close", () => {
        this.isOver = true;
        const error = lost(why);
        for (const { reject } of this.#asked.values()) reject(error);
        this.#asked.clear();
        resolve(error);
      });
    });
    if (first.length) stream.unshift(first);
    stream.on("data", (text) => this.#heard(text));
  }

  ask(op, fields) {
    if (this.isOver) return Promise.reject(lost("it was closed"));
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#stream.write(`${JSON.stringify({ id, op, ...fields })}\n`);
    });
  }

  close() {
    this.#stream.destroy();
  }

  #heard(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    if (this.#rest.length > LINE_CHARS_MAX) this.#stream.destroy(new Error("it sends a line without end"));
    for (const line of lines) {
      const said = JSON.parse(line);
      const asked = this.#asked.get(said.id);
      if (said.push) this.#onPush(said);
      else if (asked) {
        this.#asked.delete(said.id);
        if ("error" in said) asked.reject(new ReveilleError(said.error));
        else asked.resolve(said.ok);
      } else if (said.error) this.#stream.destroy(new Error(said.error.message));
    }
  }
}

function socketTo(path) {
  return new Promise((resolve, reject) => {
    const stream = net.connect(path);
    stream.once("connect", () => resolve({ stream, first: Buffer.alloc(0) }));
    stream.once("error", (error) => reject(lost(error.message)));
  });
}

function upgraded({ url, token }) {
  const headers = { Connection: "Upgrade", Upgrade: "reveille-json", Authorization: `Bearer ${token}` };
  const to = new URL("/stream", url);
  return new Promise((resolve, reject) => {
    const request = (to.protocol === "https:" ? https : http).request(to, { headers });
    request.once("upgrade", (_, stream, first) => resolve({ stream, first }));
    request.once("error", (error) => reject(lost(error.message)));
    request.once("response", (response) => {
      response.resume();
      const message = `the daemon answers ${response.statusCode} to a request for its stream`;
      const mayChange = response.statusCode === 429 || response.statusCode >= 500;
      reject(new ReveilleError({ message, class: "http", data: { status: response.statusCode } }, mayChange));
    });
    request.end();
  });
}

function dataDirectory() {
  const state = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  return process.env.REVEILLE_DATA_DIR || join(state, "reveille");
}
