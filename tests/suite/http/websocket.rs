//! GraphQL over a WebSocket, from outside. The protocol itself has its tests beside it; here are the walls around it and
//! the wiring.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use reveille::surface::http::{Config, Times};

use super::client::{Answer, OPERATOR, Site, read_to_end};
use super::subscriptions::until;

/// A WebSocket, as far as these tests need one: frames below 64 KiB.
#[derive(Debug)]
pub(super) struct Client(TcpStream);

impl Client {
    /// Asks for the upgrade; returns the answer's head where it is refused.
    pub(super) fn connect(site: &Site, headers: &str) -> Result<Client, String> {
        let mut stream = site.connect();
        let port = site.port();
        write!(
            stream,
            "GET /graphql HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
        )
        .expect("sent");
        let mut head = Vec::new();
        let mut byte = [0_u8];
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).expect("answered");
            head.extend(byte);
        }
        let head = String::from_utf8(head).expect("text");
        if head.starts_with("HTTP/1.1 101 ") { Ok(Client(stream)) } else { Err(head) }
    }

    pub(super) fn open(site: &Site) -> Client {
        Client::connect(site, "sec-websocket-protocol: graphql-transport-ws\r\n").expect("switched over")
    }

    /// Sends a text frame, masked with zeros.
    pub(super) fn say(&mut self, text: &str) {
        let length = text.len();
        let mut frame = vec![0x81];
        match u8::try_from(length).ok().filter(|length| *length < 126) {
            Some(length) => frame.push(0x80 | length),
            None if length < 1 << 16 => {
                frame.push(0x80 | 126);
                frame.extend(u16::try_from(length).expect("short").to_be_bytes());
            }
            None => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.0.write_all(&frame).expect("sent");
    }

    /// Reads a text frame, or the code of the end.
    pub(super) fn hear(&mut self) -> String {
        let mut head = [0_u8; 2];
        self.0.read_exact(&mut head).expect("a frame");
        let mut length = usize::from(head[1]);
        if length == 126 {
            let mut long = [0_u8; 2];
            self.0.read_exact(&mut long).expect("a length");
            length = usize::from(u16::from_be_bytes(long));
        }
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).expect("a payload");
        match head[0] {
            0x88 => u16::from_be_bytes([payload[0], payload[1]]).to_string(),
            _ => String::from_utf8(payload).expect("text"),
        }
    }
}

pub(super) fn init(token: &str) -> String {
    format!(r#"{{"type":"connection_init","payload":{{"token":"{token}"}}}}"#)
}

const EVENTS: &str =
    r#"{"id":"1","type":"subscribe","payload":{"query":"subscription { events { kind } }"}}"#;

#[test]
fn a_subscription_pushes_until_it_is_stopped() {
    let site = Site::start();
    let mut client = Client::open(&site);
    client.say(&init(OPERATOR));
    assert_eq!(client.hear(), r#"{"type":"connection_ack"}"#);
    client.say(EVENTS);
    client.say(r#"{"id":"2","type":"subscribe","payload":{"query":"{ pendingCount }"}}"#);
    assert_eq!(client.hear(), r#"{"id":"2","type":"next","payload":{"data":{"pendingCount":0}}}"#);
    assert_eq!(client.hear(), r#"{"id":"2","type":"complete"}"#);
    site.open("one");
    assert_eq!(
        client.hear(),
        r#"{"id":"1","type":"next","payload":{"data":{"events":{"kind":"SESSION_OPENED"}}}}"#
    );
    client.say(r#"{"id":"3","type":"subscribe","payload":{"query":"{ nope }"}}"#);
    assert!(client.hear().starts_with(r#"{"id":"3","type":"error","payload":[{"message""#));
    client.say(r#"{"id":"1","type":"complete"}"#);
    client.say(r#"{"type":"ping"}"#);
    assert_eq!(client.hear(), r#"{"type":"pong"}"#);
    client.say(EVENTS);
    client.say(EVENTS);
    assert_eq!(client.hear(), "4409");
}

#[test]
fn the_walls_stand_around_it() {
    let site = Site::start();
    let protocol = "sec-websocket-protocol: graphql-transport-ws\r\n";
    let alien = Client::connect(&site, &format!("{protocol}origin: http://evil.example\r\n"));
    assert!(alien.is_err_and(|head| head.starts_with("HTTP/1.1 403 ")));
    let wrong = Client::connect(&site, &format!("{protocol}authorization: Bearer wrong\r\n"));
    assert!(wrong.is_err_and(|head| head.starts_with("HTTP/1.1 401 ")));
    assert_eq!(Client::connect(&site, "").expect("switched over").hear(), "4406");
    for (messages, code) in [
        (vec![EVENTS.to_owned()], "4401"),
        (vec![init("wrong")], "4403"),
        (vec![r#"{"type":"connection_init"}"#.to_owned()], "4403"),
        (vec!["nonsense".to_owned()], "4400"),
        (vec![format!("\"{}\"", "x".repeat(70_000))], "1009"),
    ] {
        let mut client = Client::open(&site);
        messages.iter().for_each(|message| client.say(message));
        assert_eq!(client.hear(), code, "{code}");
    }
}

/// A request whose head the server has read, and whose body never comes.
fn begin_request(site: &Site) -> TcpStream {
    let (mut request, port) = (site.connect(), site.port());
    write!(
        request,
        "POST /eql HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {OPERATOR}\r\nexpect: 100-continue\r\n\
         content-type: application/edn\r\ncontent-length: 9\r\n\r\n"
    )
    .expect("sent");
    until(&mut request, "100 Continue");
    request
}

/// The server waits very long for requests here, so a stop that waited for these clients would not end. It waits for one request,
/// and meanwhile the engine ends, and with it what the clients follow.
#[test]
fn a_server_that_stops_ends_websockets_and_event_streams() {
    let config = Config::local();
    let times = Times { drain: Duration::from_secs(600), ..config.times };
    let mut site = Site::with(&Config { times, ..config });
    let request = begin_request(&site);
    let mut silent = Client::open(&site);
    let mut client = Client::open(&site);
    client.say(&init(OPERATOR));
    assert_eq!(client.hear(), r#"{"type":"connection_ack"}"#);
    client.say(EVENTS);
    client.say(r#"{"type":"ping"}"#);
    assert_eq!(client.hear(), r#"{"type":"pong"}"#);
    let mut stream = site.connect();
    let (port, body) = (site.port(), r#"{"query":"subscription { events { kind } }"}"#);
    write!(
        stream,
        "POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {OPERATOR}\r\naccept: text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("sent");
    until(&mut stream, ":\n\n");
    let mut idle = site.connect();
    write!(idle, "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n").expect("sent");
    assert_eq!(Answer::read(&mut idle).status, 200);
    let (handle, server) = (site.handle().clone(), &mut site.server);
    std::thread::scope(|scope| {
        // Moved in, so that a failure here ends the request, for which the server waits.
        let request = request;
        scope.spawn(|| server.stop());
        // The server closes what is idle as soon as it is stopping.
        read_to_end(&mut idle);
        handle.shut_down();
        assert!(client.hear().contains("ENGINE_STOPPING"));
        until(&mut stream, "ENGINE_STOPPING");
        drop(request);
    });
    // A stop that gives receipts up says so once more.
    let last = std::iter::repeat_with(|| client.hear()).find(|heard| !heard.contains("ENGINE_STOPPING"));
    assert_eq!((last.as_deref(), silent.hear().as_str()), (Some("1001"), "1001"));
    let rest = String::from_utf8(read_to_end(&mut stream)).expect("text");
    assert!(!rest.contains("complete"), "the subscription is not over: {rest}");
}

#[test]
fn a_session_s_end_ends_its_connection() {
    let site = Site::start();
    let token = site.open("one");
    let mut client = Client::open(&site);
    client.say(&init(token.reveal()));
    assert_eq!(client.hear(), r#"{"type":"connection_ack"}"#);
    client.say(EVENTS);
    client.say(r#"{"type":"ping"}"#);
    assert_eq!(client.hear(), r#"{"type":"pong"}"#);
    let one = reveille::domain::SessionId::new("one").expect("an id");
    site.handle().close_session(&one).expect("it is open");
    assert_eq!(client.hear(), "4403");
}
