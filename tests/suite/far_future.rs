//! No instant that a notation cannot print comes in by any door.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, HostId, SessionConfig, SessionId};
use reveille::edn::{Value, read};
use reveille::graph::eql::Boundary;
use reveille::runtime::{Handle, Parts, WithoutStore};
use reveille::service::{Service, reply};
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};
use reveille::testkit::{SimClock, SimEntropy};

fn handle() -> Handle {
    let handle = Handle::new(Parts {
        clock: Arc::new(SimClock::new()),
        entropy: Arc::new(SimEntropy::seeded(1)),
        local: Arc::new(HostLocal::new()),
        zones: Arc::default(),
        without_store: WithoutStore::InMemory,
        journal: None,
    });
    let id = SessionId::new("one").expect("an id");
    handle.open_session(Some(id), HostId::LOCAL, SessionConfig::default()).expect("it is new");
    handle
}

fn ask(handle: &Handle, query: &str) -> String {
    let form = read(query.as_bytes(), &REQUEST_CAPS).expect(query);
    let request = Boundary::read(&form).expect(query);
    let answer = Service::new(handle.clone()).query(&Caller::OPERATOR, &request, false).expect(query);
    Value::from(reply(&request, answer)).to_string()
}

#[test]
fn a_year_of_five_digits_is_refused_everywhere() {
    let handle = handle();
    let create = |terms: &str| {
        ask(
            &handle,
            &format!(
                "[(psi.scheduler/create {{:session-id \"one\" :kind :message :message \"m\" {terms}}})]"
            ),
        )
    };
    for terms in [
        ":at \"+10000-01-01T00:00:00Z\"",
        ":trigger {:kind :every :from :slot :period-ms 1000 :anchor \"+10000-01-01T00:00:00Z\"}",
        ":trigger {:kind :event :job \"j\" :latest \"+10000-01-01T00:00:00Z\"}",
        ":every-ms 60000 :lifetime {:expires-at \"+10000-01-01T00:00:00Z\"}",
    ] {
        let answer = create(terms);
        assert!(answer.contains("year-max") || answer.contains("LIMIT"), "{terms}: {answer}");
    }
    let args = "{:name \"n\" :prompt \"p\" :schedule {:kind :interval :every_seconds 1 :anchor \"+10000-01-01T00:00:00Z\"}}";
    let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let caller = Caller::session(SessionId::new("one").expect("an id"));
    let answer = Service::new(handle.clone()).call_tool("cron_create", &caller, &args, Notation::Edn);
    let answer = answer.expect("admitted").expect("a tool");
    assert!(answer.is_error, "{answer:?}");
    assert!(ask(&handle, "[:psi.scheduler/schedule-count]").contains("0"));
}

/// The last slots of the calendar are listed, and none after them.
#[test]
fn a_list_with_the_last_slots_of_the_calendar_is_shown() {
    let handle = handle();
    let made = ask(
        &handle,
        "[(psi.scheduler/create {:session-id \"one\" :kind :message :message \"m\" \
          :trigger {:kind :every :from :slot :period-ms 86400000 :anchor \"9999-12-30T00:00:00Z\"}})]",
    );
    assert!(made.contains(":psi.scheduler/created? true"), "{made}");
    let query = "{ schedules(first: 10) { nodes { fireAt upcoming(first: 5) } } }";
    let graphql = GraphqlService::new(&Service::new(handle.clone())).expect("sound roots");
    let reply = graphql.answer(&Caller::OPERATOR, &GraphqlRequest::new(query), true).body;
    assert!(!reply.contains("errors") && reply.contains("9999-12-31T00:00:00Z"), "{reply}");
}
