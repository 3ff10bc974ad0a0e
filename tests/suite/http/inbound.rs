//! What comes in by a channel, before its proof is known: what a sender holds, and how a body that does not arrive is answered.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use reveille::adapter::outbound::{Proof, ProofKind};
use reveille::limits;
use reveille::surface::http::{Config, Times};

use super::client::{Answer, Site};

const LONG: Duration = Duration::from_secs(60);

/// A server with a channel `ci`, which waits long for bodies.
fn site() -> Site {
    let proof = Proof::shared(ProofKind::Token, "a secret of sixteen").expect("long enough");
    let config = Config::local();
    let times = Times { body: LONG, body_grace: LONG, ..config.times };
    Site::with(&Config { times, proofs: Arc::new(BTreeMap::from([("ci".into(), proof)])), ..config })
}

/// Sends the head of an event, and this of its body.
fn send(site: &Site, length: &str, body: &str) -> TcpStream {
    let mut stream = site.connect();
    let port = site.port();
    let head = format!("POST /v1/channels/ci/in HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).expect("it is open");
    stream
}

#[test]
fn slow_senders_keep_out_no_event_that_is_there() {
    let site = site();
    let most = limits::HTTP_SESSION_BODIES.value;
    let slow: Vec<TcpStream> = (0..most).map(|_| send(&site, "Content-Length: 100", "{")).collect();
    while site.metric("budget_used{budget=\"bodies\",scope=\"all\"}") < most {
        std::thread::yield_now();
    }
    let refused = Answer::read(&mut send(&site, "Content-Length: 100", "{"));
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.body.contains(limits::HTTP_SESSION_BODIES.name), "{refused:?}");
    let whole = Answer::read(&mut send(&site, "Content-Length: 2", "{}"));
    assert_eq!(whole.status, 401, "it is read, and has no proof: {whole:?}");
    drop(slow);
}

#[test]
fn a_body_is_too_long_or_broken_and_each_is_said() {
    let site = site();
    let over = usize::try_from(limits::CHANNEL_IN_BYTES.value).expect("it fits") + 1;
    let body = " ".repeat(over);
    let long = Answer::read(&mut send(&site, &format!("Content-Length: {over}"), &body));
    assert_eq!(long.status, 413, "{long:?}");
    assert!(long.body.contains(limits::CHANNEL_IN_BYTES.name), "{long:?}");
    // A chunk without a length.
    let broken = Answer::read(&mut send(&site, "Transfer-Encoding: chunked", "zz\r\n{}\r\n0\r\n\r\n"));
    assert_eq!(broken.status, 400, "{broken:?}");
}
