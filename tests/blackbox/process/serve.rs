//! `reveille serve` as a process, and the commands that ask it: files, locks, signals, exit codes, and what is in its log.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::harness::command::{directory, reveille};

const LIST: &str = r#"{:action "scheduler" :op "list"}"#;

/// A running daemon; dropping it kills it.
struct Daemon {
    child: Child,
    url: String,
}

impl Daemon {
    fn start(command: &mut Command) -> Daemon {
        let mut child = command.spawn().expect("the binary was built");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("UTF-8");
        let url = line.strip_prefix("reveille ready ").map(|url| url.trim().to_owned());
        assert!(url.is_some(), "the first line is {line:?}");
        Daemon { child, url: url.unwrap_or_default() }
    }

    fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(kill.expect("kill exists").success());
    }

    /// Ends it by a signal: how it ended, and what else it has printed.
    fn end(mut self, name: &str) -> (ExitStatus, String, String) {
        self.signal(name);
        let (mut out, mut err) = (String::new(), String::new());
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        stdout.expect("a pipe").read_to_string(&mut out).expect("UTF-8");
        stderr.expect("a pipe").read_to_string(&mut err).expect("UTF-8");
        (self.child.wait().expect("it ends"), out, err)
    }

    fn request(&self, text: &str) -> String {
        let address = self.url.strip_prefix("http://").expect("a URL");
        let mut stream = std::net::TcpStream::connect(address).expect("it listens");
        let text = text.replace("{host}", address);
        stream.write_all(text.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command to its end: exit code, stdout, stderr.
fn run(command: &mut Command, input: &str) -> (Option<i32>, String, String) {
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the binary was built");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that reads nothing is no fault.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn a_daemon_keeps_its_files_to_itself_and_its_tokens_over_a_restart() {
    let home = directory("files");
    let state = home.join(".local/state/reveille");
    let serve = || Daemon::start(&mut reveille(&["serve", "--listen", "127.0.0.1:0"], &home));
    let daemon = serve();
    assert_eq!(mode(&state), 0o700);
    let mut files: Vec<String> = fs::read_dir(&state)
        .expect("it is there")
        .map(|file| file.expect("a file").file_name().into_string().expect("UTF-8"))
        .collect();
    files.sort();
    let expected = [
        "calendar.key",
        "host.token",
        "lives.edn",
        "observer.token",
        "operator.token",
        "reveille.lock",
        "reveille.sock",
        "store",
    ];
    assert_eq!(files, expected);
    for file in &files {
        let expected = if file == "store" { 0o700 } else { 0o600 };
        assert_eq!(mode(&state.join(file)), expected, "{file}");
    }
    let token = fs::read_to_string(state.join("operator.token")).expect("it is there");
    assert_eq!(token.trim().len(), 64);
    assert!(daemon.url.starts_with("http://127.0.0.1:"));
    let (status, out, err) = daemon.end("-TERM");
    assert_eq!((status.code(), out.as_str()), (Some(0), ""), "one line on stdout: {err}");
    assert!(!state.join("reveille.sock").exists());
    assert!(err.contains("volatile schedules were cancelled"), "it says what it is: {err}");
    let (status, ..) = serve().end("-INT");
    assert_eq!(status.code(), Some(0));
    assert_eq!(fs::read_to_string(state.join("operator.token")).expect("it is there"), token);
    fs::remove_dir_all(&home).expect("ours");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "that a stop takes no longer than promised is what is tested")]
fn a_stop_is_over_within_five_seconds_whoever_is_connected() {
    let home = directory("stop");
    let daemon = Daemon::start(&mut reveille(&["serve", "--listen", "127.0.0.1:0"], &home));
    let address = daemon.url.strip_prefix("http://").expect("a URL").to_owned();
    let connect = || std::net::TcpStream::connect(&address).expect("it listens");
    let token = fs::read_to_string(home.join(".local/state/reveille/operator.token")).expect("it is there");
    let (mut half, mut slow, mut stream) = (connect(), connect(), connect());
    half.write_all(b"GET / HT").expect("it is open");
    let authorization = format!("Host: {address}\r\nAuthorization: Bearer {}\r\n", token.trim());
    let body = format!("POST /tools/psi-tool HTTP/1.1\r\n{authorization}Content-Type: application/edn\r\n");
    slow.write_all(format!("{body}Content-Length: 100\r\n\r\n{{").as_bytes()).expect("it is open");
    let upgrade = format!(
        "GET /stream HTTP/1.1\r\n{authorization}Connection: upgrade\r\nUpgrade: reveille-edn\r\n\r\n"
    );
    stream.write_all(upgrade.as_bytes()).expect("it is open");
    stream
        .write_all(b"{:id 1 :op :session/open :session-id \"a\"} {:id 2 :op :subscribe}")
        .expect("it is open");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(&answer, b"HTTP/1.1 101");
    let began = Instant::now();
    let (status, _, err) = daemon.end("-TERM");
    assert_eq!(status.code(), Some(0), "{err}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let mut rest = String::new();
    stream.read_to_string(&mut rest).expect("the stream is told and ended");
    assert!(rest.contains(":engine-stopping"), "{rest}");
    fs::remove_dir_all(&home).expect("ours");
}

#[test]
fn a_second_daemon_is_told_who_the_first_is() {
    let home = directory("second");
    let serve = || reveille(&["serve", "--listen", "127.0.0.1:0", "--data-dir", "state"], &home);
    let first = Daemon::start(&mut serve());
    let (code, out, err) = run(&mut serve(), "");
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains(&format!("process {} at {}", first.child.id(), first.url)), "{err}");
    // After a crash there is nobody, whatever the files say.
    let (status, ..) = first.end("-KILL");
    assert!(!status.success());
    assert!(home.join("state/reveille.sock").exists(), "what a crash leaves");
    let (status, ..) = Daemon::start(&mut serve()).end("-TERM");
    assert_eq!(status.code(), Some(0));
    fs::remove_dir_all(&home).expect("ours");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let home = directory("usage");
    fs::write(home.join("odd.toml"), "listen = \"127.0.0.1:0\"\ncolour = \"red\"\n").expect("ours");
    fs::write(home.join("bad.toml"), "listen = 7517\n").expect("ours");
    fs::write(home.join("zone.toml"), "zone = \"Berlin\"\n").expect("ours");
    fs::write(home.join("est.toml"), "zone = \"EST\"\n").expect("ours");
    let channels =
        "[channels.ops]\nurl = \"https://hooks.example.com/in\"\nkeys = [\n  \"a token of many words=\"\n]\n";
    fs::write(home.join("key.toml"), channels).expect("ours");
    fs::write(home.join("keys.toml"), "[channels.ops]\nkeys = \"a token of many words\"\n").expect("ours");
    let short = "x".repeat(31);
    type Row<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], &'a str);
    let rows: &[Row<'_>] = &[
        (&["--listen", "0.0.0.0:0"], &[], "--listen-public"),
        (&["--listen", "[::]:0"], &[], "--listen-public"),
        (&["--listen", "somewhere"], &[], "--listen"),
        (&["--config", "odd.toml"], &[], "colour"),
        (&["--config", "bad.toml"], &[], "line 1, listen: invalid type"),
        (&["--config", "zone.toml"], &[], "did you mean Europe/Berlin?"),
        (&["--config", "est.toml"], &[], "say America/New_York"),
        (&["--config", "key.toml"], &[], "the channel \"ops\": key 1: it must begin with whsec_"),
        (&["--config", "keys.toml"], &[], "line 2, keys: invalid type"),
        (&["--log", "reveille=loud"], &[], "log filter"),
        (&["--log"], &[], "--log"),
        (&[], &[("REVEILLE_TOKEN", &short)], "32"),
        (&[], &[("REVEILLE_TOKEN", "a token of many words that is long enough")], "32"),
        (&[], &[("REVEILLE_LISTEN", "0.0.0.0:0")], "--listen-public"),
    ];
    for (args, environment, words) in rows {
        let mut command = reveille(&["serve"], &home);
        let (code, out, err) = run(command.args(*args).envs(environment.iter().copied()), "");
        assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?} {environment:?}: {err}");
        assert!(err.contains(words) && !err.contains("panicked"), "{args:?}: {err}");
        assert!(!err.contains(&short) && !err.contains("many words"), "no token is told: {err}");
    }
    assert!(!home.join(".local").exists());
    let (code, _, err) = run(reveille(&["serve", "--config", "none.toml"], &home).env_remove("HOME"), "");
    assert_eq!(code, Some(1), "{err}");
    let (code, _, err) = run(reveille(&["serve"], &home).env_remove("HOME"), "");
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--data-dir"), "{err}");
    fs::remove_dir_all(&home).expect("ours");
}

#[test]
fn files_that_others_could_have_touched_are_not_used() {
    let home = directory("foreign");
    let state = home.join("state");
    let serve =
        || run(&mut reveille(&["serve", "--listen", "127.0.0.1:0", "--data-dir", "state"], &home), "");
    let check = |words: &str| {
        let (code, out, err) = serve();
        assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
        assert!(err.contains(words), "{err}");
    };
    fs::create_dir(&state).expect("ours");
    fs::write(state.join("something"), "").expect("ours");
    fs::set_permissions(&state, Permissions::from_mode(0o755)).expect("ours");
    check("chmod 700");
    fs::set_permissions(&state, Permissions::from_mode(0o700)).expect("ours");
    fs::write(state.join("operator.token"), "a".repeat(64)).expect("ours");
    fs::set_permissions(state.join("operator.token"), Permissions::from_mode(0o644)).expect("ours");
    check("0600");
    fs::remove_file(state.join("operator.token")).expect("ours");
    symlink("/etc/hostname", state.join("operator.token")).expect("a link");
    check("operator.token");
    fs::remove_file(state.join("operator.token")).expect("ours");
    fs::remove_file(state.join("reveille.lock")).expect("ours");
    symlink(home.join("victim"), state.join("reveille.lock")).expect("a link");
    check("data directory");
    assert!(!home.join("victim").exists());
    fs::remove_dir_all(&home).expect("ours");
}

#[test]
fn a_volatile_daemon_with_a_token_touches_no_disk() {
    let home = directory("volatile");
    let token = "t".repeat(32);
    let mut command = reveille(&["serve", "--volatile", "--listen", "127.0.0.1:0"], &home);
    let daemon = Daemon::start(command.env("REVEILLE_TOKEN", &token));
    let request = format!(
        "GET /readyz HTTP/1.1\r\nHost: {{host}}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    assert!(daemon.request(&request).starts_with("HTTP/1.1 200"));
    assert_eq!(fs::read_dir(&home).expect("it is there").count(), 0);
    let (status, ..) = daemon.end("-TERM");
    assert_eq!(status.code(), Some(0));
    fs::remove_dir_all(&home).expect("ours");
}

#[test]
fn a_configuration_file_stands_behind_arguments_and_environment() {
    let home = directory("config");
    let text = "listen = \"127.0.0.1:1\"\ndata-dir = \"there\"\nallow-hosts = [\"name.example:80\"]\nlog = \"off\"\n";
    fs::write(home.join("reveille.toml"), text).expect("ours");
    let mut command = reveille(&["serve", "--config", "reveille.toml"], &home);
    let daemon = Daemon::start(command.env("REVEILLE_LISTEN", "127.0.0.1:0"));
    assert!(home.join("there/operator.token").exists());
    let request = "GET /healthz HTTP/1.1\r\nHost: name.example:80\r\nConnection: close\r\n\r\n";
    assert!(daemon.request(request).starts_with("HTTP/1.1 200"));
    let (_, _, err) = daemon.end("-TERM");
    assert_eq!(err, "");
    fs::remove_dir_all(&home).expect("ours");
}

#[test]
fn commands_ask_the_daemon_that_they_are_told() {
    let home = directory("ask");
    let daemon = Daemon::start(&mut reveille(&["serve", "--listen", "127.0.0.1:0"], &home));
    let url = daemon.url.as_str();
    let script = format!("{{:id 1 :op :session/open :session-id \"main\"}}\n{LIST}\n");
    let (code, out, err) = run(&mut reveille(&["stdio", "--url", url], &home), &script);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(
        out.starts_with("{:id 1 :ok {:session-id \"main\" :token \"") && out.lines().count() == 2,
        "{out}"
    );
    let (code, out, _) = run(&mut reveille(&["stdio", "--session", "other", "--url", url], &home), LIST);
    assert_eq!(code, Some(0));
    assert!(out.contains(":schedule-count 0"), "{out}");

    let create =
        r#"{"action": "scheduler", "op": "create", "kind": "message", "message": "m", "delay-ms": 60000}"#;
    let tool = |args: &[&str], input: &str| {
        run(&mut reveille(&[&["tool", "--url", url], args].concat(), &home), input)
    };
    let (code, out, err) = tool(&["--session", "main", "psi-tool", create], "");
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("\"origin-session-id\":\"main\"") && out.lines().count() == 1, "{out}");
    let (code, out, _) = tool(&["--session", "main", "psi-tool", "-"], LIST);
    assert_eq!(code, Some(0));
    assert!(out.contains(":schedule-count 1"), "the daemon keeps it: {out}");
    let (code, out, err) = tool(&["psi-tool", LIST], "");
    assert_eq!((code, err.as_str()), (Some(1), ""));
    assert!(out.contains("need an invoking session"), "{out}");
    let (code, out, err) = tool(&["no/such tool", LIST], "");
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("404") && err.contains("no tool of this name"), "{err}");
    assert_eq!(tool(&["--wait", "psi-tool", LIST], "").0, Some(2));

    let observer = home.join(".local/state/reveille/observer.token");
    let observer = observer.to_str().expect("UTF-8");
    let (code, _, err) = tool(&["--session", "main", "--token-file", observer, "psi-tool", create], "");
    assert_eq!(code, Some(1));
    assert!(err.contains("may only read"), "{err}");
    let mut command = reveille(&["tool", "psi-tool", LIST], &home);
    let (code, _, err) = run(command.env("REVEILLE_URL", url).env("REVEILLE_TOKEN", "wrong"), "");
    assert_eq!(code, Some(1));
    assert!(err.contains("401"), "{err}");
    drop(daemon);
    fs::remove_dir_all(&home).expect("ours");
}

#[test]
fn an_address_without_a_daemon_is_an_error_that_says_so() {
    let home = directory("nobody");
    // The first is a daemon that is down; the others are no addresses.
    for url in ["http://127.0.0.1:1", "https://127.0.0.1:1", "127.0.0.1:1", "http://a/b"] {
        for command in [&["tool", "psi-tool", "--url", url, LIST][..], &["stdio", "--url", url]] {
            let mut command = reveille(command, &home);
            let (code, out, err) = run(command.env("REVEILLE_TOKEN", "t"), "");
            assert_eq!((code, out.as_str()), (Some(2), ""), "{url}: {err}");
            assert!(err.contains("127.0.0.1") || err.contains("http://a/b"), "{url}: {err}");
        }
    }
    let (code, _, err) =
        run(&mut reveille(&["tool", "psi-tool", "--url", "http://127.0.0.1:1", LIST], &home), "");
    assert_eq!(code, Some(2));
    assert!(err.contains("operator.token"), "{err}");
    fs::remove_dir_all(&home).expect("ours");
}

/// Nothing that a client sends, and no token, is in anything that the daemon prints, at any level of the log (T48).
#[test]
fn the_log_keeps_secrets() {
    let home = directory("secrets");
    let token = "canary-token-".repeat(3);
    let mut command = reveille(&["serve", "--listen", "127.0.0.1:0", "--log", "trace"], &home);
    let daemon = Daemon::start(command.env("REVEILLE_TOKEN", &token));
    let post = |path: &str, headers: &str, body: &str| {
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {{host}}\r\nConnection: close\r\nContent-Length: {length}\r\n"
        );
        daemon.request(&format!("{head}Content-Type: application/edn\r\n{headers}\r\n{body}"))
    };
    let authorization = format!("Authorization: Bearer {token}\r\n");
    let (code, out, _) = run(
        reveille(&["stdio", "--url", &daemon.url, "--session", "canary-session"], &home)
            .env("REVEILLE_TOKEN", &token),
        "{:action \"scheduler\" :op \"create\" :kind \"message\" :message \"canary-prompt\" :delay-ms 1000}",
    );
    assert_eq!(code, Some(0));
    assert!(out.contains("canary-prompt"), "{out}");
    let create = r#"{:action "scheduler" :op "create" :kind "message" :label "canary-label"
                     :message "canary-prompt" :delay-ms 60000}"#;
    let for_session = format!("{authorization}Reveille-Session: canary-session\r\n");
    assert!(post("/tools/psi-tool?query=canary-query", &for_session, create).starts_with("HTTP/1.1 200"));
    assert!(post("/tools/canary-tool", &authorization, "{:canary-key 1}").starts_with("HTTP/1.1 404"));
    assert!(post("/canary-path", &authorization, "{:canary-key").starts_with("HTTP/1.1 404"));
    assert!(post("/tools/psi-tool", &authorization, "{:canary-key").starts_with("HTTP/1.1 400"));
    assert!(
        post("/tools/psi-tool", "Authorization: Bearer canary-wrong\r\n", "{}").starts_with("HTTP/1.1 401")
    );
    assert!(post("/tools/psi-tool", "Origin: http://canary-origin\r\n", "{}").starts_with("HTTP/1.1 403"));
    let figures =
        format!("GET /metrics HTTP/1.1\r\nHost: {{host}}\r\nConnection: close\r\n{authorization}\r\n");
    let figures = daemon.request(&figures);
    assert!(figures.starts_with("HTTP/1.1 200"));
    let (_, out, err) = daemon.end("-TERM");
    assert!(err.lines().filter(|line| line.contains("reveille::http")).count() >= 8, "{err}");
    for said in [&out, &err, &figures] {
        assert!(!said.contains("canary"), "{said}");
    }
    fs::remove_dir_all(&home).expect("ours");
}

/// The log says by whom each request is: which session, or which operator's token; also of requests in a stream.
#[test]
fn the_log_says_by_whom_a_request_is() {
    let home = directory("by");
    let daemon = Daemon::start(&mut reveille(&["serve", "--listen", "127.0.0.1:0", "--log", "debug"], &home));
    let (code, out, err) =
        run(&mut reveille(&["graphql", "mutation{openSession(sessionId:\"agent-7\"){token}}"], &home), "");
    assert_eq!(code, Some(0), "{err}");
    let token = out.split('"').find(|word| word.len() == 64).unwrap_or_else(|| panic!("a token: {out}"));
    let list = "{:action \"scheduler\" :op \"list\"}";
    let tool = ["tool", "psi-tool", "--url", &daemon.url, list];
    assert_eq!(run(reveille(&tool, &home).env("REVEILLE_TOKEN", token), "").0, Some(0));
    let stdio = ["stdio", "--url", &daemon.url];
    let (_, answered, _) = run(
        reveille(&stdio, &home).env("REVEILLE_TOKEN", token),
        "{:op :call :tool \"list\" :args {}} {:op :x}",
    );
    assert!(answered.contains(":ok"), "{answered}");
    let (_, _, err) = daemon.end("-TERM");
    let has = |words: &[&str]| err.lines().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(has(&["reveille::http", "/tools/{name}", "session agent-7"]), "{err}");
    assert!(has(&["reveille::stream", "op=\"call\"", "ok=true", "session agent-7"]), "{err}");
    assert!(has(&["reveille::stream", "op=\"unknown\"", "ok=false", "session agent-7"]), "{err}");
    assert!(has(&["operator"]), "{err}");
    fs::remove_dir_all(&home).expect("ours");
}

/// In front of a daemon the command carries messages: the session is opened, both wire shapes pass, and what is made stays.
#[test]
fn the_model_context_protocol_is_carried_to_the_daemon() {
    let home = directory("mcp");
    let daemon = Daemon::start(&mut reveille(&["serve", "--listen", "127.0.0.1:0"], &home));
    let mcp = |session: &str, lines: &[&str]| {
        let args = ["mcp", "--session", session, "--url", &daemon.url];
        let (code, out, err) = run(&mut reveille(&args, &home), &format!("{}\n", lines.join("\n")));
        assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
        out.lines()
            .map(|line| serde_json::from_str(line).expect("a message"))
            .collect::<Vec<serde_json::Value>>()
    };
    let create = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create",
        "arguments":{"message":"m","when":"in 1 hour","key":"k"}}}"#
        .replace('\n', " ");
    let shake = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
    let remark = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let answers = mcp("main", &[shake, remark, "garbage", &create]);
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answers[1]["error"]["code"], -32_700);
    assert_eq!(answers[2]["result"]["structuredContent"]["created"], true, "{answers:?}");
    assert_eq!(answers[2]["result"]["structuredContent"]["durability"], "durable", "{answers:?}");
    let meta = concat!(
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
        r#""io.modelcontextprotocol/clientCapabilities":{}}"#
    );
    let list = format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"list","arguments":{{}},{meta}}}}}"#
    );
    let answers = mcp("main", &[&create, &list]);
    assert_eq!(answers[0]["result"]["structuredContent"]["created"], false, "{answers:?}");
    assert_eq!(answers[1]["result"]["structuredContent"]["total"], 1, "{answers:?}");
    assert_eq!(answers[1]["result"]["resultType"], "complete");
    let answers = mcp("other", &[&list]);
    assert_eq!(answers[0]["result"]["structuredContent"]["total"], 0, "{answers:?}");
    daemon.end("-TERM");
    fs::remove_dir_all(&home).expect("ours");
}
