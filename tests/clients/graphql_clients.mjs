// Real clients against a daemon: graphql-ws over a WebSocket, graphql-sse as an event stream.
// Run: npm install && npm run clients -- http://127.0.0.1:7517 TOKEN
import assert from "node:assert/strict";
import { createClient as createWs } from "graphql-ws";
import { createClient as createSse } from "graphql-sse";
import WebSocket from "ws";

const [base = "http://127.0.0.1:7517", token = process.env.REVEILLE_TOKEN] = process.argv.slice(2);
const url = `${base}/graphql`;
const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
const post = async (query, variables = {}) => {
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
  const answer = await response.json();
  assert.equal(answer.errors, undefined, JSON.stringify(answer));
  return answer.data;
};

// Collects what a subscription pushes until there is enough of it, while something happens.
const collect = async (client, query, count, act) => {
  const got = [];
  let stop;
  const done = new Promise((resolve, reject) => {
    stop = client.subscribe({ query }, {
      next: (answer) => { got.push(answer.data); if (got.length === count) resolve(); },
      error: reject,
      complete: resolve,
    });
  });
  await act();
  await done;
  stop();
  return got;
};

const open = (id) => post("mutation($id: ID) { openSession(sessionId: $id) { sessionId } }", { id });
const ws = createWs({ url: url.replace("http", "ws"), webSocketImpl: WebSocket, connectionParams: { token } });
const sse = createSse({ url, headers: { authorization: `Bearer ${token}` } });
const cursor = (await post("{ engine { cursor } }")).engine.cursor;
const run = Date.now().toString(36);

for (const [name, client] of Object.entries({ ws, sse })) {
  const [one, two] = await collect(client, `subscription { events(after: "${cursor}") { cursor kind sessionId } }`, 2, async () => {
    await open(`${run}-${name}-1`);
    await open(`${run}-${name}-2`);
  });
  assert.equal(one.events.kind, "SESSION_OPENED");
  assert.ok(Number(two.events.cursor) > Number(one.events.cursor));
  const [patch] = await collect(client, "subscription { schedules { isWhole changed { scheduleId } } }", 1, async () => {});
  assert.equal(patch.schedules.isWhole, true);
  const query = "{ pendingCount }";
  const [answer] = await collect(client, query, 1, async () => {});
  assert.equal(typeof answer.pendingCount, "number");
  console.log(`${name}: events, schedules, a query`);
}
await ws.dispose();
sse.dispose();

// A client whose socket is cut in the middle comes back with the cursor of the last event that it has seen, and has
// missed nothing: cursors go on one by one, through everything that happened while it was away.
let socket;
class Cuttable extends WebSocket {
  constructor(...args) { super(...args); socket = this; }
}
const seen = [];
const follow = (after, until) => new Promise((resolve, reject) => {
  const client = createWs({
    url: url.replace("http", "ws"), webSocketImpl: Cuttable, connectionParams: { token }, retryAttempts: 0,
  });
  client.subscribe({ query: `subscription { events(after: "${after}") { cursor kind } }` }, {
    next: (answer) => {
      assert.equal(answer.errors, undefined);
      seen.push(Number(answer.data.events.cursor));
      if (until()) socket.terminate();
    },
    error: () => resolve(),
    complete: () => reject(new Error("the subscription ended by itself")),
  });
});
const first = (await post("{ engine { cursor } }")).engine.cursor;
const cut = follow(first, () => seen.length >= 2);
for (const n of [1, 2, 3]) await open(`${run}-cut-${n}`);
await cut;
const last = seen.at(-1);
for (const n of [4, 5, 6]) await open(`${run}-cut-${n}`);
const end = Number((await post("{ engine { cursor } }")).engine.cursor);
await follow(last, () => seen.at(-1) >= end);
assert.deepEqual(seen, seen.map((_, at) => seen[0] + at), "no gap and nothing twice");
assert.equal(seen.at(-1), end);
console.log(`ws: cut off after ${last}, resumed to ${end} without a gap`);
