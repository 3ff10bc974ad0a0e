// A bad night for the dashboard, lived through by the real daemon in seconds of its leaping clocks: that of 24 October 2026 in
// Berlin, in which the clocks go back. A hold, a crash, a dead channel, runs that wait for an approval, prompts that nobody
// took, an agent that failed and one that was long at work; and two hundred schedules that go well. Somebody who has never seen
// the pages is then to answer the questions of bad_night_facts.mjs from them; look.mjs lets a reader without eyes use them.
// Run: node bad_night.mjs BINARY           prints where it is, and stays until it is killed
//      node bad_night.mjs BINARY --check   checks that all of it really happened, and ends
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { check, questions } from "./bad_night_facts.mjs";
import { Agenda, Daemon, freePort, Host, Lapse, live, settled } from "./bad_night_world.mjs";

const [binary, ...flags] = process.argv.slice(2);
const MINUTE = 60_000;
// Two o'clock comes twice: at +02:00, and an hour later at +01:00.
const summer = (time, day = 25) => Date.parse(`2026-10-${day}T${time}+02:00`);
const winter = (time) => Date.parse(`2026-10-25T${time}+01:00`);
const [START, END] = [summer("20:00:00", 24), winter("07:40:00")];
const SESSIONS = ["build", "crawler", "docs", "ledger", "mail", "metrics", "ops", "research", "support", "wiki"];

const CONFIG = (port) => `zone = "Europe/Berlin"
host-tokens = ["nightly"]
[guard]
approval-wait-s = 14400
[[guard.rules]]
name = "production"
sessions = ["release"]
then = "hold"
why = "a person looks at what changes production"
[channels.pager]
url = "http://127.0.0.1:${port}/page"
shape = "json"
loopback = true
agents = true
`;

// The schedules that the questions are about: session, label, message, and when.
const STORY = [
  ["ledger", "ledger snapshot", "Take a snapshot of the ledger.", { when: "every day at 3:15", policy: { missed: "SKIP" } }],
  ["ledger", "ledger backup", "Back the ledger up, and say where it is.", { when: "every day at 3:30" }],
  ["crawler", "feed poll", "Poll the feeds.", { when: "every 15 minutes" }],
  ["mail", "bounce report", "Report the bounces of the last hour.", { cron: "10 * * * *", policy: { missed: "ALL" } }],
  ["support", "watch the deploy", "See whether the deploy is through.", { when: "every 10 minutes", durability: "VOLATILE" }],
  ["ops", "key rotation", "Rotate the keys.", { when: "every day at 2:30" }],
  ["metrics", "meter reading", "Read the meters.", { cron: "*/30 2 * * *" }],
  ["ops", "on-call heartbeat", "The night watch is well.",
    { cron: "0 * * * *", channel: "pager", policy: { backoffMs: [MINUTE, 5 * MINUTE, 15 * MINUTE] } }],
  ["ops", "shift report", "All that the late shift leaves to the night.", { at: summer("23:45:00", 24), channel: "pager" }],
  ["release", "drop the old tables", "Drop the tables of 2024 in production.", { at: summer("20:40:00", 24) }],
  ["release", "promote build 4711", "Promote build 4711 to production.", { at: summer("22:30:00", 24) }],
  ["release", "promote build 4712", "Promote build 4712 to production, and tell ops.", { at: winter("06:50:00") }],
  ["build", "nightly build", "Build everything from nothing.", { when: "every day at 5:30" }],
  ["build", "integration tests", "Run the integration tests.", { when: "every day at 5:45" }],
  ["docs", "link check", "Check the links of the handbook.", { cron: "20 * * * *" }],
  ["research", "paper digest", "Read the papers of the week.", { when: "every day at 7:10" }],
  ["research", "reading list", "Bring the reading list up to date.", { when: "every day at 7:20" }],
  ["mail", "invoice run", "Send the invoices.", { when: "every day at 4:00" }],
  ["notes", "night note", "Write down how the night began.", { at: summer("23:15:00", 24) }],
  ["notes", "morning note", "Write down how the night was.", { at: winter("06:30:00") }],
];

const WORDS = ["cache", "index", "quota", "thumbnail", "backlog", "coverage", "licence", "translation", "dependency", "typo"];
const DEEDS = ["sweep", "audit", "refresh", "summary", "check"];

/** Two hundred schedules that go well: none is due while the daemon is down. */
function noise() {
  return Array.from({ length: 200 }, (_, number) => {
    const label = `${WORDS[number % 10]} ${DEEDS[Math.floor(number / 10) % 5]} ${Math.floor(number / 50) + 1}`;
    const message = `Do the ${label}.`;
    const minute = (number * 35) % 60;
    if (number % 10 < 3) return [SESSIONS[number % 10], label, message, { cron: `${minute} 0,5,7,20,22 * * *` }];
    // From 20:05 to 02:55, and from 05:00 to 08:55, five minutes apart.
    const place = (number * 7) % 131;
    const at = place < 83 ? 20 * 60 + 5 + place * 5 : 5 * 60 + (place - 83) * 5;
    const time = `${Math.floor(at / 60) % 24}:${String(at % 60).padStart(2, "0")}`;
    return [SESSIONS[number % 10], label, message, { when: `every day at ${time}` }];
  });
}

/** What the agents do with what they get. */
function conduct(label, now) {
  if (label === "link check" && now > winter("05:00:00")) return { error: "the model answered 529: overloaded" };
  if (label === "nightly build") return { turnMs: 50 * MINUTE };
  if (label === "paper digest") return { turnMs: 12 * 60 * MINUTE };
  return { turnMs: 8_000 + (now / 1_000 % 45) * 1_000 };
}

const CREATE = "mutation($input: CreateScheduleInput!) { createSchedule(input: $input) { schedule { scheduleId } } }";

class Night {
  ids = new Map();
  agenda = new Agenda();

  async begin() {
    this.home = fs.mkdtempSync(path.join(os.tmpdir(), "reveille-night-"));
    const [port, pager] = [await freePort(), await freePort()];
    fs.writeFileSync(path.join(this.home, "reveille.toml"), CONFIG(pager));
    this.lapse = new Lapse(this.home, START);
    this.daemon = new Daemon(binary, this.home, port, this.lapse);
    const takes = (request, response) => request.resume().on("end", () => response.end());
    this.pager = http.createServer(takes).listen(pager, "127.0.0.1");
    await this.daemon.start();
    this.host = new Host(this.daemon, this.agenda, conduct);
    await this.host.attach([...SESSIONS, "release"]);
    await this.daemon.ask('mutation { openSession(sessionId: "notes") { sessionId } }');
    for (const one of [...STORY, ...noise()]) await this.create(one);
  }

  /** The sessions' schedules are made by their agents; those of nobody's session by the operator. */
  async create([session, label, message, { at, ...rest }]) {
    const token = this.host.tokenOf(session) ?? this.daemon.token;
    const once = at ? { at: new Date(at).toISOString() } : {};
    const input = { kind: "MESSAGE", originSessionId: session, label, message, ...rest, ...once };
    const data = await this.daemon.ask(CREATE, { input }, { authorization: `Bearer ${token}` });
    this.ids.set(label, data.createSchedule.schedule.scheduleId);
  }

  to(until, isUp = true) {
    return live(this.daemon, this.agenda, until, isUp);
  }

  async evening() {
    await this.to(summer("22:00:00", 24) + 20_000);
    const pausing = `mutation($id: ID!, $reason: String) {
      pauseSchedule(scheduleId: $id, reason: $reason) { schedule { paused } } }`;
    await this.daemon.ask(pausing, { id: this.ids.get("invoice run"), reason: "finance has not closed the month" });
    await this.to(summer("23:05:10", 24));
    // Somebody approves one run in the browser.
    const held = "{ engine { heldRuns { id schedule { label } approval { digest } } } }";
    const { engine } = await this.daemon.ask(held);
    const run = engine.heldRuns.find((one) => one.schedule.label === "promote build 4711");
    const approving = "mutation($id: ID!, $digest: String!) { approveRun(runId: $id, digest: $digest) { run { id } } }";
    await this.daemon.ask(approving, { id: run.id, digest: run.approval.digest }, await this.daemon.enter());
    // From now on nothing listens there.
    await new Promise((resolve) => { this.pager.close(resolve).closeAllConnections(); });
  }

  async held() {
    await this.to(summer("01:00:20"));
    const reason = "the disk of db-2 is full, ops-anna clears it";
    await this.daemon.ask("mutation($reason: String) { holdAll(reason: $reason) { held { since } } }", { reason });
    await this.to(summer("01:40:05"));
    await this.daemon.ask("mutation { releaseAll { held { since } } }");
  }

  async crash() {
    await this.to(winter("03:05:40"));
    await this.daemon.noted();
    this.host.lose();
    await this.daemon.end("SIGKILL");
    this.agenda = this.host.agenda = new Agenda();
    await this.to(winter("04:40:00"), false);
    await this.daemon.start();
    await this.to(winter("04:40:20"));
    await this.host.attach([...SESSIONS, "release"]);
  }

  async whole() {
    await this.begin();
    await this.evening();
    await this.held();
    await this.crash();
    await this.to(END);
    await settled(this.daemon);
  }
}

const began = performance.now();
const night = new Night();
await night.whole();
const { daemon, home } = night;
console.log(`the night of 24 October 2026, in ${Math.round((performance.now() - began) / 1_000)} s`);
const facts = await check(daemon, night.ids);
if (flags.includes("--check")) {
  await daemon.end("SIGTERM");
  process.exit(0);
}
const all = questions(facts);
const file = path.join(home, "questions.json");
fs.writeFileSync(file, JSON.stringify(all, null, 2));
console.log(`data directory: ${daemon.data}\nquestions, with their answers: ${file}`);
console.log(`token: ${daemon.token}\nlogin, once and within a minute: ${daemon.login()}`);
console.log(`a look: node look.mjs ${binary} ${daemon.data}`);
// The morning goes on.
setInterval(() => night.agenda.upTo(night.lapse.now()), 500);
