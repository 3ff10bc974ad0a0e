// A Redis of our own for one measurement: it listens on a socket below its directory and nowhere else, and ends with us.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import IORedis from "ioredis";

/** How often a second the kernel counts a process's time. */
const TICKS = Number(execFileSync("getconf", ["CLK_TCK"]).toString());

export class Redis {
  /** `durable`: each write is flushed before it is answered. Otherwise nothing is written at all. */
  static async start(durable) {
    const dir = mkdtempSync(join(process.env.STORE_BENCH_DIR ?? tmpdir(), "reveille-bench-redis-"));
    const redis = new Redis(dir, durable);
    await redis.up();
    return redis;
  }

  constructor(dir, durable) {
    this.dir = dir;
    this.durable = durable;
    this.path = join(dir, "socket");
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
    process.on("exit", () => {
      this.child.kill("SIGKILL");
      rmSync(dir, { recursive: true, force: true });
    });
  }

  /** Starts the server, and returns once it answers with all it had. */
  async up() {
    const journal = this.durable ? ["yes", "--appendfsync", "always"] : ["no"];
    const told = ["--port", "0", "--unixsocket", this.path, "--dir", this.dir, "--save", "", "--appendonly", ...journal];
    this.child = spawn("redis-server", told, { stdio: "ignore" });
    // Its own check of readiness would ask once a second while the server loads.
    const connection = this.connect({ enableReadyCheck: false });
    connection.on("error", () => {});
    for (;;) {
      const answer = await connection.ping().catch(() => "not yet");
      if (answer === "PONG") break;
      await rest(2);
    }
    connection.disconnect();
  }

  /** Ends the server in good order. */
  async down() {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGTERM");
    await gone;
  }

  connect(options = {}) {
    const retryStrategy = () => 2;
    return new IORedis({ path: this.path, maxRetriesPerRequest: null, retryStrategy, ...options });
  }

  async memory() {
    const connection = this.connect();
    const said = await connection.info("memory");
    connection.disconnect();
    return Number(/used_memory:(\d+)/.exec(said)[1]);
  }

  /** Seconds of processor time that the server has used. */
  processorTime() {
    const fields = readFileSync(`/proc/${this.child.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  }
}
