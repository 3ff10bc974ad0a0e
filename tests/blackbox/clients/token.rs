//! Who gets the operator's token: the daemon that serves the data directory, and no other program that listens.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread::JoinHandle;

use crate::harness::daemon::{Daemon, Ended, Home};

/// A program of another user: it takes what is sent to it, and answers nothing.
struct Stranger {
    address: SocketAddr,
    heard: JoinHandle<Vec<u8>>,
}

impl Stranger {
    fn listen(at: &str) -> Option<Stranger> {
        let listener = TcpListener::bind(at).ok()?;
        let address = listener.local_addr().expect("an address");
        let heard = std::thread::spawn(move || {
            let mut heard = Vec::new();
            loop {
                let (mut stream, _) = listener.accept().expect("a client");
                let mut said = Vec::new();
                let mut chunk = [0; 4_096];
                // To the end of a request's head, so that the client is not kept waiting.
                while !said.windows(4).any(|end| end == b"\r\n\r\n") {
                    match stream.read(&mut chunk) {
                        Ok(length) if length > 0 => said.extend_from_slice(&chunk[..length]),
                        Ok(_) | Err(_) => break,
                    }
                }
                if said == FAREWELL {
                    return heard;
                }
                heard.extend(said);
            }
        });
        Some(Stranger { address, heard })
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All that it was sent.
    fn end(self) -> String {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.write_all(FAREWELL).expect("it reads");
        drop(stream);
        String::from_utf8(self.heard.join().expect("it ends")).expect("a head is ASCII")
    }
}

const FAREWELL: &[u8] = b"the test is over";

/// Every command that asks a daemon.
const COMMANDS: [&[&str]; 12] = [
    &["calendar"],
    &["dashboard", "--print"],
    &["eql", "[:psi.scheduler/pending-count]"],
    &["graphql", "{ __typename }"],
    &["tool", "psi-tool", "{:action \"scheduler\" :op \"list\"}"],
    &["forecast"],
    &["explain", "sch-1"],
    &["approvals"],
    &["cancel", "sch-1"],
    &["hold-all"],
    &["stdio"],
    &["mcp", "--session", "main"],
];

fn run(home: &Home, args: &[&str], more: &[&str]) -> Ended {
    home.run(home.command(&[args, &["--data-dir", "state"], more].concat()).env("COLUMNS", "100"))
}

/// No command asks this address for anything by the data directory's token.
#[track_caller]
fn assert_refused(home: &Home, url: &str, reason: &str) {
    for args in COMMANDS {
        for ended in [
            run(home, args, &["--url", url]),
            home.run(home.command(args).env("REVEILLE_URL", url).env("REVEILLE_DATA_DIR", "state")),
        ] {
            assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{args:?}: {}", ended.err);
            assert!(ended.err.contains(&format!("{url} does not get the token")), "{args:?}: {}", ended.err);
            assert!(ended.err.contains(reason), "{args:?}: {}", ended.err);
        }
    }
}

fn lock(home: &Home) -> std::path::PathBuf {
    home.state().join("reveille.lock")
}

fn write_lock(path: &Path, process: u32, address: &str) {
    fs::write(path, format!("process {process} at {address}\n")).expect("it is ours");
}

#[test]
fn a_stranger_gets_no_token_while_no_daemon_runs() {
    let home = Home::new("token-nobody");
    let daemon = Daemon::start(&home);
    let (own, gone) = (format!("http://{}", daemon.address()), daemon.id());
    assert!(fs::read_to_string(lock(&home)).expect("it is there").contains(&own));
    assert!(daemon.end("-TERM").success());
    let left = fs::read_to_string(lock(&home)).expect("it stays");
    assert_eq!(left, format!("process {gone}\n"), "a port that is free again is not named");

    let stranger = Stranger::listen("127.0.0.1:0").expect("a free port");
    assert_refused(&home, &stranger.url(), "no daemon serves state");
    // A crash leaves the address, and a process that has nothing to do with it may get the number.
    write_lock(&lock(&home), std::process::id(), &stranger.url());
    assert_refused(&home, &stranger.url(), "no daemon serves state");
    // Somebody holds the lock, but not the process that it names.
    write_lock(&lock(&home), gone, &stranger.url());
    let held = File::open(lock(&home)).expect("it is there");
    held.lock().expect("it is free");
    assert_refused(&home, &stranger.url(), "no daemon serves state");
    drop(held);
    assert_eq!(stranger.end(), "", "not one byte");
}

#[test]
fn a_stranger_on_the_default_port_gets_no_token() {
    let home = Home::new("token-default");
    let before = home.run(&mut home.command(&["eql", "[]", "--data-dir", "state"]));
    assert_eq!((before.code, before.out.as_str()), (Some(2), ""), "without a token: {}", before.err);
    assert!(Daemon::start(&home).end("-TERM").success());
    // If another program has the port, it is a stranger too; only what it hears is unknown.
    let stranger = Stranger::listen("127.0.0.1:7517");
    for args in COMMANDS {
        let ended = run(&home, args, &[]);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{args:?}: {}", ended.err);
        let expected = "what listens on http://127.0.0.1:7517 is not the daemon of state";
        assert!(ended.err.contains(expected), "{args:?}: {}", ended.err);
        assert!(ended.err.contains("--url"), "it says what to do: {}", ended.err);
    }
    assert_eq!(stranger.map(Stranger::end).unwrap_or_default(), "", "not one byte");
}

#[test]
fn the_token_goes_to_the_address_of_the_lock_alone() {
    let home = Home::new("token-lock");
    let stranger = Stranger::listen("127.0.0.1:0").expect("a free port");
    for _ in 0..2 {
        let daemon = Daemon::start(&home);
        let own = format!("http://{}", daemon.address());
        // Without an address the lock has it, whatever the port.
        for more in [&[][..], &["--url", &own]] {
            let ended = run(&home, &["eql", "[:psi.scheduler/pending-count]"], more);
            assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
            assert_eq!(ended.out.trim(), "{:psi.scheduler/pending-count 0}");
        }
        assert_refused(&home, &stranger.url(), &format!("the daemon of state is at {own}"));
        // The lock file is as good as the token: others may not have written it.
        let mode = |mode| {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
            fs::set_permissions(lock(&home), mode).expect("it is ours");
        };
        mode(0o666);
        let ended = run(&home, &["eql", "[]"], &[]);
        assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""));
        assert!(ended.err.contains("the lock of state cannot be used"), "{}", ended.err);
        mode(0o600);
        assert!(daemon.end("-TERM").success());
    }
    assert_eq!(stranger.end(), "", "not one byte");
}

#[test]
fn another_address_gets_the_token_that_is_given_for_it() {
    let home = Home::new("token-given");
    let daemon = Daemon::start(&home);
    let own = daemon.token().to_owned();
    let stranger = Stranger::listen("0.0.0.0:0").expect("a free port");
    let port = stranger.address.port();
    let ask = |url: &str, more: &[&str]| {
        let args = [&["eql", "[]", "--data-dir", "state", "--url", url], more].concat();
        home.run(home.command(&args).env("REVEILLE_TOKEN", GIVEN))
    };
    let ended = ask(&format!("http://127.0.0.1:{port}"), &[]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "it does not answer: {}", ended.err);
    // An address that is not loopback for every reader, although this system takes it for that.
    let open = format!("http://0.0.0.0:{port}");
    let ended = ask(&open, &[]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""));
    assert!(ended.err.contains(&open) && ended.err.contains("--insecure"), "{}", ended.err);
    let ended = ask(&open, &["--insecure"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "it does not answer: {}", ended.err);
    let heard = Stranger { address: SocketAddr::from(([127, 0, 0, 1], port)), ..stranger }.end();
    assert_eq!(heard.matches(&format!("authorization: Bearer {GIVEN}\r\n")).count(), 2, "{heard}");
    assert!(!heard.contains(&own));
    assert!(daemon.end("-TERM").success());
}

const GIVEN: &str = "a-token-for-another-daemon-0123456789";
