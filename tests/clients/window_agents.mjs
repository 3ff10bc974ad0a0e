// What `windows.mjs` has to know of each agent: where its program is, what its user has set up before, how it is set up for Reveille,
// and what its window shows.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";

const beside = (...names) => names.map((name) => path.resolve("node_modules", name)).find(existsSync);
const asked = ({ said, results }) => said.includes("in two seconds") && results.length === 0;
const json = JSON.stringify;

export const agents = {
  claude: {
    program: () => beside("@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude"),
    argv: ["--dangerously-skip-permissions"],
    // It looks at its user's files, and asks nothing that it finds answered there.
    files: (_, work) => ({
      ".claude.json": json({
        hasCompletedOnboarding: true,
        theme: "dark",
        projects: { [work]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
        bypassPermissionsModeAccepted: true,
      }),
      ".claude/settings.json": json({ skipDangerousModePermissionPrompt: true }),
    }),
    environment: (model) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: "none-none-none-none-none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
    }),
    setUp({ run, binary, program, state }) {
      const market = run(binary, ["plugin", "claude", "--data-dir", state]).trim();
      run(program, ["plugin", "marketplace", "add", market]);
      run(program, ["plugin", "install", "reveille@reveille"]);
      // Our tools by Claude's names, beside its own.
      run(program, ["mcp", "add", "--scope", "user", "ours", "--", binary, "mcp", "--tools", "claude-cron", "--data-dir", state]);
    },
    question: { asks: /Do you want to use this API key/, key: "Up", chosen: /❯ Yes/ },
    isReady: /bypass permissions on/,
    // What a person types may come with words of the agent's own behind it, in a message of their own.
    said({ before, said }) {
      const all = before + said;
      return all.slice(Math.max(0, all.lastIndexOf('"role":"assistant"')));
    },
    // The tools of a plugin have to be loaded first.
    call({ tools, said, results, before }, create) {
      const all = before + said;
      const isAsked = all.includes("in two seconds") && !(all + results.join()).includes("schedule_id");
      if (isAsked && !create && tools.includes("ToolSearch")) {
        return { call: "ToolSearch", input: { query: "select:mcp__plugin_reveille_reveille__create", max_results: 3 } };
      }
      return isAsked && create;
    },
    callOfItsOwn({ tools, said, before }) {
      const all = before + said;
      const watch = all.slice(Math.max(0, all.lastIndexOf("WATCH THE FILE")));
      if (watch.startsWith("WATCH THE FILE") && !/"name":"mcp__ours__Monitor"/.test(watch)) {
        const input = {
          description: "the build", persistent: true, interval: 5, tool: "filesystem.read", arguments: { path: "build.txt" },
        };
        if (tools.includes("mcp__ours__Monitor")) return { call: "mcp__ours__Monitor", input };
        return { call: "ToolSearch", input: { query: "select:mcp__ours__Monitor", max_results: 3 } };
      }
      const load = all.slice(Math.max(0, all.lastIndexOf("LOAD YOUR TOOLS")));
      if (load.startsWith("LOAD YOUR TOOLS") && !/"name":"ToolSearch"/.test(load)) {
        return { call: "ToolSearch", input: { query: `select:${this.ownTools.join(",")}`, max_results: 5 } };
      }
      const asked = all.slice(Math.max(0, all.lastIndexOf("OWN CRON")));
      const [, number, cron] = /^OWN CRON (\d+) at ([\d *]+\*)/.exec(asked) ?? [];
      if (cron === undefined || /"name":"CronCreate"/.test(asked)) return undefined;
      if (tools.includes("CronCreate")) {
        return { call: "CronCreate", input: { cron, prompt: `FIRED ${number}.`, recurring: false } };
      }
      return { call: "ToolSearch", input: { query: "select:CronCreate", max_results: 3 } };
    },
    ownTools: ["CronCreate", "CronList", "CronDelete", "ScheduleWakeup", "Monitor"],
    // Its process goes on with one conversation at a time.
    conversations: "one",
  },
  opencode: {
    program: () => beside(".bin/opencode"),
    files: (model) => ({
      ".config/opencode/opencode.json": json({
        autoupdate: false,
        share: "disabled",
        model: "anthropic/claude-sonnet-4-5",
        small_model: "anthropic/claude-sonnet-4-5",
        provider: { anthropic: { options: { baseURL: `${model}/v1`, apiKey: "none" } } },
      }),
    }),
    environment: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    }),
    isReady: /Ask anything/,
    call: (request, create) => asked(request) && create,
    conversations: "many",
  },
  codex: {
    program: () => beside(".bin/codex"),
    files: (model, work) => ({
      ".codex/config.toml": `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
approval_policy = "never"
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
env_key = "SCRIPTED_MODEL_KEY"
wire_api = "responses"
[projects."${work}"]
trust_level = "trusted"
`,
    }),
    environment: () => ({ SCRIPTED_MODEL_KEY: "none" }),
    // Windows of its own daemon are woken at once, and others within ten seconds.
    daemon: ["app-server", "daemon"],
    // Once, whether our hooks may run.
    question: { asks: /Trust all and continue/, key: "Down", chosen: /› 2\. Trust all and continue/, isSure: true },
    isReady: /Ask Codex to do anything/,
    call: (request, create) => asked(request) && create,
    conversations: "many",
  },
  qwen: {
    program: () => beside(".bin/qwen"),
    argv: ["--yolo"],
    // What the user has there stays.
    files: () => ({ ".qwen/settings.json": json({ general: { disableAutoUpdate: true }, hooks: { Stop: [] } }) }),
    environment: (model) => ({ OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: "scripted" }),
    isReady: /Type your message/,
    // Tools of servers are called by another tool.
    call: (request) => asked(request) && request.tools.includes("tool_call") && "tool_call",
    input: (input) => ({ name: "mcp__reveille__create", arguments: input }),
    conversations: "one",
    // The file of each conversation has its id.
    isElsewhere: ({ old, text, home }) => chats(home).some(([id, chat]) => !old.endsWith(id) && chat.includes(text)),
  },
  gemini: {
    program: () => beside(".bin/gemini"),
    argv: ["--approval-mode=yolo"],
    files: () => ({
      ".gemini/settings.json": json({
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      }),
    }),
    environment: (model) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model }),
    isReady: /Type your message/,
    call: (request, create) => asked(request) && create,
    conversations: "one",
    // An idle window has no door.
    isAsleep: true,
  },
};

// The conversations that Qwen Code has written down, by their ids.
function chats(home) {
  const projects = path.join(home, ".qwen/projects");
  const files = existsSync(projects) ? readdirSync(projects, { recursive: true }) : [];
  return files.filter((name) => name.endsWith(".jsonl"))
    .map((name) => [path.basename(name, ".jsonl"), readFileSync(path.join(projects, name), "utf8")]);
}
