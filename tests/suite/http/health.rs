//! What the health checks say of an engine that does its work, and of one that does not.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::domain::{HostId, Right, SessionConfig, SessionId, Span, When};
use reveille::engine::NewSchedule;
use reveille::runtime::{Handle, Parts, Token, WithoutStore};
use reveille::service::Service;
use reveille::surface::http::{Config, Server};
use reveille::testkit::{SimClock, SimEntropy};

use super::client::{Answer, OPERATOR, Site};

fn ready(server: &Server) -> Answer {
    let mut stream = std::net::TcpStream::connect(server.address()).expect("it listens");
    let request = format!(
        "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nAuthorization: Bearer {OPERATOR}\r\n\r\n",
        server.address().port()
    );
    std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it reads");
    Answer::read(&mut stream)
}

#[test]
fn an_engine_that_nobody_drives_is_not_ready() {
    let clock = Arc::new(SimClock::new());
    // A handle alone has no driver, like a daemon whose driver has died.
    let handle = Handle::new(Parts {
        clock: Arc::<SimClock>::clone(&clock),
        entropy: Arc::new(SimEntropy::seeded(1)),
        local: Arc::new(HostLocal::new()),
        zones: Arc::default(),
        without_store: WithoutStore::Reject,
        journal: None,
    });
    handle.tokens().admit_operator(&Token::from_text(OPERATOR), Right::Change);
    let session = SessionId::new("one").expect("an id");
    handle.open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default()).expect("it is new");
    let server = Server::start(Service::new(handle.clone()), &Config::local()).expect("it starts");
    handle
        .schedule(NewSchedule::message(session, When::After(Span::from_millis(1_000)), "m"))
        .expect("created");
    clock.advance(Span::from_millis(6_000));
    assert_eq!(ready(&server).status, 200, "overdue by five seconds, no more");
    clock.advance(Span::from_millis(1));
    let answer = ready(&server);
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.body.contains("overdue") && answer.body.contains("overdue-ms"), "{answer:?}");
    handle.run_due();
    assert_eq!(ready(&server).status, 200, "it has caught up");
}

#[test]
fn a_packed_body_is_refused_as_such() {
    let site = Site::start();
    let headers = ["Content-Type: application/edn", "Content-Encoding: gzip"];
    for route in ["POST /eql", "POST /tools/psi-tool"] {
        let answer = site.ask(route, OPERATOR, &headers, "[:psi.scheduler/pending-count]");
        assert_eq!(answer.status, 415, "{route}: {answer:?}");
    }
    let plain = ["Content-Type: application/edn", "Content-Encoding: identity"];
    assert_eq!(site.ask("POST /eql", OPERATOR, &plain, "[:psi.scheduler/pending-count]").status, 200);
}
