//! What one client may take: seats, subscriptions, the past, and answers that it does not read. A client that takes all that it
//! can get keeps nobody else out, and an operator least of all.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use reveille::limits;

use crate::harness::ask::create_in;
use crate::harness::daemon::{Daemon, Home, PATIENCE, at, now, text, until};
use crate::harness::stream::Stream;

/// Opens a session, and returns its token.
fn open(stream: &mut Stream, session: &str) -> String {
    let opened = stream.ask(&format!("{{:op :session/open :session-id {session:?}}}")).expect("it lives");
    text(&opened, &["ok", "token"]).expect("a token").to_owned()
}

/// A connection from an address of this machine, with a small buffer for what comes.
fn connect(daemon: &Daemon, from: Ipv4Addr) -> Option<TcpStream> {
    let to: SocketAddr = daemon.address().parse().expect("an address");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4_096)?;
        socket.bind((from, 0).into())?;
        socket.connect(to).await?.into_std()
    });
    let stream = stream.ok()?;
    stream.set_nonblocking(false).expect("ours");
    stream.set_read_timeout(Some(PATIENCE)).expect("ours");
    Some(stream)
}

/// Sends the head of a request with this token, if there is one, and a body.
fn say(stream: &mut TcpStream, daemon: &Daemon, request: &str, token: &str, rest: &str) {
    let bearer = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    let text = format!("{request} HTTP/1.1\r\nHost: {}\r\n{bearer}{rest}", daemon.address());
    // One for which there is no room is dropped at once.
    let _ = stream.write_all(text.as_bytes());
}

/// Reads the head of an answer, and the body that it announces; nothing of what was upgraded.
fn head(stream: &mut TcpStream) -> (u16, String) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|length| length == 1) {
        head.extend(byte);
    }
    let head = String::from_utf8(head).expect("UTF-8").to_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; if status < 400 { 0 } else { length.unwrap_or(0) }];
    stream.read_exact(&mut body).expect("as long as announced");
    (status, String::from_utf8(body).expect("UTF-8"))
}

const STREAM: &str = "Connection: Upgrade\r\nUpgrade: reveille-edn\r\n\r\n";
const WEBSOCKET: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                         Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n";

/// Sends a text frame, masked with zeros.
fn send(stream: &mut TcpStream, text: &str) {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 126).expect("a short frame");
    let frame = [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat();
    let _ = stream.write_all(&frame);
}

/// Reads a frame: its text, or the code and the reason of the end.
fn frame(stream: &mut TcpStream) -> String {
    let mut head = [0; 2];
    stream.read_exact(&mut head).expect("a frame");
    let mut length = usize::from(head[1]);
    if length == 126 {
        stream.read_exact(&mut head).expect("a length");
        length = usize::from(u16::from_be_bytes(head));
        head[0] = 0x81;
    }
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).expect("a payload");
    match head[0] {
        0x88 => {
            let code = u16::from_be_bytes([payload[0], payload[1]]);
            format!("{code} {}", String::from_utf8_lossy(&payload[2..]))
        }
        _ => String::from_utf8(payload).expect("text"),
    }
}

/// A WebSocket of this token, or why it was refused.
fn websocket(daemon: &Daemon, token: &str) -> Result<TcpStream, String> {
    let mut stream = connect(daemon, Ipv4Addr::LOCALHOST).expect("it listens");
    say(&mut stream, daemon, "GET /graphql", "", WEBSOCKET);
    assert_eq!(head(&mut stream).0, 101);
    send(&mut stream, &format!(r#"{{"type":"connection_init","payload":{{"token":"{token}"}}}}"#));
    let answer = frame(&mut stream);
    if answer == r#"{"type":"connection_ack"}"# { Ok(stream) } else { Err(answer) }
}

/// Starts a subscription; whether it runs, or the error.
fn subscribe(stream: &mut TcpStream, id: usize) -> Result<(), String> {
    let query = r#""payload":{"query":"subscription { events { kind } }"}"#;
    send(stream, &format!(r#"{{"id":"{id}","type":"subscribe",{query}}}"#));
    send(stream, r#"{"type":"ping"}"#);
    let answer = frame(stream);
    if answer == r#"{"type":"pong"}"# {
        return Ok(());
    }
    assert_eq!(frame(stream), r#"{"type":"pong"}"#);
    Err(answer)
}

#[test]
fn sockets_that_do_not_say_who_they_are_keep_nobody_out() {
    let home = Home::new("upgrade-flood");
    let daemon = Daemon::start(&home);
    let mut flood = Vec::new();
    for number in 0..400 {
        let Some(mut stream) = connect(&daemon, Ipv4Addr::LOCALHOST) else { continue };
        say(&mut stream, &daemon, "GET /graphql", "", WEBSOCKET);
        // Each of the first has left HTTP before the next comes.
        if number < 300 {
            assert_eq!(head(&mut stream).0, 101, "{number}");
        }
        flood.push(stream);
    }
    for _ in 0..50 {
        assert_eq!(daemon.ask("GET /readyz", &[], "").status, 200);
    }
    assert_eq!(flood[0].read(&mut [0; 16]).ok(), Some(0), "the oldest made room");
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}

#[test]
fn one_token_that_takes_every_seat_leaves_those_of_operators() {
    let home = Home::new("seats");
    let daemon = Daemon::start(&home);
    let token = open(&mut Stream::connect(&daemon.socket).expect("it lives"), "main");
    let (mut streams, mut refused) = (Vec::new(), 0);
    for number in 0..40 {
        let from = Ipv4Addr::new(127, 0, 0, 1 + number % 2);
        let mut stream = connect(&daemon, from).expect("it listens");
        say(&mut stream, &daemon, "GET /stream", &token, STREAM);
        match head(&mut stream) {
            (101, _) => streams.push(stream),
            (429, body) => {
                assert!(body.contains(limits::HTTP_SESSION_UPGRADES.name), "{body}");
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    let most = limits::HTTP_SESSION_UPGRADES.value;
    assert_eq!((streams.len() as u64, refused), (most, 40 - most));
    assert!(websocket(&daemon, &token).is_err_and(|why| why.contains("4429 Too many connections")));
    // Bodies that do not end keep their connections busy for ten seconds.
    let mut busy = Vec::new();
    let headers = "Content-Type: application/edn\r\nContent-Length: 1000\r\n\r\n[";
    for number in 0..limits::HTTP_CONNECTIONS.value {
        let from = Ipv4Addr::new(127, 0, 0, 1 + u8::from(number % 2 == 0));
        let Some(mut stream) = connect(&daemon, from) else { continue };
        say(&mut stream, &daemon, "POST /eql", &token, headers);
        busy.push(stream);
    }
    let full = limits::HTTP_LOOPBACK_CONNECTIONS.value;
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let is_full = || daemon.metric("reveille_connections") >= full as f64;
    until("every seat is taken", PATIENCE, is_full);
    assert!(at(&daemon.eql("[:reveille.engine/now]"), &["reveille.engine/now"]).is_some());
    let mut stream = Stream::connect(&daemon.socket).expect("the socket has seats of its own");
    assert!(stream.eql("[:reveille.engine/now]").expect("it lives").is_ok());
    let mut stranger = connect(&daemon, Ipv4Addr::LOCALHOST).expect("it listens");
    say(&mut stranger, &daemon, "GET /tools", &token, "\r\n");
    let (status, body) = head(&mut stranger);
    assert_eq!(status, 503, "{body}");
    assert!(body.contains(limits::HTTP_CONNECTIONS.name), "{body}");
    assert!(stream.ask("{:op :session/close :session-id \"main\"}").is_some(), "the operator can end it");
    drop((streams, busy));
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}

#[test]
fn one_token_does_not_take_every_subscription() {
    let home = Home::new("subscriptions");
    let daemon = Daemon::start(&home);
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let (greedy, other) = (open(&mut stream, "greedy"), open(&mut stream, "other"));
    let (mut sockets, mut started) = (Vec::new(), 0);
    for _ in 0..17 {
        let mut socket = match websocket(&daemon, &greedy) {
            Ok(socket) => socket,
            Err(why) => {
                assert!(why.contains(limits::HTTP_SESSION_UPGRADES.name), "{why}");
                continue;
            }
        };
        for id in 0..16 {
            match subscribe(&mut socket, id) {
                Ok(()) => started += 1,
                Err(why) => assert!(why.contains(limits::GRAPHQL_SESSION_SUBSCRIPTIONS.name), "{why}"),
            }
        }
        sockets.push(socket);
    }
    assert_eq!(started, limits::GRAPHQL_SESSION_SUBSCRIPTIONS.value);
    for token in [&*other, daemon.token()] {
        let mut socket = websocket(&daemon, token).expect("there are seats");
        subscribe(&mut socket, 1).expect("there is room");
        sockets.push(socket);
    }
    drop(sockets);
    until("all are free again", PATIENCE, || {
        // Exactly: a place that is not returned would be missing for ever.
        daemon.metric("reveille_graphql_subscriptions") < 0.5 && daemon.metric("reveille_http_upgrades") < 0.5
    });
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}

/// Schedules with long messages: what the log and the answers weigh.
fn fill(stream: &mut Stream, session: &str, count: usize) {
    let message = "m".repeat(60_000);
    for _ in 0..count {
        let rest = format!(":durability :durable :delay-ms 80000000 :message {message:?}");
        create_in(stream, session, &rest).expect("there is room");
    }
}

#[test]
fn the_past_is_asked_for_by_turns() {
    let home = Home::new("as-of-flood");
    let daemon = Arc::new(Daemon::start(&home));
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let (greedy, other) = (open(&mut stream, "greedy"), open(&mut stream, "other"));
    fill(&mut stream, "greedy", 500);
    let wall = daemon.eql("[:reveille.engine/now]");
    let wall = at(&wall, &["reveille.engine/now"]).expect("an instant").as_inst().expect("an instant");
    let (seconds, millis) = (wall.seconds(), wall.nanos() / 1_000_000);
    // An instant of its own for each, so that no one's past is another's.
    let ask = move |daemon: &Daemon, token: &str, number: u32| {
        let at = reveille::domain::Moment::new(seconds, millis * 1_000_000 + number).expect("in range");
        let query = format!("{{:pathom/eql [:psi.scheduler/pending-count] :reveille/as-of \"{at}\"}}");
        ask_as(daemon, token, "POST /eql", &["Content-Type: application/edn"], &query)
    };
    let began = now();
    assert_eq!(ask(&daemon, &greedy, 0).0, 200);
    let alone = began.elapsed_here();
    let flood: Vec<_> = (1..25)
        .map(|number| {
            let (daemon, token) = (Arc::clone(&daemon), greedy.clone());
            std::thread::spawn(move || ask(&daemon, &token, number))
        })
        .collect();
    let began = now();
    let args = r#"{"action":"scheduler","op":"create","kind":"message","message":"m","delay-ms":60000}"#;
    let created = ask_as(&daemon, &other, "POST /tools/psi-tool", &["Content-Type: application/json"], args);
    let took = began.elapsed_here();
    assert_eq!(created.0, 200, "{}", created.1);
    assert_eq!(ask(&daemon, daemon.token(), 30).0, 200, "an operator has a turn of its own");
    assert!(daemon.metric("reveille_as_of_queries") <= 1.0, "a session has one turn at a time");
    let answers: Vec<(u16, String)> =
        flood.into_iter().map(|asked| asked.join().expect("answered")).collect();
    let name = limits::SESSION_AS_OF_WAITING.name;
    let refused = answers.iter().filter(|(status, body)| *status == 400 && body.contains(name)).count();
    let done = answers.iter().filter(|(status, _)| *status == 200).count();
    assert_eq!(refused + done, 24, "{answers:?}");
    println!("{alone:?} alone, {done} of 24 answered, {refused} refused; a create took {took:?} meanwhile");
    assert!(refused > 0 && done > 0, "{refused} refused, {done} done");
    assert!(took < Duration::from_secs(1).max(4 * alone), "{took:?}, while one alone takes {alone:?}");
}

/// One request by this token: its status and its body.
fn ask_as(daemon: &Daemon, token: &str, request: &str, headers: &[&str], body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(daemon.address()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("ours");
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let rest = format!("Connection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len());
    say(&mut stream, daemon, request, token, &rest);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0), body.to_owned())
}

#[test]
fn answers_that_nobody_reads_do_not_pile_up() {
    let home = Home::new("unread");
    let daemon = Daemon::start(&home);
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let (greedy, other) = (open(&mut stream, "greedy"), open(&mut stream, "other"));
    fill(&mut stream, "greedy", 125);
    let query = "[{(:psi.scheduler/schedules {:first 125}) [:psi.scheduler/message]}]";
    let rest = format!("Content-Type: application/edn\r\nContent-Length: {}\r\n\r\n{query}", query.len());
    let (mut unread, mut refused) = (Vec::new(), 0);
    for _ in 0..12 {
        let mut stream = connect(&daemon, Ipv4Addr::LOCALHOST).expect("it listens");
        say(&mut stream, &daemon, "POST /eql", &greedy, &rest);
        match head(&mut stream) {
            (200, _) => unread.push(stream),
            (429, body) => {
                assert!(body.contains(limits::SESSION_ANSWERS_BYTES.name), "{body}");
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    let held = daemon.metric("reveille_answers_bytes");
    println!("{} answers unread, {refused} refused, {held} bytes held", unread.len());
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let most = limits::SESSION_ANSWERS_BYTES.value as f64;
    assert!(refused > 0 && held > 0.0 && held <= most, "{refused} refused, {held} bytes");
    // A short answer always arrives, and others have their own part.
    let own = ask_as(
        &daemon,
        &greedy,
        "POST /eql",
        &["Content-Type: application/edn"],
        "[:psi.scheduler/pending-count]",
    );
    assert_eq!(own.0, 200, "{}", own.1);
    let tools = ask_as(&daemon, &other, "GET /tools", &[], "");
    assert!(tools.0 == 200 && tools.1.len() as u64 > limits::ANSWER_BYTES_COUNTED.value);
    drop(unread);
    until("all are dropped", PATIENCE, || daemon.metric("reveille_answers_bytes") < 0.5);
    assert_eq!(daemon.end("-TERM").code(), Some(0));
}
