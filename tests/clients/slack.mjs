// Slack's own code takes what a daemon sends over a channel of the shape `slack`: the types and the webhook client of its SDK, and a
// parser of its messages. Bolt, its framework for apps, lets in the events that the daemon lets in, and no others.
// Usage: node slack.mjs BINARY; it starts a daemon of its own.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import bolt from "@slack/bolt";
import { IncomingWebhook } from "@slack/webhook";
import { NodeType, parse } from "slack-message-parser";
import { pause, serve } from "./own_agents.mjs";

const [binary] = process.argv.slice(2);
const PATIENCE_MS = 60_000;
const SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
const home = mkdtempSync(`${tmpdir()}/reveille-slack-`);

const posts = [];
const receiver = http.createServer(async (request, reply) => {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  posts.push({ method: request.method, type: request.headers["content-type"], body: JSON.parse(text) });
  reply.end("ok");
});
await new Promise((ready) => receiver.listen(0, "127.0.0.1", ready));
const hook = `http://127.0.0.1:${receiver.address().port}/services/T0/B0/x`;
writeFileSync(`${home}/slack.secret`, SECRET, { mode: 0o600 });
writeFileSync(
  `${home}/agents.toml`,
  `[channels.team]\nshape = "slack"\nurl = "${hook}"\nloopback = true\nagents = true\n` +
    `[channels.team.inbound]\nverify = "slack"\nsecret-file = "${home}/slack.secret"\nsession = "s"\n`,
);
const heard = [];
const app = new bolt.App({
  receiver: new bolt.HTTPReceiver({ signingSecret: SECRET, logLevel: bolt.LogLevel.ERROR }),
  authorize: async () => ({}),
  logLevel: bolt.LogLevel.ERROR,
});
app.message(async ({ message }) => { heard.push(message.text); });
const framework = await app.start({ port: 0, host: "127.0.0.1" });
const daemon = await serve(binary, home);

async function until(what, isSo) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause(50)) {
    if (await isSo()) return;
  }
  assert.fail(`${what}: not within ${PATIENCE_MS / 1000} s`);
}

// What goes out. The text that a person shall read in Slack is the subject and the message, as they were written.
const MESSAGES = [
  { message: "The build is done." },
  { message: "<!channel> <!here> <@U012AB3CD> <#C012AB3CD|general> <https://example.com|a link> &lt;!everyone&gt; & \"so\"", subject: "R & D <!channel>" },
  { message: "Grüße 👋\n\ttabs, \\ and `code` stay" },
  { message: "a reply", thread_id: "1503435956.000247" },
  { message: "&<>".repeat(3_000) },
];
const MENTIONS = [NodeType.ChannelLink, NodeType.UserLink, NodeType.URL, NodeType.Command];
const kinds = (node) => [node.type, ...(node.children ?? []).flatMap(kinds)];
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const shown = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

async function goesOut() {
  assert.ok(kinds(parse("hi <!channel>")).includes(NodeType.Command), "the parser knows a mention");
  const bodies = [];
  for (const { message, subject, thread_id } of MESSAGES) {
    const words = subject ? `${subject}\n\n${message}` : message;
    posts.length = 0;
    await daemon.call("channels.send_message", { channel: "team", message, subject, thread_id });
    await until("a post", () => posts.length === 1);
    const [ours] = posts;
    bodies.push(ours.body);
    const { text } = ours.body;
    assert.ok(!kinds(parse(text)).some((kind) => MENTIONS.includes(kind)), text);
    if (words.length > 4_000) {
      const [, start, left] = shown(text).match(/^(.*)\n… \[(\d+) more characters\]$/s);
      assert.ok(words.startsWith(start) && start.length + Number(left) === words.length, "it says how much is missing");
      continue;
    }
    assert.equal(shown(text), words);
    await new IncomingWebhook(hook).send({ text: escaped(words) });
    const { thread_ts, ...said } = ours.body;
    assert.equal(thread_ts, thread_id);
    assert.deepEqual({ ...ours, body: said, type: ours.type.split(";")[0] }, { ...posts[1], type: posts[1].type.split(";")[0] });
  }
  return bodies;
}

// The compiler refuses a key that the types do not have, which the last line makes sure of. A webhook's types leave threads out.
function isOfTheirTypes(bodies) {
  const literal = (body) => JSON.stringify(body);
  const webhook = bodies.filter((body) => !body.thread_ts).map((body, at) => `export const w${at}: IncomingWebhookSendArguments = ${literal(body)};`);
  const message = bodies.map((body, at) => `export const m${at}: ChatPostMessageArguments = ${literal({ channel: "C012AB3CD", ...body })};`);
  const control = "// @ts-expect-error there is no such key\nexport const wrong: IncomingWebhookSendArguments = { text: 'x', txet: 'y' };";
  const imports = 'import type { ChatPostMessageArguments } from "@slack/web-api";\nimport type { IncomingWebhookSendArguments } from "@slack/webhook";';
  writeFileSync(`${home}/bodies.ts`, [imports, ...webhook, ...message, control, ""].join("\n"));
  const modules = new URL("node_modules", import.meta.url).pathname;
  symlinkSync(modules, `${home}/node_modules`);
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2024", "--module", "esnext", "--moduleResolution", "bundler"];
  execFileSync(process.execPath, [`${modules}/typescript/bin/tsc`, ...flags, "bodies.ts"], { cwd: home, stdio: "inherit" });
}

// What comes in: each request is asked of Bolt and of the daemon.
const now = Math.floor(Date.now() / 1_000);
const event = (id, text) =>
  JSON.stringify({ type: "event_callback", team_id: "T0", event_id: id, event: { type: "message", channel: "C024BE91L", user: "U0", text, ts: "1" } });
const HELLO = event("Ev1", "Grüße aus <#C024BE91L>");
const sign = (body, at, secret = SECRET) => `v0=${createHmac("sha256", secret).update(`v0:${at}:${body}`).digest("hex")}`;
const EVENTS = [
  { name: "right", body: HELLO, taken: true },
  { name: "repeated by Slack", body: HELLO, taken: true, headers: { "x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout" } },
  { name: "almost five minutes old", body: event("Ev2", "late"), at: now - 240, taken: true },
  { name: "six minutes old", body: event("Ev3", "forged"), at: now - 360 },
  { name: "changed", body: event("Ev4", "forged"), signature: sign(event("Ev4", "true"), now) },
  { name: "of another time", body: event("Ev5", "forged"), signature: sign(event("Ev5", "forged"), now - 1) },
  { name: "of another secret", body: event("Ev6", "forged"), signature: sign(event("Ev6", "forged"), now, "another secret of somebody") },
  { name: "of another version", body: event("Ev7", "forged"), signature: sign(event("Ev7", "forged"), now).replace("v0", "v1") },
  { name: "without a signature", body: event("Ev8", "forged"), signature: null },
  { name: "without a time", body: event("Ev9", "forged"), at: null },
  { name: "the question whose address it is", body: JSON.stringify({ type: "url_verification", token: "x", challenge: "3eZbrw1aB" }), taken: true, same: true },
];

async function comesIn() {
  const theirs = `http://127.0.0.1:${framework.address().port}/slack/events`;
  for (const { name, body, at = now, signature = sign(body, at), headers = {}, taken = false, same = false } of EVENTS) {
    const all = { "content-type": "application/json", "x-slack-request-timestamp": at, "x-slack-signature": signature, ...headers };
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
    const ask = async (url) => {
      const reply = await fetch(url, { method: "POST", headers: given, body });
      return { status: reply.status, text: await reply.text() };
    };
    const [bolts, ours] = [await ask(theirs), await ask(`${daemon.url}/v1/channels/team/in`)];
    const isTaken = ({ status }) => status >= 200 && status < 300;
    assert.deepEqual([isTaken(bolts), isTaken(ours)], [taken, taken], `${name}: Bolt says ${bolts.status}, we say ${ours.status} ${ours.text}`);
    if (same) assert.deepEqual(JSON.parse(ours.text), JSON.parse(bolts.text), name);
  }
  const inbox = () => daemon.eql('[{[:psi.agent-session/session-id "s"] [{:psi.agent-session/inbox [:reveille.message/text]}]}]');
  await until("the events are there", async () => (await inbox()).includes("> late"));
  const text = await inbox();
  // Bolt leaves it to the app to recognize a repetition.
  assert.deepEqual([...new Set(heard)], ["Grüße aus <#C024BE91L>", "late"]);
  assert.equal(text.split("source=C024BE91L event_id=Ev1").length, 2, "once");
  for (const said of heard) assert.ok(text.includes(`> ${said}`), `${said}: ${text}`);
  assert.ok(!text.includes("forged"), text);
}

try {
  await daemon.eql('[(psi.agent-session/open {:session-id "s"})]');
  const bodies = await goesOut();
  isOfTheirTypes(bodies);
  await comesIn();
  console.log(`Slack's own code took ${bodies.length} messages, and agreed about ${EVENTS.length} events`);
} finally {
  await daemon.kill("SIGKILL");
  receiver.close();
  await app.stop();
  rmSync(home, { recursive: true, force: true });
}
process.exit(0);
