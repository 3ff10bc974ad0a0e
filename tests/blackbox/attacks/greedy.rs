//! The eight worst sessions, each on a thread of its own with its own token, until they are told to stop.
//!
//! They run at a low priority, and pause as a network would make them pause: on a machine with two processors, what they compute
//! themselves would otherwise be what the good session waits for. What they are answered does not matter; a refusal is what they
//! ought to get, and a connection that is dropped is opened again.

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::attacks::agent::Agent;
use crate::harness::daemon::{Daemon, pass};
use crate::harness::sockets::{STREAM, WEBSOCKET, connect, say};
use crate::harness::stream::Stream;

/// The configuration that the seventh needs: a slow program that any session may call.
pub(crate) const CHANNEL: &str = "[channels.slow]\ncommand = [\"/bin/sleep\", \"3\"]\nagents = true\n";

type Attack = fn(&Attacker<'_>) -> Option<()>;

/// What each does, and its name.
pub(crate) const ATTACKS: [(&str, Attack); 8] = [
    ("fresh", fresh_sessions),
    ("unread", unread_answers),
    ("as-of", pasts),
    ("seats", seats),
    ("edits", edits),
    ("texts", long_messages),
    ("channel", slow_program),
    ("busy", creates_and_queries),
];

pub(crate) struct Attacker<'d> {
    daemon: &'d Daemon,
    agent: Agent<'d>,
    session: &'static str,
    is_on: &'d AtomicBool,
    /// How much all of them have asked for.
    asked: &'d AtomicU64,
}

impl<'d> Attacker<'d> {
    pub(crate) fn new(
        daemon: &'d Daemon,
        session: &'static str,
        is_on: &'d AtomicBool,
        asked: &'d AtomicU64,
    ) -> Attacker<'d> {
        Attacker { daemon, agent: Agent::open(daemon, session), session, is_on, asked }
    }

    /// Attacks until it is over; begins again when its connection is dropped.
    pub(crate) fn run(&self, attack: Attack) {
        lower_priority();
        while self.is_on() {
            let _ = attack(self);
            pass(Duration::from_millis(20));
        }
    }

    fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    fn count(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    fn stream(&self) -> Option<Stream> {
        Stream::try_upgrade(self.daemon, self.agent.token())
    }

    /// One query on a stream.
    fn eql(&self, stream: &mut Stream, query: &str) -> Option<()> {
        self.count();
        stream.ask(&format!("{{:op :eql :query {query}}}")).map(drop)
    }

    fn create(&self, stream: &mut Stream, rest: &str) -> Option<()> {
        let session = self.session;
        self.eql(stream, &format!("[(psi.scheduler/create {{:session-id {session:?} {rest}}})]"))
    }

    /// Sends one query on a connection of its own, and returns that before anything is read.
    fn post(&self, media_type: &str, path: &str, body: &str) -> Option<TcpStream> {
        self.count();
        let mut stream = connect(self.daemon, Ipv4Addr::LOCALHOST)?;
        let length = body.len();
        let rest = format!(
            "Connection: close\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        say(&mut stream, self.daemon, &format!("POST {path}"), self.agent.token(), &rest);
        Some(stream)
    }
}

fn lower_priority() {
    let thread = fs::read_link("/proc/thread-self").unwrap_or_default();
    let number = thread.file_name().unwrap_or_default();
    // Without it the attackers only weigh more than they should.
    let _ = Command::new("renice").args(["-n", "15", "-p"]).arg(number).output();
}

fn long(length: usize) -> String {
    "x".repeat(length)
}

/// Thirty schedules open a fresh session with long preloaded messages every second.
fn fresh_sessions(attacker: &Attacker<'_>) -> Option<()> {
    let mut stream = attacker.stream()?;
    let text = long(60_000);
    let preloaded = format!("{{:role \"user\" :content [{{:type :text :text {text:?}}}]}} ").repeat(3);
    let create = format!(
        ":kind :session :durability :durable :message {text:?} :every-ms 1000 \
         :session-config {{:preloaded-messages [{preloaded}]}}"
    );
    for _ in 0..30 {
        attacker.create(&mut stream, &create)?;
    }
    while attacker.is_on() {
        attacker.create(&mut stream, &create)?;
        pass(Duration::from_millis(500));
    }
    Some(())
}

/// Twenty answers of the largest size are asked for at a time, and not read.
fn unread_answers(attacker: &Attacker<'_>) -> Option<()> {
    let (mut stream, text) = (attacker.stream()?, long(60_000));
    for _ in 0..17 {
        let create = format!(":kind :message :durability :durable :delay-ms 80000000 :message {text:?}");
        attacker.create(&mut stream, &create)?;
    }
    let query = "[{:psi.scheduler/schedules [:psi.scheduler/message]}]";
    while attacker.is_on() {
        let ask = || attacker.post("application/edn", "/eql", query);
        let unread: Vec<_> = (0..20).map(|_| ask()).collect();
        pass(Duration::from_secs(2));
        drop(unread);
    }
    Some(())
}

/// Eight connections ask for the past at the same time, each time of another instant.
fn pasts(attacker: &Attacker<'_>) -> Option<()> {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                lower_priority();
                while attacker.is_on() {
                    ask_of_the_past(attacker);
                    pass(Duration::from_millis(50));
                }
            });
        }
    });
    Some(())
}

fn ask_of_the_past(attacker: &Attacker<'_>) {
    let then = crate::harness::daemon::wall();
    let query = "[{:psi.scheduler/schedules [:psi.scheduler/status]}]";
    let asked = format!("{{:pathom/eql {query} :reveille/as-of \"{then}\"}}");
    if let Some(mut stream) = attacker.post("application/edn", "/eql", &asked) {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    }
}

/// Three hundred sockets that do not say who they are, and forty streams by one token; each second, the dropped ones again.
fn seats(attacker: &Attacker<'_>) -> Option<()> {
    let mut held: Vec<TcpStream> = Vec::new();
    while attacker.is_on() {
        held.retain(is_open);
        for number in held.len()..340 {
            attacker.count();
            let from = Ipv4Addr::new(127, 0, 0, if number % 2 == 0 { 1 } else { 2 });
            let mut stream = connect(attacker.daemon, from)?;
            let token = if number % 8 == 0 { attacker.agent.token() } else { "" };
            let (request, rest) =
                if token.is_empty() { ("GET /graphql", WEBSOCKET) } else { ("GET /stream", STREAM) };
            say(&mut stream, attacker.daemon, request, token, rest);
            held.push(stream);
        }
        pass(Duration::from_secs(1));
    }
    Some(())
}

/// Whether the daemon has left a socket open. What it has sent is read and dropped.
fn is_open(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("ours");
    let mut chunk = [0; 4_096];
    let read = stream.read(&mut chunk);
    stream.set_nonblocking(false).expect("ours");
    match read {
        Ok(length) => length > 0,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

/// A hundred times a second, a schedule gets another text of 65 KB.
fn edits(attacker: &Attacker<'_>) -> Option<()> {
    let create = |number: u32| {
        let message = format!("{number}{}", long(100));
        attacker
            .agent
            .create(&format!(":kind :message :durability :durable :delay-ms 80000000 :message {message:?}"))
    };
    let ids: Vec<String> = (0..8).map(create).collect();
    let (mut stream, text) = (attacker.stream()?, long(65_000));
    for (number, id) in (0_u64..).zip(ids.iter().cycle()) {
        if !attacker.is_on() {
            break;
        }
        let message = format!("{number} {text}");
        let edit = format!("[(psi.scheduler/reschedule {{:schedule-id {id:?} :message {message:?}}})]");
        attacker.eql(&mut stream, &edit)?;
        pass(Duration::from_millis(10));
    }
    Some(())
}

/// Fifty schedules put 60 KB each into the transcript every second.
fn long_messages(attacker: &Attacker<'_>) -> Option<()> {
    let (mut stream, text) = (attacker.stream()?, long(60_000));
    let create = format!(":kind :message :durability :durable :every-ms 1000 :message {text:?}");
    for _ in 0..50 {
        attacker.create(&mut stream, &create)?;
    }
    while attacker.is_on() {
        attacker.create(&mut stream, &create)?;
        pass(Duration::from_millis(500));
    }
    Some(())
}

/// A hundred schedules send to a program that takes three seconds, every second.
fn slow_program(attacker: &Attacker<'_>) -> Option<()> {
    let mut stream = attacker.stream()?;
    let create = ":kind :message :durability :durable :every-ms 1000 :message \"m\" :channel \"slow\" \
                  :conversation \"c\" :policy {:overlap :parallel}";
    for _ in 0..100 {
        attacker.create(&mut stream, create)?;
    }
    while attacker.is_on() {
        attacker.create(&mut stream, create)?;
        pass(Duration::from_millis(200));
    }
    Some(())
}

/// Creates and cancels without a pause longer than a network's, and between them the most expensive queries there are.
fn creates_and_queries(attacker: &Attacker<'_>) -> Option<()> {
    let mut stream = attacker.stream()?;
    let fields = "label message status fireAt upcoming(first: 20) runs(last: 20) { id state }";
    let heavy = format!("{{ schedules(first: 100) {{ nodes {{ {fields} }} }} }}");
    let heavy = serde_json::json!({ "query": heavy }).to_string();
    let messages = "[{(:psi.scheduler/schedules {:first 250}) [:psi.scheduler/message (:psi.scheduler/upcoming {:first 100})]}]";
    let mut number = 0_u64;
    while attacker.is_on() {
        number += 1;
        let create = ":kind :message :durability :durable :every-ms 3600000 :message \"m\"";
        attacker.create(&mut stream, create)?;
        let (kind, path, body) = if number.is_multiple_of(2) {
            ("application/json", "/graphql", &*heavy)
        } else {
            ("application/edn", "/eql", messages)
        };
        if let Some(mut asked) = attacker.post(kind, path, body) {
            let _ = std::io::copy(&mut asked, &mut std::io::sink());
        }
        pass(Duration::from_millis(20));
    }
    Some(())
}
