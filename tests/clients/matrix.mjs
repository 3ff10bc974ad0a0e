// Makes the table of agents and doors in docs/AGENTS.md from what the programs with real agents have seen; see results.mjs.
// Usage: node matrix.mjs RESULTS PAGE; `AGENTS_MODULES` names another node_modules.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const [results, page] = process.argv.slice(2);
const modules = path.resolve(process.env.AGENTS_MODULES ?? "node_modules");
const [begin, end] = ["<!-- made by tests/clients/matrix.mjs -->", "<!-- end -->"];

const doors = {
  setup: "set up by one command; asked for something later, and ended",
  resume: "killed, and gone on with",
  daemon: "the daemon killed as well",
  held: "due beside an open window",
  live: "an idle window",
  turn: "due in a turn",
  approve: "asks an operator",
  own: "schedules its next turn",
  fails: "its model refuses the login, has no room, is silent",
  tried: "`reveille agents test`",
};
const packages = {
  claude: ["@anthropic-ai/claude-code", "@agentclientprotocol/claude-agent-acp"],
  codex: ["@openai/codex", "@agentclientprotocol/codex-acp"],
  opencode: ["opencode-ai"],
  qwen: ["@qwen-code/qwen-code"],
  gemini: ["@google/gemini-cli"],
};

const version = (name) => {
  const file = path.join(modules, name, "package.json");
  return existsSync(file) ? `${name.split("/").at(-1)} ${JSON.parse(readFileSync(file, "utf8")).version}` : undefined;
};
const rows = readFileSync(results, "utf8").trim().split("\n").map((line) => JSON.parse(line));
// The last one counts: a program may have been run again.
const cell = (agent, door) => rows.findLast((row) => row.agent === agent && row.door === door)?.cell ?? "not run";
const agents = Object.keys(packages).filter((agent) => rows.some((row) => row.agent === agent));
const table = [
  ["", ...agents],
  Array(agents.length + 1).fill("---"),
  ["version", ...agents.map((agent) => packages[agent].map(version).filter(Boolean).join(", "))],
  ...Object.entries(doors).map(([door, title]) => [title, ...agents.map((agent) => cell(agent, door))]),
].map((line) => `| ${line.join(" | ")} |`);

const text = readFileSync(page, "utf8");
const [before, rest] = text.split(begin);
const [, after] = rest.split(end);
writeFileSync(page, `${before}${begin}\n${table.join("\n")}\n${end}${after}`);
