//! An answer has a bound in bytes, in both languages, and a page of the same list is within it.

use reveille::domain::{Caller, Span, When};
use reveille::engine::NewSchedule;
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};

use crate::simulated;

/// A session with two hundred schedules of 60 KB each: twelve megabytes.
fn handle() -> Handle {
    let (handle, _) = simulated::engine(&["one"]);
    let session = simulated::session("one");
    let long = "x".repeat(60_000);
    for _ in 0..200 {
        let when = When::After(Span::from_millis(60_000));
        handle.schedule(NewSchedule::message(session.clone(), when, long.as_str())).expect("there is room");
    }
    handle
}

fn ask(handle: &Handle, query: &str) -> String {
    simulated::ask(handle, &Caller::OPERATOR, query, false)
}

/// Instants and keys weigh what they have when they are printed: ten thousand slots of each schedule, and a key of the caller's
/// choice for each, are answers that nothing short asks for.
#[test]
fn short_values_and_long_names_add_up() {
    let handle = handle();
    let name = "x".repeat(50_000);
    let long = [
        "[{:psi.scheduler/schedules [(:psi.scheduler/upcoming {:first 10000})]}]".to_owned(),
        format!("[{{:psi.scheduler/schedules [{{:>/{name} [:psi.scheduler/status]}}]}}]"),
    ];
    let every = "[(psi.scheduler/create {:session-id \"one\" :kind :message :message \"m\" :every-ms 1000})]";
    for _ in 0..30 {
        assert!(ask(&handle, every).contains("created? true"));
    }
    for query in long {
        let answer = ask(&handle, &query);
        assert!(answer.contains("limit of 8388608 bytes"), "{} bytes", answer.len());
    }
    let graphql = GraphqlService::new(&Service::new(handle.clone())).expect("sound roots");
    for field in ["upcoming(first: 10000)".to_owned(), format!("{name}: status")] {
        let query = format!("{{ schedules(first: 230) {{ nodes {{ {field} }} }} }}");
        let reply = graphql.answer(&Caller::OPERATOR, &GraphqlRequest::new(&query), true).body;
        assert!(reply.contains("limit of 8388608 bytes"), "{} bytes", reply.len());
        assert!(reply.len() < 10_000_000, "{} bytes", reply.len());
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
