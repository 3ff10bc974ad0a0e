//! No instant that a notation cannot print comes in by any door.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, SessionId};
use reveille::edn::read;
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};

use crate::simulated;

fn handle() -> Handle {
    simulated::engine(&["one"]).0
}

fn ask(handle: &Handle, query: &str) -> String {
    simulated::ask(handle, &Caller::OPERATOR, query, false)
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
