//! Every subscription by every kind of token, as an event stream, over a WebSocket and over the stream of EDN: it tells of
//! what is the caller's, and of nothing else.

use std::io::{Read, Write};
use std::net::TcpStream;

use reveille::domain::SessionId;
use reveille::runtime::Token;

use super::client::{EDITOR, OBSERVER, OPERATOR, SHELL, Site, read_some};
use super::streams::upgrade;
use super::websocket::{Client, init};

/// Sessions of all kinds; each has schedules with its name as the label.
const SUBJECTS: [&str; 4] = ["sess-own", "sess-another", "sess-again", "sess-hosted"];

struct World {
    site: Site,
    own: Token,
    again: Token,
    /// A token that is none any more.
    closed: Token,
}

/// Lets an operator schedule something for a session.
fn schedule(site: &Site, session: &str, label: &str) {
    let query = format!(
        "[(psi.scheduler/create {{:kind :message :message \"m\" :delay-ms 3600000 :label {label:?}}})]"
    );
    let acting = format!("Reveille-Session: {session}");
    let made = site.ask("POST /eql", OPERATOR, &["Content-Type: application/edn", &acting], &query);
    assert!(made.body.contains("sch-"), "{}", made.body);
}

fn close(site: &Site, session: &str) {
    site.handle().close_session(&SessionId::new(session).expect("an id")).expect("it is open");
}

impl World {
    fn new() -> World {
        let site = Site::start();
        let own = site.open("sess-own");
        site.open("sess-another");
        let closed = site.open("sess-again");
        schedule(&site, "sess-again", "earlier");
        close(&site, "sess-again");
        let again = site.open("sess-again");
        let (_, mut host) = upgrade(&site, EDITOR, "");
        writeln!(host, "{{:op :session/open :session-id \"sess-hosted\"}}").expect("it is open");
        let mut answer = [0; 1_024];
        assert!(read_some(&mut host, &mut answer).expect("it answers") > 0);
        for session in SUBJECTS {
            schedule(&site, session, &format!("of-{session}"));
        }
        World { site, own, again, closed }
    }

    /// Who subscribes: a token, the session that it acts for, and the session of which it is told; `None` for all.
    fn callers(&self) -> Vec<(&str, &str, Option<&'static str>)> {
        vec![
            (self.own.reveal(), "", Some("sess-own")),
            (self.again.reveal(), "", Some("sess-again")),
            (EDITOR, "sess-hosted", Some("sess-hosted")),
            (OPERATOR, "sess-another", Some("sess-another")),
            (OBSERVER, "sess-another", Some("sess-another")),
            (OPERATOR, "", None),
            (OBSERVER, "", None),
        ]
    }
}

/// Reads until a text has come, and returns all that came.
pub(super) fn until(stream: &mut TcpStream, part: &str) -> String {
    let mut heard = String::new();
    let mut chunk = [0; 4_096];
    while !heard.contains(part) {
        let length = read_some(stream, &mut chunk).expect("it goes on");
        assert!(length > 0, "{part} has not come: {heard}");
        heard.push_str(&String::from_utf8_lossy(&chunk[..length]));
    }
    heard
}

fn header(session: &str) -> String {
    if session.is_empty() { String::new() } else { format!("reveille-session: {session}\r\n") }
}

/// What is heard of the events and of the list of schedules, from the beginning on until something of its own happens.
fn heard(world: &World, token: &str, session: &str, own: &str) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let site = &world.site;
    let events =
        "subscription { events(after: \\\"0\\\") { cursor kind sessionId scheduleId schedule { label } } }";
    for (what, query) in [
        ("events", events),
        ("schedules", "subscription { schedules { cursor changed { label owner: originSessionId } } }"),
    ] {
        let mut stream = site.connect();
        let (port, body) = (site.port(), format!("{{\"query\":\"{query}\"}}"));
        write!(
            stream,
            "POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n{}accept: text/event-stream\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            header(session),
            body.len()
        )
        .expect("sent");
        let opened = until(&mut stream, "\r\n\r\n");
        schedule(site, own, "the-last");
        all.push((what, opened + &until(&mut stream, "the-last")));
    }
    let headers = format!(
        "sec-websocket-protocol: graphql-transport-ws\r\nauthorization: Bearer {token}\r\n{}",
        header(session)
    );
    let mut socket = Client::connect(site, &headers).expect("it is taken");
    socket.say(r#"{"type":"connection_init"}"#);
    assert!(socket.hear().contains("connection_ack"));
    socket.say(&format!(r#"{{"id":"1","type":"subscribe","payload":{{"query":"{events}"}}}}"#));
    schedule(site, own, "the-very-last");
    let mut said = String::new();
    while !said.contains("the-very-last") {
        said += &socket.hear();
    }
    all.push(("events over a WebSocket", said));
    let (_, mut stream) = upgrade(site, token, &header(session));
    writeln!(stream, "{{:op :subscribe :after 0}}").expect("it is open");
    let opened = until(&mut stream, "\n");
    let rest = if opened.contains("schedule-created") {
        String::new()
    } else {
        until(&mut stream, "schedule-created")
    };
    all.push(("the stream", opened + &rest));
    all
}

#[test]
fn a_subscription_tells_of_the_callers_own() {
    for at in 0..World::new().callers().len() {
        let world = World::new();
        let (token, session, told) = world.callers()[at];
        let token = token.to_owned();
        for (what, heard) in heard(&world, &token, session, told.unwrap_or("sess-own")) {
            for subject in SUBJECTS {
                let may = told.is_none_or(|own| own == subject);
                let is_told = heard.contains(subject);
                assert!(may || !is_told, "{session} {told:?}: {what} tells of {subject}: {heard}");
            }
            // What an earlier session of the id had is not its successor's.
            let is_earlier = ["earlier", "SESSION_CLOSED", "session-closed", "CANCELLED"]
                .iter()
                .any(|it| heard.contains(it));
            assert!(told.is_none() || !is_earlier, "{told:?}: {what}: {heard}");
            assert!(!heard.contains("errors"), "{told:?}: {what}: {heard}");
        }
    }
}

#[test]
fn who_has_no_token_follows_nothing() {
    let world = World::new();
    let site = &world.site;
    let body = r#"{"query":"subscription { events { kind } }"}"#;
    let headers = ["Accept: text/event-stream", "Content-Type: application/json"];
    let bodies: Vec<String> = [world.closed.reveal(), "nobody-nobody-nobody-nobody-nobody"]
        .into_iter()
        .map(|token| {
            let answer = site.ask("POST /graphql", token, &headers, body);
            let (stream, _) = upgrade(site, token, "");
            assert_eq!((answer.status, stream.status), (401, 401));
            let protocol = "sec-websocket-protocol: graphql-transport-ws\r\n";
            let refused = Client::connect(site, &format!("{protocol}authorization: Bearer {token}\r\n"));
            assert!(refused.is_err_and(|head| head.starts_with("HTTP/1.1 401 ")));
            let mut late = Client::open(site);
            late.say(&init(token));
            assert_eq!(late.hear(), "4403");
            answer.body
        })
        .collect();
    assert_eq!(bodies[0], bodies[1]);
    // A host may follow for the sessions that it has opened; for any other, it is as if there were none.
    for session in ["sess-own", "sess-hosted", "sess-absent"] {
        let acting = format!("Reveille-Session: {session}");
        let answer = site.ask("POST /graphql", SHELL, &[&headers[..], &[&acting]].concat(), body);
        assert_eq!(answer.status, 404, "{session}: {answer:?}");
    }
}

/// The messages of another's session are those of none, in every state.
#[test]
fn the_messages_of_anothers_session_are_nobodys() {
    let world = World::new();
    let token = world.own.reveal();
    let ask = |session: &str| {
        let mut stream = world.site.connect();
        let query = format!("subscription {{ messages(sessionId: \\\"{session}\\\") {{ text }} }}");
        let (port, body) = (world.site.port(), format!("{{\"query\":\"{query}\"}}"));
        write!(
            stream,
            "POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\naccept: text/event-stream\r\n\
             connection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it is refused");
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        body.expect("a body").replace(session, "SESSION")
    };
    let absent = ask("sess-absent");
    for session in ["sess-another", "sess-again", "sess-hosted"] {
        assert_eq!(ask(session), absent, "{session}");
    }
}
