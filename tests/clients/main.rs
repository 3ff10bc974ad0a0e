//! Real clients against the real binary: Clojure and ClojureScript with their own readers and printers, graphql-http's
//! audit, graphql-ws and graphql-sse, one of them cut off, the conformance suite of MCP, which asks a server made for it
//! (`fixture`, on `edge`) too, Slack's SDK, a mail server, agents that are woken, the dashboard in a browser, and the commands
//! of a newcomer's first ten minutes, and our own clients, which host a session while the daemon is killed (`harness`).
//!
//! They need other programs, so `cargo test` alone leaves them out and says so; `.ci/check clients` installs what they
//! need and runs them.

mod edge;
mod fixture;
mod harness;
mod ten_minutes;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const TOKEN: &str = "clients-clients-clients-clients-clients";

/// A daemon on a free port; dropping it kills it.
struct Daemon {
    child: Child,
    url: String,
}

impl Daemon {
    /// `config` is the text of its configuration.
    fn start(name: &str, config: &str) -> Daemon {
        let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&state);
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.toml", name.replace('/', "-")));
        fs::write(&file, config).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_reveille"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--data-dir"]).arg(&state);
        command.arg("--config").arg(file);
        let mut child =
            command.env("REVEILLE_TOKEN", TOKEN).stdout(Stdio::piped()).spawn().expect("it was built");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("UTF-8");
        let url = line.strip_prefix("reveille ready ").expect("it is ready").trim().to_owned();
        Daemon { child, url }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

/// Runs a client, which gets the daemon's address, its token and the binary.
fn agree(program: &str, args: &[&str]) {
    agree_with(program, args, &[], "");
}

/// The same for a client that wants to know more, and for a daemon with this configuration.
fn agree_with(program: &str, args: &[&str], more: &[&str], config: &str) {
    let name = format!("clients-{}", args.first().unwrap_or(&program).replace('.', "-"));
    let daemon = Daemon::start(&name, config);
    let mut command = Command::new(program);
    command.args(args).args([daemon.url.as_str(), TOKEN, env!("CARGO_BIN_EXE_reveille")]).args(more);
    let status = command.current_dir(clients()).status().expect("the program is there");
    assert!(status.success(), "{program} {args:?} does not agree");
}

#[test]
#[ignore = "needs clojure: .ci/check clients"]
fn clojure_agrees() {
    agree("clojure", &["client.clj"]);
}

#[test]
#[ignore = "needs node and nbb: .ci/check clients"]
fn clojurescript_agrees() {
    agree("node", &["node_modules/nbb/cli.js", "client.cljs"]);
}

#[test]
#[ignore = "needs node and the conformance suite: .ci/check clients"]
fn mcp_is_as_its_conformance_suite_wants_it() {
    let fixture = edge::serve(fixture::Fixture::read());
    agree_with("node", &["mcp_conformance.mjs"], &[&fixture], "");
}

#[test]
#[ignore = "needs node and an agent: .ci/check clients"]
fn agents_schedule_through_mcp_and_are_woken() {
    agree_with("node", &["agents.mjs"], &[], "[primitives]\nwatchers = true\n");
}

/// `node windows.mjs BINARY claude TIMES CLEARS OWN` makes it longer. It says so where there is no Claude Code: `just agents`.
#[test]
#[ignore = "needs node, tmux and Claude Code: .ci/check clients"]
fn agents_idle_window_of_claude_code_is_woken() {
    alone("windows.mjs", &["claude"], "Claude Code was not woken");
}

/// `node windows.mjs BINARY opencode TIMES` makes it longer. It says so where there is no opencode: `just agents`.
#[test]
#[ignore = "needs node, tmux and opencode: .ci/check clients"]
fn agents_idle_window_of_opencode_is_woken() {
    alone("windows.mjs", &["opencode"], "opencode was not woken");
}

#[test]
#[ignore = "needs node, tmux and Codex: .ci/check clients"]
fn agents_idle_window_of_codex_is_woken() {
    alone("windows.mjs", &["codex", "5"], "Codex was not woken");
}

#[test]
#[ignore = "needs node, tmux and Qwen Code: .ci/check clients"]
fn agents_idle_window_of_qwen_is_woken() {
    alone("windows.mjs", &["qwen"], "Qwen Code was not woken");
}

#[test]
#[ignore = "needs node, tmux and Gemini CLI: .ci/check clients"]
fn agents_window_of_gemini_is_handed_what_is_due() {
    alone("windows.mjs", &["gemini"], "Gemini CLI was not handed what was due");
}

#[test]
#[ignore = "needs node: .ci/check clients"]
fn agents_plugin_of_opencode_does_as_it_says() {
    alone("opencode_plugin.mjs", &[], "the plugin does something else");
}

/// Runs a program that starts a daemon of its own, with the data directory that a plugin names.
fn alone(program: &str, more: &[&str], failed: &str) {
    let args = [&[program, env!("CARGO_BIN_EXE_reveille")], more].concat();
    let status =
        Command::new("node").args(args).current_dir(clients()).status().expect("the program is there");
    assert!(status.success(), "{failed}");
}

#[test]
#[ignore = "needs node and agents: .ci/check clients"]
fn agents_are_woken_in_their_own_conversations() {
    agree("node", &["resume.mjs"]);
}

#[test]
#[ignore = "needs node and agents: .ci/check clients"]
fn agents_ask_an_operator() {
    agree("node", &["permissions.mjs"]);
}

#[test]
#[ignore = "needs node and agents: .ci/check clients"]
fn agents_schedule_with_the_tools_that_the_daemon_gives_them() {
    agree("node", &["own_tools.mjs"]);
}

#[test]
#[ignore = "needs node and agents: .ci/check clients"]
fn agents_are_tried_by_a_command() {
    agree("node", &["trial.mjs"]);
}

/// It says so where there is no Claude Code: `just agents`.
#[test]
#[ignore = "needs node and agents: .ci/check clients"]
fn agents_that_a_newcomer_sets_up_are_woken() {
    agree("node", &["first_contact.mjs"]);
}

/// It says so where there is no Claude Code: `just agents`.
#[test]
#[ignore = "needs node, tmux and agents: .ci/check clients"]
fn agents_with_an_open_window_are_left_alone() {
    agree("node", &["held.mjs"]);
}

#[test]
#[ignore = "needs node and agents: .ci/check clients"]
fn agents_whose_model_fails_are_told_of_in_time() {
    agree("node", &["failing_model.mjs"]);
}

/// With the guard off, so that it is seen what the guard is for.
#[test]
#[ignore = "needs node, tmux and agents: .ci/check clients"]
fn agents_with_two_holders_of_a_conversation_lose_a_turn() {
    agree_with("node", &["held.mjs"], &["--unguarded"], "");
}

#[test]
#[ignore = "needs node and graphql-http: .ci/check clients"]
fn graphql_over_http_is_as_the_audit_wants_it() {
    agree("node", &["graphql_http_audit.mjs"]);
}

#[test]
#[ignore = "needs node, graphql-ws and graphql-sse: .ci/check clients"]
fn graphql_subscribers_resume_after_a_cut() {
    agree("node", &["graphql_clients.mjs"]);
}

#[test]
#[ignore = "needs node, openssl and smtp-server: .ci/check clients"]
fn a_mail_server_of_others_takes_our_mails() {
    agree("node", &["smtp.mjs"]);
}

#[test]
#[ignore = "needs node and Slack's own packages: .ci/check clients"]
fn slacks_own_code_takes_our_messages_and_its_events_come_in() {
    alone("slack.mjs", &[], "Slack's own code and the daemon do not agree");
}

#[test]
#[ignore = "needs node, openssl and the protocol's SDK: .ci/check clients"]
fn mcp_servers_of_others_are_called_over_tls() {
    alone("mcp_tls.mjs", &[], "a server over TLS was not called as it should be");
}

#[test]
#[ignore = "needs node, esbuild and terser: .ci/check clients"]
fn the_dashboards_files_are_what_its_sources_make() {
    alone("pages.mjs", &["--check"], "web/built is not what `just pages` makes");
}

#[test]
#[ignore = "needs node and chromium: .ci/check clients"]
fn the_dashboard_holds_in_a_browser() {
    agree("node", &["dashboard.mjs"]);
}

#[test]
#[ignore = "needs node and chromium: .ci/check clients"]
fn the_query_page_holds_in_a_browser() {
    agree("node", &["query_page.mjs"]);
}
