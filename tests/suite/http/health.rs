//! What the health checks say of an engine that does its work, and of one that does not.

use reveille::domain::{Right, Span, When};
use reveille::engine::NewSchedule;
use reveille::runtime::Token;
use reveille::service::Service;
use reveille::surface::http::{Config, Server};

use crate::simulated;

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
    // A handle alone has no driver, like a daemon whose driver has died.
    let (handle, clock) = simulated::engine(&["one"]);
    handle.tokens().admit_operator(&Token::from_text(OPERATOR), Right::Change);
    let session = simulated::session("one");
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
    for (route, notation) in
        [("POST /eql", "edn"), ("POST /tools/psi-tool", "edn"), ("POST /graphql", "json")]
    {
        let notation = format!("Content-Type: application/{notation}");
        let headers = [notation.as_str(), "Content-Encoding: gzip"];
        let answer = site.ask(route, OPERATOR, &headers, "[:psi.scheduler/pending-count]");
        assert_eq!(answer.status, 415, "{route}: {answer:?}");
    }
    let plain = ["Content-Type: application/edn", "Content-Encoding: identity"];
    assert_eq!(site.ask("POST /eql", OPERATOR, &plain, "[:psi.scheduler/pending-count]").status, 200);
}
