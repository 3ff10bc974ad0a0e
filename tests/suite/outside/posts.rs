//! What of T33 a single post shows: each way in which a receiver can fail, as the sender sees it.

use std::net::IpAddr;
use std::time::Duration;

use reveille::adapter::outbound::{
    Client, Endpoint, MessageId, Patience, Post, PostFault, Reply, Signed, SigningKey, Trust, verify,
};
use reveille::domain::{Moment, Span};

use super::receiver::{Act, Receiver, Script};
use super::{block_on, fixture};

const KEY: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const BODY: &[u8] = br#"{"type": "test"}"#;

fn authority() -> Trust {
    let mut trust = Trust::none();
    trust
        .add(&std::fs::read(fixture("tls/authority.pem")).expect("the file is there"))
        .expect("an authority");
    trust
}

fn now() -> Moment {
    Moment::parse("2026-11-22T12:00:00Z").expect("an instant")
}

/// One post to a receiver, under this URL; a short patience where the receiver is to outlast it.
struct Sender {
    url: &'static str,
    trust: Trust,
    total: Duration,
    wanted: usize,
}

impl Sender {
    fn to(url: &'static str) -> Sender {
        Sender { url, trust: authority(), total: Duration::from_secs(20), wanted: 0 }
    }

    fn within(self, millis: u64) -> Sender {
        Sender { total: Duration::from_millis(millis), ..self }
    }

    fn send(&self, receiver: &Receiver) -> Result<Reply, PostFault> {
        let endpoint = Endpoint::parse(self.url).expect("a URL");
        let address: IpAddr =
            if self.url.starts_with("https") { [93, 184, 216, 34] } else { [127, 0, 0, 1] }.into();
        let network = Script::new(&[&[address]], Some(receiver.address));
        let patience = Patience { connect: self.total, total: self.total };
        let client = Client::new(network, self.trust.clone()).expect("a client").allowing(&endpoint);
        let client = client.with_loopback().with_patience(patience);
        let (id, key) = (MessageId::of("run.1").expect("an id"), SigningKey::parse(KEY).expect("a key"));
        let post = Post {
            endpoint: &endpoint,
            id: &id,
            at: now(),
            keys: &[key],
            media_type: "application/json",
            body: BODY,
            answer_bytes_max: self.wanted,
        };
        block_on(client.post(post))
    }
}

#[test]
fn a_receiver_gets_what_was_signed_under_the_name_that_was_meant() {
    let cases = [
        (Receiver::playing(&[Act::Say(OK)]), "http://localhost:8080/in?a=b", "localhost:8080", None),
        (
            Receiver::playing_over_tls(&[Act::Say(OK)]),
            "https://hooks.example.com/in?a=b",
            "hooks.example.com",
            Some("hooks.example.com".to_owned()),
        ),
    ];
    for (receiver, url, host, server_name) in cases {
        let reply = Sender::to(url).send(&receiver).expect("an answer");
        assert_eq!(reply, Reply { status: 200, retry_after: None, body: Vec::new() });
        let [received] = &receiver.received()[..] else { panic!("one request") };
        assert!(received.head.starts_with("POST /in?a=b HTTP/1.1\r\n"), "{received:?}");
        assert_eq!(received.header("host"), Some(host));
        assert_eq!(received.header("content-type"), Some("application/json"));
        assert_eq!(received.server_name, server_name);
        assert_eq!(received.body, BODY);
        let header = |name| received.header(name).expect("the header is there");
        let (id, timestamp, signature) =
            (header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"));
        assert_eq!(id, "run%2E1");
        let key = SigningKey::parse(KEY).expect("a key");
        assert_eq!(verify(&[key], Signed { id, timestamp, signature }, &received.body, now()), Ok(()));
    }
}

#[test]
fn any_status_is_an_answer_and_none_is_followed() {
    let cases: [(&'static str, u16, Option<u64>); 10] = [
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, None),
        ("HTTP/1.0 200 OK\r\n\r\n", 200, None),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", 202, None),
        ("HTTP/1.1 301 Moved\r\nlocation: http://169.254.169.254/latest/meta-data/\r\n\r\n", 301, None),
        ("HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", 307, None),
        ("HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n", 410, None),
        ("HTTP/1.1 429 Slow down\r\nretry-after: 120\r\n\r\n", 429, Some(120_000)),
        ("HTTP/1.1 503 Later\r\nretry-after: Sun, 22 Nov 2026 12:00:30 GMT\r\n\r\n", 503, Some(30_000)),
        ("HTTP/1.1 503 Earlier\r\nretry-after: Sun, 22 Nov 2026 11:00:00 GMT\r\n\r\n", 503, Some(0)),
        ("HTTP/1.1 500 Internal\r\nretry-after: soon\r\n\r\n", 500, None),
    ];
    for (text, status, wait) in cases {
        let receiver = Receiver::playing(&[Act::Say(text), Act::Say(OK)]);
        let reply = Sender::to("http://localhost:8080/in").send(&receiver).expect(text);
        assert_eq!((reply.status, reply.retry_after), (status, wait.map(Span::from_millis)), "{text}");
        assert_eq!(receiver.received().len(), 1, "{text}");
    }
    let long = "HTTP/1.1 429 Slow down\r\nretry-after: 99999999999999999999999\r\n\r\n";
    let receiver = Receiver::playing(&[Act::Say(long)]);
    let wait = Sender::to("http://localhost:8080/in").send(&receiver).expect("an answer").retry_after;
    assert_eq!(wait, Some(Span::from_millis(u64::MAX)), "what does not fit is for ever");
}

#[test]
fn who_does_not_answer_in_time_has_not_answered() {
    let receiver = Receiver::playing(&[Act::SayTooLate(OK)]);
    let fault = Sender::to("http://localhost:8080/in").within(50).send(&receiver).expect_err("no answer");
    assert_eq!(fault, PostFault::TimedOut { endpoint: "http://localhost:8080".into(), what: "answer" });
    assert_eq!(receiver.received().len(), 1, "it had come, all the same");
}

/// The head of an answer is the receipt: a body that never comes is nobody's loss, unless somebody wants it.
#[test]
fn a_slow_body_is_waited_for_only_where_it_is_wanted() {
    let slow = || Receiver::playing(&[Act::Begin("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")]);
    let reply = Sender::to("http://localhost:8080/in").send(&slow()).expect("an answer");
    assert_eq!(reply.status, 200);
    let wants = Sender { wanted: 1_000_000, ..Sender::to("http://localhost:8080/in").within(50) };
    let fault = wants.send(&slow()).expect_err("no answer");
    assert!(matches!(fault, PostFault::TimedOut { what: "answer", .. }), "{fault:?}");
}

#[test]
fn an_answer_is_read_as_far_as_it_is_wanted() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    for (text, wanted, expected) in [
        (chunked, 5, Ok(b"abcde".to_vec())),
        (chunked, 4, Err(4)),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabcde", 5, Ok(b"abcde".to_vec())),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabcde", 4, Err(4)),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabcde", 0, Ok(Vec::new())),
        ("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nabcde", 9, Ok(b"abcde".to_vec())),
    ] {
        let receiver = Receiver::playing(&[Act::Say(text)]);
        let sender = Sender { wanted, ..Sender::to("http://localhost:8080/in") };
        let read = match sender.send(&receiver) {
            Ok(reply) => Ok(reply.body),
            Err(PostFault::AnswerTooLong { max, .. }) => Err(max),
            Err(fault) => panic!("{fault:?}"),
        };
        assert_eq!(read, expected, "{text:?}, {wanted}");
    }
}

#[test]
fn what_is_no_answer_is_told_apart() {
    let long: &'static str = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(40_000)).leak();
    for act in [
        Act::HangUp,
        Act::Say(""),
        Act::Say("SSH-2.0-OpenSSH_9.2\r\n"),
        Act::Say("HTTP/1.1 200"),
        Act::Say(long),
    ] {
        let receiver = Receiver::playing(&[act]);
        let fault = Sender::to("http://localhost:8080/in?secret").send(&receiver).expect_err("no answer");
        assert!(matches!(fault, PostFault::Broken { .. }), "{act:?}: {fault:?}");
        assert!(!fault.to_string().contains("secret"), "{fault}");
    }
}

#[test]
fn tls_is_with_the_one_that_was_meant_or_not_at_all() {
    let cases = [
        (
            "nobody is believed",
            Receiver::playing_over_tls(&[Act::Say(OK)]),
            "https://hooks.example.com/in",
            Trust::none(),
        ),
        (
            "another name",
            Receiver::playing_over_tls(&[Act::Say(OK)]),
            "https://other.example.com/in",
            authority(),
        ),
        ("an address", Receiver::playing_over_tls(&[Act::Say(OK)]), "https://93.184.216.34/in", authority()),
        ("no TLS there", Receiver::playing(&[Act::Say(OK)]), "https://hooks.example.com/in", authority()),
        ("nobody there", Receiver::playing(&[Act::HangUp]), "https://hooks.example.com/in", authority()),
    ];
    for (case, receiver, url, trust) in cases {
        let sender = Sender { trust, ..Sender::to(url).within(2_000) };
        let fault = sender.send(&receiver).expect_err(case);
        // Somebody who waits for the end of a head that never comes is waited for in vain.
        let is_tls = matches!(fault, PostFault::Tls { .. } | PostFault::TimedOut { what: "connect", .. });
        assert!(is_tls, "{case}: {fault:?}");
        assert!(receiver.received().is_empty(), "{case}: nothing was said");
    }
}

#[test]
fn a_body_over_the_bound_is_not_sent() {
    let endpoint = Endpoint::parse("https://hooks.example.com/in").expect("a URL");
    let network = Script::new(&[&[[93, 184, 216, 34].into()]], None);
    let client = Client::new(network.clone(), Trust::none()).expect("a client").allowing(&endpoint);
    let id = MessageId::of("one").expect("an id");
    for (bytes, is_refused) in [(20_480, false), (20_481, true)] {
        let body = vec![b' '; bytes];
        let post = Post {
            endpoint: &endpoint,
            id: &id,
            at: now(),
            keys: &[],
            media_type: "text/plain",
            body: &body,
            answer_bytes_max: 0,
        };
        let fault = block_on(client.post(post)).expect_err("nobody is there");
        assert_eq!(fault == PostFault::TooLong { bytes }, is_refused, "{fault:?}");
    }
    assert_eq!(network.log().connected.len(), 1);
}

#[test]
fn an_authority_is_read_or_refused() {
    let mut trust = Trust::none();
    assert!(trust.add(b"").is_err(), "none in it");
    assert!(
        trust.add(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").is_err(),
        "none at all"
    );
    assert!(
        trust.add(&std::fs::read(fixture("tls/endpoint.key")).expect("the file is there")).is_err(),
        "a key"
    );
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
