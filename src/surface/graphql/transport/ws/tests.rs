//! Tests of the protocol, message by message.

use super::*;

/// Operations with scripted results: `q` is answered, `s` is a subscription, all others are refused.
#[derive(Default)]
struct Script {
    is_withdrawn: bool,
    log: Vec<String>,
}

impl Operations for Script {
    fn open(&mut self, payload: &Map) -> Result<(), Refused> {
        match payload.text("token").and_then(Value::as_str) {
            Some("t") => Ok(()),
            Some("full") => Err(Refused::UsedUp(CLIENT_SUBSCRIPTIONS)),
            _ => Err(Refused::Unknown),
        }
    }

    fn may_go_on(&mut self) -> bool {
        !self.is_withdrawn
    }

    fn start(&mut self, number: u64, request: &GraphqlRequest) -> Started {
        self.log.push(format!("start {number}"));
        match request.query.as_str() {
            "q" => Started::Answered("{\"data\":1}".into()),
            "s" => Started::Follows,
            _ => Started::Refused(vec![GraphqlError::new(Code::Document, "no")]),
        }
    }

    fn stop(&mut self, number: u64) {
        self.log.push(format!("stop {number}"));
    }
}

fn at(millis: u64) -> BootTime {
    BootTime::default().after(Span::from_millis(millis))
}

/// Handles each message in turn; returns the frames that the server sends.
fn say(socket: &mut Socket, script: &mut Script, messages: &[&str]) -> Vec<String> {
    let frames = messages.iter().flat_map(|message| socket.text(message, at(0), script));
    frames.map(shown).collect()
}

fn shown(frame: Frame) -> String {
    match frame {
        Frame::Text(text) => text,
        Frame::Close(code, _) => code.to_string(),
    }
}

#[track_caller]
fn check(messages: &[&str], expected: &[&str]) {
    let (mut socket, mut script) = (Socket::new(at(0)), Script::default());
    assert_eq!(say(&mut socket, &mut script, messages), expected, "{messages:?}");
}

const INIT: &str = r#"{"type":"connection_init","payload":{"token":"t"}}"#;
const ACK: &str = r#"{"type":"connection_ack"}"#;
const QUERY: &str = r#"{"id":"1","type":"subscribe","payload":{"query":"q"}}"#;
const FOLLOW: &str = r#"{"id":"2","type":"subscribe","payload":{"query":"s"}}"#;

#[test]
fn operations_are_run_after_the_first_message() {
    check(
        &[INIT, QUERY, r#"{"type":"ping","payload":{}}"#, r#"{"type":"pong"}"#],
        &[
            ACK,
            r#"{"id":"1","type":"next","payload":{"data":1}}"#,
            r#"{"id":"1","type":"complete"}"#,
            r#"{"type":"pong"}"#,
        ],
    );
    let refused = r#"{"id":"1","type":"error","payload":[{"message":"no","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}"#;
    check(&[INIT, r#"{"id":"1","type":"subscribe","payload":{"query":"x"}}"#], &[ACK, refused]);
}

#[test]
fn what_breaks_the_protocol_closes() {
    check(&[QUERY, INIT], &["4401"]);
    check(&[r#"{"type":"connection_init"}"#, INIT], &["4403"]);
    check(&[INIT, INIT, QUERY], &[ACK, "4429"]);
    check(&[&INIT.replace("\"t\"", "\"full\""), QUERY], &["4429"]);
    check(&[INIT, FOLLOW, FOLLOW], &[ACK, "4409"]);
    for message in [
        "",
        "[]",
        "{",
        r#"{"type":"nope"}"#,
        r#"{"type":"subscribe","payload":{"query":"q"}}"#,
        r#"{"id":"1","type":"subscribe"}"#,
    ] {
        check(&[INIT, message, QUERY], &[ACK, "4400"]);
    }
    let large = format!(r#"{{"type":"ping","payload":{{"x":"{}"}}}}"#, "x".repeat(70_000));
    check(&[INIT, &large, QUERY], &[ACK, "1009"]);
    let many: Vec<String> = (0..17).map(|id| FOLLOW.replace("\"2\"", &format!("\"{id}\""))).collect();
    let mut messages = vec![INIT];
    messages.extend(many.iter().map(String::as_str));
    check(&messages, &[ACK, "4429"]);
    assert_eq!(Socket::new(at(0)).binary().into_iter().map(shown).collect::<Vec<_>>(), ["4400"]);
}

#[test]
fn subscriptions_push_until_they_are_stopped() {
    let (mut socket, mut script) = (Socket::new(at(0)), Script::default());
    say(&mut socket, &mut script, &[INIT, FOLLOW]);
    let pushed = socket.push(0, "{\"data\":2}", &mut script).into_iter().map(shown).collect::<Vec<_>>();
    assert_eq!(pushed, [r#"{"id":"2","type":"next","payload":{"data":2}}"#]);
    assert_eq!(
        say(
            &mut socket,
            &mut script,
            &[r#"{"id":"2","type":"complete"}"#, r#"{"id":"9","type":"complete"}"#]
        ),
        [""; 0]
    );
    assert_eq!(script.log, ["start 0", "stop 0"]);
    assert!(socket.push(0, "{}", &mut script).is_empty() && socket.complete(0).is_empty());
    // The id is free again.
    say(&mut socket, &mut script, &[FOLLOW]);
    assert_eq!(
        socket.complete(1).into_iter().map(shown).collect::<Vec<_>>(),
        [r#"{"id":"2","type":"complete"}"#]
    );
}

/// Answers of a stopped subscription, and its end, may still wait when the client uses its id again.
#[test]
fn a_stopped_subscription_says_nothing_under_the_id_of_the_next() {
    let (mut socket, mut script) = (Socket::new(at(0)), Script::default());
    say(&mut socket, &mut script, &[INIT, FOLLOW, r#"{"id":"2","type":"complete"}"#, FOLLOW]);
    assert_eq!(script.log, ["start 0", "stop 0", "start 1"]);
    assert!(socket.push(0, "{}", &mut script).is_empty() && socket.complete(0).is_empty());
    let own = socket.push(1, "{\"data\":2}", &mut script).into_iter().map(shown).collect::<Vec<_>>();
    assert_eq!(own, [r#"{"id":"2","type":"next","payload":{"data":2}}"#]);
    let end = socket.complete(1).into_iter().map(shown).collect::<Vec<_>>();
    assert_eq!(end, [r#"{"id":"2","type":"complete"}"#]);
}

#[test]
fn a_token_that_is_withdrawn_ends_the_connection() {
    for way in ["message", "push", "tick"] {
        let (mut socket, mut script) = (Socket::new(at(0)), Script::default());
        say(&mut socket, &mut script, &[INIT, FOLLOW]);
        script.is_withdrawn = true;
        let frames = match way {
            "message" => socket.text(QUERY, at(0), &mut script),
            "push" => socket.push(0, "{}", &mut script),
            _ => socket.tick(at(60_000), &mut script),
        };
        assert_eq!(frames.into_iter().map(shown).collect::<Vec<_>>(), ["4403"], "{way}");
        assert_eq!(script.log, ["start 0"], "{way}");
    }
}

#[test]
fn silence_is_broken_in_time() {
    let (mut socket, mut script) = (Socket::new(at(0)), Script::default());
    assert!(socket.tick(at(4_999), &mut script).is_empty());
    assert_eq!(socket.tick(at(5_000), &mut script).into_iter().map(shown).collect::<Vec<_>>(), ["4408"]);
    let mut socket = Socket::new(at(0));
    say(&mut socket, &mut script, &[INIT]);
    assert!(socket.tick(at(14_999), &mut script).is_empty());
    let ping = socket.tick(socket.deadline(), &mut script);
    assert_eq!(ping.into_iter().map(shown).collect::<Vec<_>>(), [r#"{"type":"ping"}"#]);
    assert_eq!(socket.deadline(), at(30_000));
}
