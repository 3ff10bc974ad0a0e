//! An answer has a bound in bytes, in both languages, and a page of the same list is within it.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::dialect::REQUEST_CAPS;
use reveille::domain::{Caller, HostId, SessionConfig, SessionId, Span, When};
use reveille::edn::{Value, read};
use reveille::engine::NewSchedule;
use reveille::graph::eql::Boundary;
use reveille::runtime::{Handle, Parts, WithoutStore};
use reveille::service::{Service, reply};
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};
use reveille::testkit::{SimClock, SimEntropy};

/// A session with two hundred schedules of 60 KB each: twelve megabytes.
fn handle() -> Handle {
    let handle = Handle::new(Parts {
        clock: Arc::new(SimClock::new()),
        entropy: Arc::new(SimEntropy::seeded(1)),
        local: Arc::new(HostLocal::new()),
        zones: Arc::default(),
        without_store: WithoutStore::InMemory,
        journal: None,
    });
    let session = SessionId::new("one").expect("an id");
    handle.open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default()).expect("it is new");
    let long = "x".repeat(60_000);
    for _ in 0..200 {
        let when = When::After(Span::from_millis(60_000));
        handle.schedule(NewSchedule::message(session.clone(), when, long.as_str())).expect("there is room");
    }
    handle
}

fn ask(handle: &Handle, query: &str) -> String {
    let form = read(query.as_bytes(), &REQUEST_CAPS).expect(query);
    let request = Boundary::read(&form).expect(query);
    match Service::new(handle.clone()).query(&Caller::OPERATOR, &request, false) {
        Ok(answer) => Value::from(reply(&request, answer)).to_string(),
        Err(refusal) => refusal.to_string(),
    }
}

#[test]
fn an_answer_that_is_too_long_is_refused_and_a_page_is_not() {
    let handle = handle();
    for (query, fits) in [
        ("[{:psi.scheduler/schedules [:psi.scheduler/message]}]", false),
        ("[{(:psi.scheduler/schedules {:first 100}) [:psi.scheduler/message]}]", true),
        // Not by the fast path: a placeholder of each entity.
        ("[{:psi.scheduler/schedules [:psi.scheduler/message {:>/again [:psi.scheduler/label]}]}]", false),
        ("[{:psi.scheduler/schedules [:psi.scheduler/schedule-id]}]", true),
        // Read once, and shown twice.
        (
            "[{(:psi.scheduler/schedules {:first 100}) \
               [{:>/a [:psi.scheduler/message]} {:>/b [:psi.scheduler/message]}]}]",
            false,
        ),
    ] {
        let answer = ask(&handle, query);
        assert_eq!(!answer.contains("limit of 8388608 bytes"), fits, "{query}: {} bytes", answer.len());
        assert!(answer.len() < 10_000_000, "{query}: {} bytes", answer.len());
    }
    let graphql = GraphqlService::new(&Service::new(handle.clone())).expect("sound roots");
    for (query, fits) in [
        ("{ schedules(first: 200) { nodes { message } } }", false),
        ("{ schedules(first: 100) { nodes { message } } }", true),
        (
            "{ a: schedules(first: 100) { nodes { message } } b: schedules(first: 100) { nodes { message } } }",
            false,
        ),
    ] {
        let reply = graphql.answer(&Caller::OPERATOR, &GraphqlRequest::new(query), true).body;
        assert_eq!(!reply.contains("errors"), fits, "{query}: {}", &reply[..reply.len().min(300)]);
        assert!(reply.len() < 10_000_000, "{query}: {} bytes", reply.len());
    }
}
