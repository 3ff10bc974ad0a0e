//! The daemon as a process: who gets its token, what it leaves behind, and whether it says that it works no more.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::attacks::agent::Agent;
use crate::faults::layer;
use crate::harness::command::{directory, reveille};
use crate::harness::daemon::{Daemon, Home, PATIENCE, eventually, until};

/// A listener of another user's on loopback: it answers whatever is asked as a daemon would, and remembers what it was told.
fn stranger() -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let heard = Arc::new(Mutex::new(String::new()));
    let ours = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut chunk) = (stream.expect("a client"), [0; 4_096]);
            let length = stream.read(&mut chunk).unwrap_or(0);
            ours.lock().expect("nobody panics").push_str(&String::from_utf8_lossy(&chunk[..length]));
            let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/edn\r\nContent-Length: 2\r\n\
                          Connection: close\r\n\r\n{}";
            // A client that has seen enough is gone.
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (url, heard)
}

/// Another user listens where the client looks, named by a variable that a repository's `.env` may set; the client sends the
/// operator's token.
#[test]
fn an_address_from_the_environment_gets_no_operators_token() {
    let home = directory("attack-stranger");
    let token = home.join(".local/state/reveille/operator.token");
    let mut serve = reveille(&["serve", "--listen", "127.0.0.1:0"], &home);
    let mut daemon = serve.stderr(std::process::Stdio::null()).spawn().expect("the binary was built");
    let is_written = || fs::read_to_string(&token).is_ok_and(|token| token.trim().len() >= 32);
    until("the daemon has its token", PATIENCE, is_written);
    let (url, heard) = stranger();
    let ask = ["eql", "[:psi.scheduler/pending-count]"];
    let ask_it = || {
        reveille(&ask, &home).env("REVEILLE_URL", &url).output().expect("the binary was built");
        reveille(&[&ask[..], &["--url", &url]].concat(), &home).output().expect("the binary was built");
    };
    ask_it();
    daemon.kill().expect("it runs");
    daemon.wait().expect("it ends");
    ask_it();
    let token = fs::read_to_string(&token).expect("it stays");
    let heard = heard.lock().expect("nobody panics").clone();
    assert!(!heard.contains(token.trim()), "a stranger got the operator's token: {heard}");
    fs::remove_dir_all(&home).expect("ours");
}

const SLEEPER: &str = r#"
[channels.bell]
command = ["/bin/sh", "-c", "echo $$ > new; mv new pid; sleep 20; true"]
inherit = ["PATH"]
cwd = "HOME"
agents = true
"#;

/// A channel's program is at work when the daemon is stopped: it goes on alone, and is tried again beside itself.
#[test]
fn a_stop_leaves_no_program_behind() {
    let home = Home::new("attack-stop");
    let place = home.path().to_str().expect("UTF-8");
    fs::write(home.path().join("channels.toml"), SLEEPER.replace("HOME", place)).expect("ours");
    let mut serve = home.serve();
    let serve = serve.env("PATH", "/usr/bin:/bin").args(["--config", "channels.toml"]);
    let daemon = Daemon::start_with(&home, serve);
    Agent::open(&daemon, "alice")
        .create(":kind :message :message \"m\" :delay-ms 1000 :channel \"bell\" :conversation \"c\"");
    let pid = home.path().join("pid");
    until("the program runs", PATIENCE, || pid.exists());
    let pid = fs::read_to_string(pid).expect("text").trim().to_owned();
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    let is_there = Path::new("/proc").join(&pid).join("stat");
    let is_gone = || fs::read_to_string(&is_there).map_or(true, |stat| stat.contains(") Z"));
    let gone = eventually(std::time::Duration::from_secs(1), is_gone);
    if gone.is_none() {
        let group = format!("-{pid}");
        let _ = std::process::Command::new("kill").args(["-KILL", "--", &group]).status();
    }
    assert!(gone.is_some(), "the program {pid} outlives the daemon");
}

/// The thread that wakes everybody stops, and the daemon goes on calling itself ready.
#[test]
fn a_daemon_whose_driver_is_dead_is_not_ready() {
    let home = Home::new("attack-driver");
    let Some(library) = layer::build(&home, "dead_driver") else { return };
    let order = home.path().join("die");
    let mut serve = home.serve();
    let daemon = Daemon::start_with(&home, serve.env("LD_PRELOAD", &library).env("DEAD_DRIVER", &order));
    assert_eq!(daemon.ask("GET /readyz", &[], "").status, 200);
    fs::write(&order, "").expect("ours");
    let alice = Agent::open(&daemon, "alice");
    alice.create(":kind :message :message \"m\" :delay-ms 1000");
    // It may have been asleep when the order came: one more wakes it, and it finds the order at its next wait.
    alice.create(":kind :message :message \"m\" :delay-ms 1000");
    let says_so = || daemon.ask("GET /readyz", &[], "").status == 503;
    until("it says that it falls behind", 3 * crate::harness::daemon::PROMPT, says_so);
}
