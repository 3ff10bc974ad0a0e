//! A daemon of this test's own: its files, its life, and plain HTTP.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reveille::edn::{Caps, Map, Value};
use reveille_checker::{Event, Moment, Report, Span};

use crate::harness::ask::instant;
use crate::harness::command::program;
use crate::harness::diary::Diary;
use crate::harness::ledger::Ledger;

/// A directory of one test's own. It stays where a test fails.
pub(crate) struct Home(PathBuf);

impl Home {
    pub(crate) fn new(name: &str) -> Home {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("blackbox-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory");
        Home(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The data directory.
    pub(crate) fn state(&self) -> PathBuf {
        self.0.join("state")
    }

    /// A file of the store.
    pub(crate) fn store(&self, name: &str) -> PathBuf {
        self.state().join("store").join(name)
    }

    /// The daemon on any free port, with an environment of its own: what the developer has set does not count.
    pub(crate) fn serve(&self) -> Command {
        self.serve_by(&program())
    }

    /// The same by another program.
    pub(crate) fn serve_by(&self, program: &Path) -> Command {
        self.command_of(program, &["serve", "--listen", "127.0.0.1:0", "--data-dir", "state"])
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(&program(), arguments)
    }

    pub(crate) fn command_of(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().env("HOME", &self.0).current_dir(&self.0);
        command
    }

    /// Runs a command to its end: exit code, both outputs, and how long it took.
    pub(crate) fn run(&self, command: &mut Command) -> Ended {
        let began = now();
        let output = command.stdin(Stdio::null()).output().expect("the binary was built");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Ended {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
            took: began.elapsed_here(),
        }
    }

    /// `reveille doctor` finds nothing wrong.
    pub(crate) fn assert_sound(&self) {
        let ended = self.run(&mut self.command(&["doctor", "--data-dir", "state"]));
        assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
        assert!(ended.out.ends_with("\nsound\n"), "{}", ended.out);
    }

    /// Nothing is missing, twice, early, after its cancel, out of order or unaccounted for in all that was done and seen here,
    /// by the checker's word and the log that the daemon, which is gone, has left.
    pub(crate) fn assert_history(&self) -> Report {
        let log = Ledger::read(&self.store("store.db"));
        Diary::of(&self.0).assert_clean(Some(&log), PROMPT)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) took: Duration,
}

/// A running daemon; dropping it kills it.
pub(crate) struct Daemon {
    child: Child,
    address: String,
    token: String,
    pub(crate) socket: PathBuf,
    log: PathBuf,
    diary: Diary,
    is_gone: bool,
}

impl Daemon {
    /// Starts it and waits until it is ready.
    pub(crate) fn start(home: &Home) -> Daemon {
        Daemon::start_with(home, &mut home.serve())
    }

    pub(crate) fn start_with(home: &Home, command: &mut Command) -> Daemon {
        let (daemon, said) = Daemon::try_start(home, command);
        daemon.unwrap_or_else(|| panic!("it did not become ready: {said}"))
    }

    /// A daemon, or what it said before it went.
    pub(crate) fn try_start(home: &Home, command: &mut Command) -> (Option<Daemon>, String) {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let log = home.path().join(format!("log-{number}"));
        let mut child = spawn(command, &log);
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("UTF-8");
        let Some(address) = line.trim().strip_prefix("reveille ready http://") else {
            child.wait().expect("it has closed its output");
            return (None, line + &fs::read_to_string(&log).expect("it is there"));
        };
        let token = fs::read_to_string(home.state().join("operator.token")).expect("it is there");
        let (address, token) = (address.to_owned(), token.trim().to_owned());
        let (socket, diary) = (home.state().join("reveille.sock"), Diary::of(home.path()));
        let daemon = Daemon { child, address, token, socket, log, diary, is_gone: false };
        daemon.diary.note(Event::Up { at: daemon.awoke() });
        (Some(daemon), String::new())
    }

    /// When it began to look at the clock, by its own word.
    pub(crate) fn awoke(&self) -> Moment {
        let answer =
            self.eql("[{(:reveille.engine/decisions {:kind [:engine-awoke]}) [:reveille.decision/at]}]");
        let list = at(&answer, &["reveille.engine/decisions"]).and_then(Value::as_items).expect("a list");
        let last = list.last().and_then(Value::as_map).expect("it has awoken");
        instant(last.keyword("reveille.decision/at"))
    }

    fn is_gone(&mut self) {
        if !std::mem::replace(&mut self.is_gone, true) {
            self.diary.note(Event::Down { at: self.diary.now() });
        }
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The file of its log, which stays when it is gone.
    pub(crate) fn log_file(&self) -> &Path {
        &self.log
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The operator's.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill exists").success());
    }

    /// Ends it by a signal.
    pub(crate) fn end(mut self, name: &str) -> ExitStatus {
        self.signal(name);
        let ended = self.child.wait().expect("it ends");
        self.is_gone();
        ended
    }

    /// SIGKILL; returns when the process is gone.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
        self.is_gone();
    }

    /// One request on a connection of its own.
    pub(crate) fn ask(&self, request: &str, headers: &[&str], body: &str) -> Reply {
        self.post(request, headers, body).finish()
    }

    /// Sends one request, and does not read its answer yet.
    pub(crate) fn post(&self, request: &str, headers: &[&str], body: &str) -> Posted {
        self.send(&(self.head(request, headers, body.len()) + body))
    }

    /// One request by another token than the operator's.
    pub(crate) fn ask_by(&self, token: &str, request: &str, headers: &[&str], body: &str) -> Reply {
        self.send(&(self.head_by(token, request, headers, body.len()) + body)).finish()
    }

    /// One request without a token.
    pub(crate) fn ask_openly(&self, request: &str) -> Reply {
        let address = &self.address;
        self.send(&format!("{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")).finish()
    }

    fn send(&self, text: &str) -> Posted {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        stream.write_all(text.as_bytes()).expect("it reads");
        Posted(stream)
    }

    /// The head of a request whose body has so many bytes.
    pub(crate) fn head(&self, request: &str, headers: &[&str], body_bytes: usize) -> String {
        self.head_by(&self.token, request, headers, body_bytes)
    }

    fn head_by(&self, token: &str, request: &str, headers: &[&str], body_bytes: usize) -> String {
        let address = &self.address;
        let mut head = format!(
            "{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n"
        );
        for header in headers {
            head += &format!("{header}\r\n");
        }
        head + &format!("Content-Length: {body_bytes}\r\n\r\n")
    }

    /// An EQL query; a strict one that fails has its answer too.
    pub(crate) fn eql(&self, query: &str) -> Map {
        let reply = self.ask("POST /eql", &["Content-Type: application/edn"], query);
        assert_eq!(reply.status, 200, "{query}: {}", reply.body);
        read(&reply.body)
    }

    /// A GraphQL request's whole answer.
    pub(crate) fn graphql(&self, query: &str) -> serde_json::Value {
        let body = serde_json::json!({ "query": query }).to_string();
        let reply = self.ask("POST /graphql", &["Content-Type: application/json"], &body);
        serde_json::from_str(&reply.body).expect("JSON")
    }

    /// One figure of `/metrics`.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let text = self.ask("GET /metrics", &[], "").body;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|figure| figure.parse().ok()).unwrap_or_else(|| panic!("{name} is not in {text}"))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A stopped process takes no other signal.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.is_gone();
    }
}

/// A daemon that need not become ready.
pub(crate) fn spawn(command: &mut Command, log: &Path) -> Child {
    let log = File::options().create(true).append(true).open(log).expect("a file");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    command.spawn().expect("the binary was built")
}

/// A request that was sent.
pub(crate) struct Posted(TcpStream);

impl Posted {
    pub(crate) fn finish(mut self) -> Reply {
        let mut text = String::new();
        self.0.read_to_string(&mut text).expect("it answers");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Reply { status: status.unwrap_or(0), head: head.to_lowercase(), body: body.to_owned() }
    }
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A map in EDN.
pub(crate) fn read(text: &str) -> Map {
    let value =
        reveille::edn::read(text.as_bytes(), &ROOMY).unwrap_or_else(|error| panic!("{error}: {text}"));
    value.as_map().cloned().unwrap_or_else(|| panic!("no map: {text}"))
}

/// What is at the end of these keys.
pub(crate) fn at<'a>(map: &'a Map, keys: &[&str]) -> Option<&'a Value> {
    let (first, rest) = keys.split_first()?;
    let value = map.keyword(first)?;
    if rest.is_empty() { Some(value) } else { at(value.as_map()?, rest) }
}

/// The text at the end of these keys.
pub(crate) fn text<'a>(map: &'a Map, keys: &[&str]) -> Option<&'a str> {
    at(map, keys)?.as_str()
}

/// A point of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick(Instant);

impl Tick {
    #[expect(clippy::disallowed_methods, reason = "another process can only be watched by a real clock")]
    pub(crate) fn elapsed_here(self) -> Duration {
        self.0.elapsed()
    }
}

#[expect(clippy::disallowed_methods, reason = "another process can only be watched by a real clock")]
pub(crate) fn now() -> Tick {
    Tick(Instant::now())
}

/// What the wall clock shows.
#[expect(clippy::disallowed_methods, reason = "another process can only be watched by a real clock")]
pub(crate) fn wall() -> Moment {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("we are past 1970");
    after(Moment::EPOCH, since)
}

pub(crate) fn after(moment: Moment, by: Duration) -> Moment {
    moment.checked_add(Span::from_nanos(u64::try_from(by.as_nanos()).expect("it fits"))).expect("it fits")
}

/// Lets time pass for another process, which has no event to wait for.
#[expect(clippy::disallowed_methods, reason = "another process lives by the real clock")]
pub(crate) fn pass(time: Duration) {
    std::thread::sleep(time);
}

/// Asks again and again until it is so; how long that took.
pub(crate) fn until(what: &str, patience: Duration, is_so: impl FnMut() -> bool) -> Duration {
    eventually(patience, is_so).unwrap_or_else(|| panic!("{what}: not within {patience:?}"))
}

/// The same; `None` where it does not become so.
pub(crate) fn eventually(patience: Duration, mut is_so: impl FnMut() -> bool) -> Option<Duration> {
    let began = now();
    while !is_so() {
        if began.elapsed_here() > patience {
            return None;
        }
        pass(Duration::from_millis(5));
    }
    Some(began.elapsed_here())
}

/// How long anything may take that takes no time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// How long a delivery may take on a machine that has other things to do, and does not stall.
pub(crate) const PROMPT: Duration = Duration::from_secs(5);
const ROOMY: Caps = Caps { bytes_max: 1 << 28, depth_max: 128, digits_max: 1_000, forms_max: u32::MAX };
static NEXT: AtomicU64 = AtomicU64::new(0);
