//! The clients of `clients/js` and `clients/python`, each hosting a session while the daemon is killed again and again: nothing
//! is lost, and nothing is handled twice. And each killed itself: its next process goes on.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::{TOKEN, clients};

/// How many deliveries there are, and after which of them the daemon is killed.
const COUNT: usize = 24;
const KILLS: [usize; 4] = [3, 8, 9, 15];

#[test]
#[ignore = "needs node: .ci/check clients"]
fn the_client_in_javascript_loses_nothing_on_the_socket() {
    over_kills("js-socket", &["node", "harness.mjs"], false);
}

#[test]
#[ignore = "needs node: .ci/check clients"]
fn the_client_in_javascript_loses_nothing_over_http() {
    over_kills("js-http", &["node", "harness.mjs"], true);
}

#[test]
#[ignore = "needs python3: .ci/check clients"]
fn the_client_in_python_loses_nothing_on_the_socket() {
    over_kills("python-socket", &["python3", "harness.py"], false);
}

#[test]
#[ignore = "needs python3: .ci/check clients"]
fn the_client_in_python_loses_nothing_over_http() {
    over_kills("python-http", &["python3", "harness.py"], true);
}

#[test]
#[ignore = "needs node: .ci/check clients"]
fn the_client_in_javascript_goes_on_after_its_own_end() {
    goes_on("js-again", &["node", "harness.mjs"]);
}

#[test]
#[ignore = "needs python3: .ci/check clients"]
fn the_client_in_python_goes_on_after_its_own_end() {
    goes_on("python-again", &["python3", "harness.py"]);
}

/// A daemon that is started again on the same data and the same port.
struct Lives {
    state: PathBuf,
    listen: String,
    child: Child,
}

impl Lives {
    fn begin(name: &str) -> Lives {
        // Short, because the path of a socket is.
        let state = std::env::temp_dir().join(format!("rv-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&state);
        let (child, address) = start(&state, "127.0.0.1:0");
        Lives { state, listen: address, child }
    }

    fn kill_and_start(&mut self) {
        self.child.kill().expect("it lives");
        self.child.wait().expect("it is ours");
        (self.child, _) = start(&self.state, &self.listen);
    }
}

impl Drop for Lives {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.state);
    }
}

fn start(state: &Path, listen: &str) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reveille"));
    command.args(["serve", "--log", "warn", "--listen", listen, "--data-dir"]).arg(state);
    let mut child =
        command.env("REVEILLE_TOKEN", TOKEN).stdout(Stdio::piped()).spawn().expect("it was built");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("UTF-8");
    let address = line.strip_prefix("reveille ready http://").expect("it is ready").trim().to_owned();
    (child, address)
}

/// A client with these arguments, and where the daemon is.
fn client(program: &[&str], (more, total): (usize, usize), daemon: &Lives, by_http: bool) -> Child {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(more.to_string()).arg(total.to_string());
    if by_http {
        command.arg(format!("http://{}", daemon.listen)).arg(TOKEN);
    } else {
        command.arg(daemon.state.join("reveille.sock"));
    }
    command.current_dir(clients()).stdout(Stdio::piped()).spawn().expect("the program is there")
}

/// What a client prints, line by line.
fn lines(client: &mut Child) -> impl Iterator<Item = String> + use<> {
    let output = BufReader::new(client.stdout.take().expect("a pipe"));
    output.lines().map(|line| line.expect("UTF-8"))
}

fn expected() -> Vec<String> {
    let mut expected: Vec<String> = (0..COUNT).map(|number| format!("m{number}")).collect();
    expected.sort();
    expected
}

#[track_caller]
fn over_kills(name: &str, program: &[&str], by_http: bool) {
    let mut daemon = Lives::begin(name);
    let mut client = client(program, (COUNT, COUNT), &daemon, by_http);
    let (mut said, mut handled) = (Vec::new(), Vec::new());
    for line in lines(&mut client) {
        if let Some(text) = line.strip_prefix("handled ") {
            handled.push(text.to_owned());
            // In the middle of its turn.
            if KILLS.contains(&handled.len()) {
                daemon.kill_and_start();
            }
        }
        said.push(line);
    }
    assert!(client.wait().expect("it is ours").success(), "{said:?}");
    handled.sort();
    assert_eq!(handled, expected(), "each once: {said:?}");
    let count = |word: &str| said.iter().filter(|line| line.starts_with(word)).count();
    assert!(count("lost ") >= KILLS.len(), "{said:?}");
    for line in ["created true true", "twice true false", "refused", "failed true", "done"] {
        assert!(said.iter().any(|it| it == line), "{line}: {said:?}");
    }
    let all = format!("graphql {}", COUNT + 1);
    assert_eq!(said.contains(&all), by_http, "{said:?}");
}

/// The client is killed in the middle of a turn: the same program, started again, gets its session and all that waits. Only what
/// had no receipt comes a second time.
#[track_caller]
fn goes_on(name: &str, program: &[&str]) {
    let daemon = Lives::begin(name);
    let mut first = client(program, (COUNT, COUNT), &daemon, false);
    let is_handled = |line: String| line.strip_prefix("handled ").map(str::to_owned);
    let mut handled: Vec<String> = lines(&mut first).filter_map(is_handled).take(5).collect();
    first.kill().expect("it lives");
    first.wait().expect("it is ours");
    let last = handled.last().cloned().expect("it has handled some");
    let mut second = client(program, (0, COUNT), &daemon, false);
    let rest: Vec<String> = lines(&mut second).filter_map(is_handled).collect();
    assert!(second.wait().expect("it is ours").success());
    handled.extend(rest.into_iter().filter(|text| *text != last));
    handled.sort();
    assert_eq!(handled, expected());
}
