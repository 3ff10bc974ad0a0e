// A mail server of others takes what a daemon sends over a channel: over STARTTLS with a login, at once, after a temporary
// refusal, and not at all after a final one. Usage: node smtp.mjs URL TOKEN BINARY; it starts a daemon of its own.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import readline from "node:readline";
import { SMTPServer } from "smtp-server";

const [, , binary] = process.argv.slice(2);
const TOKEN = "smtp-smtp-smtp-smtp-smtp-smtp-smtp-smtp";
const PATIENCE_MS = 60_000;
const home = mkdtempSync(`${tmpdir()}/reveille-smtp-`);
const openssl = (...args) => execFileSync("openssl", args, { cwd: home, stdio: ["ignore", "ignore", "pipe"] });
writeFileSync(`${home}/names`, "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n");
openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem");
openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr");
openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "server.pem");

const mails = [];
let refusals = [];
const server = new SMTPServer({
  key: readFileSync(`${home}/server.key`),
  cert: readFileSync(`${home}/server.pem`),
  logger: false,
  onAuth: ({ username, password }, _, done) =>
    username === "bot" && password === "secret" ? done(null, { user: username }) : done(new Error("who is that?")),
  onData(stream, session, done) {
    let text = "";
    stream.setEncoding("utf8");
    stream.on("data", (part) => (text += part));
    stream.on("end", () => {
      const refusal = refusals.shift();
      const mail = { text, secure: session.secure, user: session.user, envelope: session.envelope };
      if (!refusal) mails.push(mail);
      done(refusal ? Object.assign(new Error("not now"), { responseCode: refusal }) : null);
    });
  },
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const { port } = server.server.address();
writeFileSync(`${home}/password`, "secret\n", { mode: 0o600 });
writeFileSync(
  `${home}/daemon.toml`,
  `[channels.mail]\nagents = true\n[channels.mail.email]\nserver = "smtp://localhost:${port}"\nloopback = true\nca-file = "${home}/ca.pem"\n` +
    `user = "bot"\npassword-file = "${home}/password"\nfrom = "Reveille <bot@example.com>"\nto = ["ops@example.com"]\nsubject = "[ci] {{label}}"\n`,
);
const child = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", "state", "--config", "daemon.toml", "--log", "warn"], {
  cwd: home,
  env: { HOME: home, REVEILLE_TOKEN: TOKEN },
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const [line] = await new Promise((ready) => readline.createInterface({ input: child.stdout }).once("line", (line) => ready([line])));
  const url = line.replace("reveille ready ", "");
  const eql = async (query) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/edn" };
    const reply = await fetch(`${url}/eql`, { method: "POST", headers, body: query });
    const text = await reply.text();
    assert.equal(reply.status, 200, text);
    return text;
  };
  const until = async (what, isSo) => {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await new Promise((next) => setTimeout(next, 50))) {
      if (await isSo()) return;
    }
    assert.fail(`${what}: not within ${PATIENCE_MS / 1000} s`);
  };
  await eql('[(psi.agent-session/open {:session-id "main"})]');
  const send = async (label, message) => {
    const answer = await eql(
      `[{(psi.scheduler/create {:session-id "main" :kind :message :message ${JSON.stringify(message)} :label ${JSON.stringify(label)} ` +
        `:delay-ms 1000 :channel "mail"}) [:psi.scheduler/schedule-id]}]`,
    );
    return answer.match(/schedule-id "([^"]+)"/)[1];
  };
  const status = (id) => eql(`[{[:psi.scheduler/schedule-id "${id}"] [:psi.scheduler/status :psi.scheduler/reason :psi.scheduler/error-summary]}]`);

  const plain = await send("Grüße", "The build is done.\n.\nA line with one dot stood above.");
  await until("the first mail", () => mails.length === 1);
  const [mail] = mails;
  assert.ok(mail.secure, "it came over TLS");
  assert.equal(mail.user, "bot");
  assert.deepEqual(mail.envelope.rcptTo.map(({ address }) => address), ["ops@example.com"]);
  assert.equal(mail.envelope.mailFrom.address, "bot@example.com");
  assert.match(mail.text, /^Message-ID: <[^>]+>\r?$/im);
  assert.match(mail.text, /\r\nSubject: \[ci\] =\?utf-8\?/i);
  await until("the receipt", async () => (await status(plain)).includes(":delivered"));

  refusals = [451];
  const later = await send("later", "After a refusal.");
  await until("the second attempt", () => mails.length === 2);
  await until("its receipt", async () => (await status(later)).includes(":delivered"));
  assert.match(mails[1].text, /After a refusal\./);

  refusals = [550];
  const never = await send("never", "No.");
  await until("the refusal", async () => (await status(never)).includes(":failed"));
  assert.equal(mails.length, 2);
  console.log(`a mail server of others took ${mails.length} mails`);
} finally {
  child.kill("SIGKILL");
  server.close();
  rmSync(home, { recursive: true, force: true });
}
process.exit(0);
