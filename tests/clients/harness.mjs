// The client of clients/js against a daemon that is killed: it hosts `main`, schedules MORE deliveries, says what it handles, and
// ends when TOTAL are delivered. tests/clients/harness.rs reads what it prints.
// Usage: node harness.mjs MORE TOTAL SOCKET, or node harness.mjs MORE TOTAL URL TOKEN.
import { Reveille, ReveilleError } from "../../clients/js/reveille.js";
import { setTimeout as sleep } from "node:timers/promises";

const [more, total, where, token] = process.argv.slice(2);
const reveille = new Reveille(token ? { url: where, token } : { socket: where });
const stop = new AbortController();
const say = (...words) => console.log(words.join(" "));

// What asks may meet the daemon while it is away.
async function untilAnswered(ask) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!error.isLost) throw error;
      await sleep(50);
    }
  }
}

async function host() {
  let isFirst = true;
  const onLost = (why) => say("lost", why.message);
  for await (const delivery of reveille.host("main", { onLost, signal: stop.signal })) {
    if (delivery.text === "refuse me") {
      await delivery.nack(new Error("the model is gone"));
      say("refused");
      continue;
    }
    say("handled", delivery.text);
    if (isFirst) say("twice", await delivery.ack(), await delivery.ack());
    isFirst = false;
    // A turn, which a kill may cut.
    await sleep(60);
  }
}

const hosting = host();
const isHosted = "[{[:psi.agent-session/session-id \"main\"] [:psi.agent-session/hosted?]}]";
const ask = () => reveille.eql(isHosted, { lenient: true });
while (!JSON.stringify(await untilAnswered(ask)).includes("true")) await sleep(20);
const create = (message, delay) =>
  `(psi.scheduler/create {:session-id "main" :kind :message :message ${JSON.stringify(message)} :delay-ms ${delay}
                          :durability :durable})`;
const wanted = Array.from({ length: Number(more) }, (_, number) => create(`m${number}`, 1_000 + 150 * number));
if (wanted.length) await reveille.eql(`[${[...wanted, create("refuse me", 1_000)].join(" ")}]`);
const refused = await reveille.call("create", { message: "x", when: "soon" }, { session: "main" }).catch((error) => error);
say("created", refused instanceof ReveilleError, refused.message.length > 0);
const statuses = "[{:psi.scheduler/schedules [:psi.scheduler/message :psi.scheduler/status :psi.scheduler/error-summary]}]";
for (;;) {
  const schedules = (await untilAnswered(() => reveille.eql(statuses)))["psi.scheduler/schedules"];
  const by = (status) => schedules.filter((schedule) => schedule["psi.scheduler/status"] === status);
  if (by("delivered").length === Number(total) && by("failed").length === 1) {
    say("failed", JSON.stringify(by("failed")[0]).includes("the model is gone"));
    break;
  }
  await sleep(50);
}
if (token) say("graphql", (await reveille.graphql("{ schedules { totalCount } }")).schedules.totalCount);
stop.abort();
await hosting;
await reveille.close();
say("done");
