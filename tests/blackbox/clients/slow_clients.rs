//! Clients that hold what they have got (T53, T36): connections that say nothing, heads and bodies that trickle, answers and
//! events that nobody reads. Whoever asks properly is answered meanwhile, and memory stays where it was.
//!
//! `just slow-clients CLIENTS=2000` for many, and until the backlog of those who do not read is full.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::harness::ask::middle;
use crate::harness::daemon::{Daemon, Home, PATIENCE, Tick, at, now, pass, read, text, until};
use crate::harness::figures::{descriptors, mib, rss, said};
use crate::harness::stream::{Harness, Stream};

/// What a client does once it is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Silent,
    HalfHead,
    TricklesHead,
    TricklesBody,
    /// Asks once, and stays.
    Idle,
}

const MANNERS: [Manner; 5] =
    [Manner::Silent, Manner::HalfHead, Manner::TricklesHead, Manner::TricklesBody, Manner::Idle];

struct Client {
    manner: Manner,
    stream: TcpStream,
    began: Tick,
    /// When the daemon let go of it.
    ended: Option<Duration>,
}

impl Client {
    fn connect(daemon: &Daemon, manner: Manner) -> Client {
        let mut stream = TcpStream::connect(daemon.address()).expect("it listens");
        let host = daemon.address();
        let text = match manner {
            Manner::Silent => String::new(),
            Manner::HalfHead => format!("GET /healthz HTTP/1.1\r\nHost: {host}"),
            Manner::TricklesHead => format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nX: "),
            Manner::TricklesBody => daemon.head("POST /eql", &["Content-Type: application/edn"], 100_000),
            Manner::Idle => format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        };
        // One for which there is no room is dropped at once.
        let _ = stream.write_all(text.as_bytes());
        stream.set_nonblocking(true).expect("ours");
        Client { manner, stream, began: now(), ended: None }
    }

    /// Sends a byte more where it trickles, and looks whether it was let go.
    fn go_on(&mut self) {
        if self.ended.is_some() {
            return;
        }
        let trickles = [Manner::TricklesHead, Manner::TricklesBody].contains(&self.manner);
        let is_over = trickles && self.stream.write_all(b"x").is_err();
        let mut chunk = [0; 4_096];
        let ended = match self.stream.read(&mut chunk) {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        };
        self.ended = (is_over || ended).then(|| self.began.elapsed_here());
    }
}

#[test]
fn clients_that_hold_their_connections_keep_nobody_out() {
    let home = Home::new("slow-clients");
    let daemon = Daemon::start(&home);
    let count = usize::try_from(said("CLIENTS").unwrap_or(100)).expect("it fits");
    let answered = || {
        let asked = now();
        assert_eq!(daemon.ask("GET /readyz", &[], "").status, 200);
        assert!(at(&daemon.eql("[:reveille.engine/now]"), &["reveille.engine/now"]).is_some());
        asked.elapsed_here()
    };
    let (_, before) = (answered(), rss(daemon.id()));
    let manners = MANNERS.into_iter().cycle().take(count);
    let mut clients: Vec<Client> = manners.map(|manner| Client::connect(&daemon, manner)).collect();
    let (mut times, mut most, began) = (Vec::new(), 0, now());
    let is_held = |client: &Client| client.manner != Manner::Idle && client.ended.is_none();
    while clients.iter().any(is_held) && began.elapsed_here() < LET_GO {
        times.push(answered());
        clients.iter_mut().for_each(Client::go_on);
        most = most.max(rss(daemon.id()));
        pass(Duration::from_millis(50));
    }
    let held: Vec<Manner> =
        clients.iter().filter(|client| is_held(client)).map(|client| client.manner).collect();
    assert!(held.is_empty(), "still there after {LET_GO:?}: {held:?}");
    let slowest =
        clients.iter().filter(|client| client.manner != Manner::Idle).filter_map(|client| client.ended).max();
    let worst = times.iter().max().copied().unwrap_or_default();
    let half = middle(times.clone());
    println!(
        "{count} slow clients: {} good requests in {half:?} at p50, {worst:?} at most; all others let go within {slowest:?}; \
         memory from {:.1} to {:.1} MiB, {} descriptors",
        times.len(),
        mib(before),
        mib(most),
        descriptors(daemon.id()),
    );
    assert!(half < Duration::from_millis(500), "{half:?}");
    assert!(most < before + GROWTH, "from {:.1} to {:.1} MiB", mib(before), mib(most));
    drop(clients);
    until("their descriptors are free", PATIENCE, || descriptors(daemon.id()) < 64);
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}

/// A subscriber that does not read is cut off where its backlog is full; one that reads misses nothing.
#[test]
fn subscribers_that_do_not_read_cost_the_others_nothing() {
    let home = Home::new("slow-subscribers");
    let daemon = Daemon::start(&home);
    let harness = Harness::attach(&daemon.socket, &["main".to_owned()]).expect("it lives");
    let subscribe = || {
        let mut stream = Stream::connect(&daemon.socket).expect("it lives");
        stream.tell("{:id 1 :op :subscribe :after 0}").expect("it lives");
        stream
    };
    let mut slow: Vec<Stream> = (0..SLOW).map(|_| subscribe()).collect();
    let sockets: Vec<TcpStream> = (0..SLOW).map(|_| over_websocket(&daemon)).collect();
    let mut good = subscribe();
    let reader = std::thread::spawn(move || {
        let (mut last, mut count) = (None, 0_u64);
        while let Some(push) = good.next() {
            let cursor = at(&push, &["cursor"]).and_then(reveille::edn::Value::as_int);
            let Some(cursor) = cursor else { continue };
            assert!(last.is_none_or(|last| cursor == last + 1), "after {last:?} came {cursor}");
            (last, count) = (Some(cursor), count + 1);
        }
        count
    });
    let (before, mut most, mut late) = (rss(daemon.id()), 0, Vec::new());
    let (mut stream, mut noise) = (Stream::connect(&daemon.socket).expect("it lives"), Noise::begin(&daemon));
    let rounds = said("ROUNDS").unwrap_or(6);
    for round in 0..rounds {
        let id =
            crate::harness::ask::create(&mut stream, ":durability :volatile :delay-ms 100 :message \"m\"")
                .expect("it is made");
        (0..2).for_each(|_| noise.make(500));
        let receipt = harness.next(PATIENCE).expect("it fires");
        assert_eq!(receipt.run.schedule.to_string(), id);
        late.push(Duration::from_nanos(receipt.at.since(receipt.slot()).nanos()));
        if round % 10 == 0 {
            most = most.max(rss(daemon.id()));
        }
    }
    let expected = if rounds >= FULL { SLOW } else { 0 };
    let mut cut_off = 0;
    for stream in slow.iter_mut().filter(|_| expected > 0) {
        let last = read(&stream.last_line());
        cut_off += u64::from(text(&last, &["error", "class"]) == Some("backlog"));
    }
    let late = middle(late);
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    drop(sockets);
    let events = reader.join().expect("nothing was left out");
    println!(
        "{events} events: {cut_off} of {SLOW} that did not read were cut off; deliveries {late:?} late at p50; memory from \
         {:.1} to {:.1} MiB",
        mib(before),
        mib(most)
    );
    assert_eq!(cut_off, expected, "their backlog is full");
    // A backlog waits, and as much may be on its way into the socket.
    assert!(most < before + 2 * SLOW * BACKLOG + GROWTH, "from {:.1} to {:.1} MiB", mib(before), mib(most));
    assert!(late < Duration::from_millis(500), "{late:?}");
}

/// A subscriber over a GraphQL WebSocket that never reads after it was let in.
fn over_websocket(daemon: &Daemon) -> TcpStream {
    let mut stream = TcpStream::connect(daemon.address()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("ours");
    let host = daemon.address();
    let head = format!(
        "GET /graphql HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("it listens");
    let mut status = [0; 12];
    stream.read_exact(&mut status).expect("an answer");
    assert_eq!(&status, b"HTTP/1.1 101");
    let init = format!(r#"{{"type":"connection_init","payload":{{"token":"{}"}}}}"#, daemon.token());
    let query = r#"{"id":"1","type":"subscribe","payload":{"query":"subscription { events { kind } }"}}"#;
    for text in [&*init, query] {
        let length = u8::try_from(text.len()).ok().filter(|length| *length < 126).expect("a short frame");
        // Masked with zeros.
        let frame = [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat();
        stream.write_all(&frame).expect("it reads");
    }
    stream
}

/// A host whose session is busy and idle again and again: an event each.
struct Noise {
    stream: Stream,
    session: String,
}

impl Noise {
    fn begin(daemon: &Daemon) -> Noise {
        let mut stream = Stream::connect(&daemon.socket).expect("it lives");
        // A long name makes long lines.
        let session = "n".repeat(100);
        for request in [
            "{:op :host/attach :sessions []}".to_owned(),
            format!("{{:op :session/open :session-id {session:?}}}"),
        ] {
            let answer = stream.ask(&request).expect("it lives");
            assert!(at(&answer, &["ok"]).is_some(), "{answer:?}");
        }
        Noise { stream, session }
    }

    fn make(&mut self, events: usize) {
        for number in 0..events {
            let (session, busy) = (&self.session, number % 2 == 0);
            let told =
                self.stream.tell(&format!("{{:op :session/busy :session-id {session:?} :busy? {busy}}}"));
            told.expect("it lives");
        }
        self.stream.eql("[:reveille.engine/now]").expect("it lives").expect("all before is heard");
        while self.stream.take_pushed().is_some() {}
    }
}

/// A body has ten seconds, a head five; and the machine has other things to do.
const LET_GO: Duration = Duration::from_secs(16);
/// What the daemon may take up besides, in bytes.
const GROWTH: u64 = 48 << 20;
const BACKLOG: u64 = reveille::limits::CLIENT_BACKLOG_BYTES.value;
const SLOW: u64 = 3;
/// After so many rounds of a thousand events their backlog is full.
const FULL: u64 = 45;
