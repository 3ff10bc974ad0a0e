//! A guard at an endpoint: what it says counts, and whatever goes wrong on the way is a failure, which refuses.

use std::sync::Arc;
use std::sync::mpsc::channel;

use reveille::adapter::outbound::{
    Client, Endpoint, GuardRoute, Hook, OutboundGuard, Signed, SigningKey, Trust, verify,
};
use reveille::domain::{
    Cause, Dialect, Digest, Durability, GuardAnswer, Moment, Payload, RunId, Schedule, ScheduleId, SessionId,
    Span, Trigger,
};
use reveille::engine::GuardQuestion;
use reveille::port::{Clock, Guard, GuardReply};
use reveille::testkit::SimClock;

use super::receiver::{Act, Receiver, Script};

const KEY: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// What is asked, and how long there is for an answer.
fn question(patience_ms: u64) -> GuardQuestion {
    let (id, slot) = (ScheduleId::new("sch-1").expect("an id"), Moment::EPOCH);
    GuardQuestion {
        run: RunId { schedule: id.clone(), incarnation: 1, slot },
        digest: Digest([7; 32]),
        schedule: Schedule {
            id,
            dialect: Dialect::Native,
            durability: Durability::Durable,
            label: Some("rotate".into()),
            owner: SessionId::new("main").expect("an id"),
            trigger: Trigger::At(slot),
            payload: Payload::Turn { text: "Rotate the keys.".into() },
            created_at: slot,
            creation: None,
            settings: None,
        },
        config: None,
        memory: None,
        revision: 1,
        cause: Cause::Slot,
        late: Span::from_millis(5),
        folded: 0,
        attempt: 1,
        session: Some(SessionId::new("main").expect("an id")),
        provenance: None,
        patience: Span::from_millis(patience_ms),
    }
}

/// Asks a guard at this receiver.
fn ask(receiver: &Receiver, patience_ms: u64) -> (GuardAnswer, Arc<SimClock>) {
    let endpoint = Endpoint::parse("http://localhost:8080/guard").expect("a URL");
    let network = Script::new(&[&[[127, 0, 0, 1].into()]], Some(receiver.address));
    let client = Client::new(network, Trust::none()).expect("a client").allowing(&endpoint).with_loopback();
    let clock = Arc::new(SimClock::new());
    let keys = vec![SigningKey::parse(KEY).expect("a key")];
    let hook = Hook { client, endpoint, keys, clock: clock.clone() };
    let hook = hook.with_patience(Span::from_millis(patience_ms));
    let guard = OutboundGuard::start(GuardRoute::Webhook(Box::new(hook))).expect("a thread");
    let (give, given) = channel();
    guard.ask(question(patience_ms), GuardReply::new(move |answer| _ = give.send(answer)));
    (given.recv().expect("an answer, or that there is none"), clock)
}

#[test]
fn a_guard_at_an_endpoint_is_asked_under_a_signature() {
    let receiver = Receiver::playing(&[Act::Say(
        "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"decision\": \"allow\"}",
    )]);
    let (answer, clock) = ask(&receiver, 20_000);
    assert_eq!(answer, GuardAnswer::Allow);
    let [received] = &receiver.received()[..] else { panic!("one question") };
    let body: serde_json::Value = serde_json::from_slice(&received.body).expect("JSON");
    let text = body.to_string();
    for part in ["sch-1~1~1970-01-01T00:00:00Z", "rotate", "Rotate the keys.", "main", "native"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let header = |name| received.header(name).expect("the header is there");
    let signed = Signed {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signature: header("webhook-signature"),
    };
    let key = SigningKey::parse(KEY).expect("a key");
    assert_eq!(verify(&[key], signed, &received.body, clock.now().wall), Ok(()));
}

#[test]
fn only_what_a_guard_says_plainly_counts() {
    let held = GuardAnswer::Hold { why: Some("have a look".into()) };
    let refused = GuardAnswer::Refuse { why: None };
    let said = [
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 43\r\n\r\n{\"decision\": \"hold\", \"why\": \"have a look\"}  ",
            held,
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n{\"decision\": \"refuse\"}", refused),
    ];
    for (reply, expected) in said {
        assert_eq!(ask(&Receiver::playing(&[Act::Say(reply)]), 20_000).0, expected, "{reply}");
    }
    let wrong = [
        Act::Say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        Act::Say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrue"),
        Act::Say("HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n{\"decision\": \"ALLOW!\"}"),
        Act::Say("HTTP/1.1 201 Created\r\nContent-Length: 21\r\n\r\n{\"decision\": \"allow\"}"),
        Act::Say("HTTP/1.1 500 No\r\nContent-Length: 21\r\n\r\n{\"decision\": \"allow\"}"),
        Act::Say("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"),
        Act::Say("this is no HTTP\r\n\r\n"),
        Act::HangUp,
    ];
    for act in wrong {
        let answer = ask(&Receiver::playing(&[act]), 20_000).0;
        assert!(matches!(answer, GuardAnswer::Failed { .. }), "{act:?}: {answer:?}");
    }
}

#[test]
fn a_guard_that_takes_too_long_has_failed() {
    let late = "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"decision\": \"allow\"}";
    for act in [Act::SayTooLate(late), Act::Begin("HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n")] {
        let answer = ask(&Receiver::playing(&[act]), 200).0;
        assert!(matches!(answer, GuardAnswer::Failed { .. }), "{act:?}: {answer:?}");
    }
}
