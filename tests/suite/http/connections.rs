//! T53: no client holds a connection for ever, and none keeps another out.
//!
//! The time-outs are short here; what is awaited is the end of a connection, never a time.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use reveille::domain::Caller;
use reveille::limits::{self, Budget};
use reveille::surface::http::{Config, Times};

use super::client::{Answer, OPERATOR, Site, read_some, read_to_end};
use crate::budgets::row;
use crate::simulated;

/// Long enough for a request on a busy machine, short enough for a test.
const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(60);

/// All time-outs long but those that `shorten` makes short.
fn site(shorten: impl FnOnce(&mut Times)) -> Site {
    let mut config = Config::local();
    config.times = Times { head: LONG, body: LONG, idle: LONG, stalled: LONG, ..config.times };
    shorten(&mut config.times);
    Site::with(&config)
}

fn healthz(site: &Site) -> String {
    format!("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", site.port())
}

#[test]
fn a_client_that_says_nothing_is_let_go() {
    let site = site(|times| times.head = SHORT);
    assert_eq!(read_to_end(&mut site.connect()), b"");
}

#[test]
fn half_a_head_is_not_waited_for() {
    let site = site(|times| times.head = SHORT);
    let mut stream = site.connect();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: ").expect("it is open");
    assert_eq!(read_to_end(&mut stream), b"");
}

/// Each byte comes well within the time; all of them together do not.
#[test]
fn a_trickled_head_is_not_waited_for() {
    let site = site(|times| times.head = SHORT);
    let mut stream = site.connect();
    stream.set_read_timeout(Some(Duration::from_millis(10))).expect("a time-out");
    stream.write_all(b"GET /healthz HTTP/1.1\r\nX: ").expect("it is open");
    assert!(trickle(&mut stream), "the server lets go");
}

/// Sends a byte after each read that brought nothing; whether the connection ended before the bytes did.
fn trickle(stream: &mut TcpStream) -> bool {
    let mut chunk = [0; 1_024];
    for _ in 0..1_000 {
        match read_some(stream, &mut chunk) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return true,
        }
        if stream.write_all(b"x").is_err() {
            return true;
        }
    }
    false
}

#[test]
fn the_head_of_a_second_request_is_timed_too() {
    let site = site(|times| times.head = SHORT);
    let mut stream = site.connect();
    stream.write_all(healthz(&site).as_bytes()).expect("it is open");
    assert_eq!(Answer::read(&mut stream).status, 200);
    stream.write_all(b"GET ").expect("it is open");
    assert_eq!(read_to_end(&mut stream), b"");
}

#[test]
fn an_idle_connection_is_closed_later_than_a_silent_one() {
    let site = site(|times| times.idle = SHORT);
    let mut stream = site.connect();
    stream.write_all(healthz(&site).as_bytes()).expect("it is open");
    assert_eq!(Answer::read(&mut stream).status, 200);
    assert_eq!(read_to_end(&mut stream), b"");
}

#[test]
fn a_trickled_body_is_answered_and_not_waited_for() {
    let site = site(|times| times.body = SHORT);
    let mut stream = site.connect();
    let head = format!(
        "POST /tools/psi-tool HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {OPERATOR}\r\n\
         Content-Type: application/edn\r\nContent-Length: 1000\r\n\r\n{{:a ",
        site.port()
    );
    stream.write_all(head.as_bytes()).expect("it is open");
    let answer = Answer::read(&mut stream);
    assert_eq!(answer.status, 408, "{answer:?}");
    assert!(answer.body.contains("http-body-ms"));
}

/// A request whose answer is longer than what the buffers of a connection hold.
fn long_request(site: &Site) -> String {
    let list = "[{:psi.graph/attributes [:reveille.attribute/ident :reveille.attribute/doc]}]";
    let query: String = (0..20).map(|number| format!("{{:>/a{number} {list}}}")).collect();
    format!(
        "POST /eql HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {OPERATOR}\r\n\
         Content-Type: application/edn\r\nContent-Length: {}\r\n\r\n[{query}]",
        site.port(),
        query.len() + 2
    )
}

/// A client that takes longer for an answer than a connection may be idle: it has not had its answer yet.
#[test]
fn a_connection_is_not_idle_before_its_answer_is_sent() {
    let site = site(|times| times.idle = SHORT);
    let mut stream = site.connect();
    stream.write_all(long_request(&site).as_bytes()).expect("it is open");
    stream.peek(&mut [0]).expect("it answers");
    for _ in 0..2 {
        // These are idle for as long as that.
        let mut other = site.connect();
        other.write_all(healthz(&site).as_bytes()).expect("it is open");
        read_to_end(&mut other);
    }
    let answer = String::from_utf8(read_to_end(&mut stream)).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    assert_eq!(length, Some(body.len().to_string().as_str()));
    assert!(body.len() > 1 << 20, "it fits into buffers: {}", body.len());
}

/// An answer that nobody takes: the socket's buffers fill, and the connection is dropped.
#[test]
fn an_answer_that_is_not_taken_is_not_kept() {
    let site = site(|times| times.stalled = SHORT);
    let mut stream = site.connect();
    stream.write_all(long_request(&site).as_bytes()).expect("it is open");
    let request = format!(
        "GET /tools HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {OPERATOR}\r\n\r\n",
        site.port()
    );
    stream.set_write_timeout(Some(Duration::from_secs(10))).expect("a time-out");
    let refused = (0..1_000_000).find_map(|_| stream.write_all(request.as_bytes()).err());
    let kind = refused.expect("the server does not take requests for ever").kind();
    let ends = [std::io::ErrorKind::ConnectionReset, std::io::ErrorKind::BrokenPipe];
    assert!(ends.contains(&kind), "{kind}");
}

#[test]
fn those_who_ask_for_nothing_make_room_for_those_who_ask() {
    let mut config = Config::local();
    config.times = Times { head: LONG, idle: LONG, ..config.times };
    (config.loopback_connections_max, config.connections_max) = (8, 12);
    let site = Site::with(&config);
    let mut silent: Vec<TcpStream> = (0..40).map(|_| site.connect()).collect();
    for stream in &mut silent {
        // Some have been let go by now: only whether a new one gets through counts.
        let _ = stream.write_all(b"GET / HT");
    }
    for _ in 0..20 {
        assert_eq!(site.send(healthz(&site).as_bytes()).status, 200);
    }
    assert_eq!(read_to_end(&mut silent[0]), b"", "the oldest made room");
}

/// Strangers who guess are kept waiting, and while they wait they make room too.
#[test]
fn those_who_guess_tokens_keep_nobody_out() {
    let mut config = Config::local();
    config.times = Times { wrong_token: LONG, head: LONG, ..config.times };
    config.loopback_connections_max = 8;
    let site = Site::with(&config);
    let guess =
        format!("GET /tools HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer x\r\n\r\n", site.port());
    let mut strangers: Vec<TcpStream> = (0..40).map(|_| site.connect()).collect();
    for stream in &mut strangers {
        let _ = stream.write_all(guess.as_bytes());
    }
    for _ in 0..20 {
        assert_eq!(site.send(healthz(&site).as_bytes()).status, 200);
    }
}

/// HTTP/2 without its upgrade dance: a client that knows what it wants.
#[test]
fn http_2_is_spoken_and_timed() {
    let site = site(|times| (times.head, times.idle) = (SHORT, SHORT));
    let mut stream = site.connect();
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").expect("it is open");
    stream.write_all(&settings).expect("it is open");
    let said = read_to_end(&mut stream);
    assert_eq!(said.get(3), Some(&4), "the server's settings come first: {said:?}");
}

/// Sends the head of a call and the first byte of its body.
fn dribble(site: &Site, token: &str) -> TcpStream {
    let mut stream = site.connect();
    let head = format!(
        "POST /tools/psi-tool HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/edn\r\nContent-Length: 100\r\n\r\n{{",
        site.port()
    );
    stream.write_all(head.as_bytes()).expect("it is open");
    stream
}

#[test]
fn one_session_sends_few_bodies_slowly() {
    let site = site(|_| {});
    let token = site.open("greedy");
    let token = token.reveal();
    let most = usize::try_from(limits::HTTP_SESSION_BODIES.value).expect("few");
    let slow: Vec<TcpStream> = (0..most).map(|_| dribble(&site, token)).collect();
    let other = site.open("other");
    while site.metric("budget_used{budget=\"bodies\",scope=\"all\"}") < limits::HTTP_SESSION_BODIES.value {
        std::thread::yield_now();
    }
    let refused = Answer::read(&mut dribble(&site, token));
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(refused.body.contains("http-session-bodies"), "{refused:?}");
    for token in [other.reveal(), OPERATOR] {
        let mut stream = dribble(&site, token);
        stream.write_all(&[b' '; 99]).expect("it is open");
        assert_ne!(Answer::read(&mut stream).status, 429, "another's place is free");
    }
    drop(slow);
}

#[test]
fn a_slow_body_makes_room_for_a_request() {
    let mut config = Config::local();
    let grace = Duration::ZERO;
    config.times =
        Times { head: LONG, body: LONG, body_grace: grace, idle: LONG, stalled: LONG, ..config.times };
    let config = Config { loopback_connections_max: 4, operator_connections_max: 0, ..config };
    let site = Site::with(&config);
    let token = site.open("greedy");
    let mut slow: Vec<TcpStream> = (0..4).map(|_| dribble(&site, token.reveal())).collect();
    // The server has to see first that it waits for four bodies.
    let waited_for = || {
        let budgets =
            simulated::ask_service(site.service(), &Caller::OPERATOR, "[:reveille.engine/budgets]", true);
        row(&budgets, Budget::Bodies, "all").map(|(used, _)| used)
    };
    assert!((0..100_000).any(|_| waited_for() == Some(4)), "{:?}", waited_for());
    let ask = || site.send(healthz(&site).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes());
    for _ in 0..8 {
        let answer = ask();
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    assert_eq!(read_to_end(&mut slow[0]), b"", "the oldest was closed");
}
