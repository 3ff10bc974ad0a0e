//! No instant that a notation cannot print comes in by any door.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, Moment, SessionId, Span, When};
use reveille::edn::read;
use reveille::engine::NewSchedule;
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::surface::graphql::{GraphqlRequest, GraphqlService, sdl};
use serde_json::json;

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

/// Every place at which GraphQL takes an instant: `Input.field`, or `Type.field.argument`.
fn takers() -> Vec<String> {
    let (mut owner, mut field, mut takers) = (String::new(), String::new(), Vec::new());
    let word = |text: &str| {
        text.split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap_or_default().to_owned()
    };
    let sdl = sdl();
    for line in sdl.lines() {
        let name = word(line.trim_start());
        let is_instant = line.contains(": DateTime");
        if let Some(declared) = line.strip_prefix("input ").or_else(|| line.strip_prefix("type ")) {
            owner = format!("{}{}", if line.starts_with("input ") { "input " } else { "" }, word(declared));
        } else if line.starts_with("    ") && is_instant {
            takers.push(format!("{owner}.{field}.{name}"));
        } else if line.starts_with("  ") && line.ends_with('(') {
            field = name;
        } else if let Some(input) = owner.strip_prefix("input ").filter(|_| is_instant) {
            takers.push(format!("{input}.{name}"));
        }
    }
    takers
}

/// A document that gives the instant INSTANT at this place.
fn document(taker: &str) -> String {
    let create = |terms: String| {
        let input = format!("originSessionId: \"one\", kind: MESSAGE, message: \"m\", {terms}");
        format!("mutation {{ createSchedule(input: {{{input}}}) {{ __typename }} }}")
    };
    let asked = |field: &str, arg: &str| {
        let id = if field == "explain" { ", scheduleId: \"x\"" } else { "" };
        format!("{field}({arg}: INSTANT{id}) {{ __typename }}")
    };
    match taker.split('.').collect::<Vec<_>>().as_slice() {
        ["CreateScheduleInput", field] => create(format!("{field}: INSTANT")),
        ["RescheduleScheduleInput", field] => {
            format!(
                "mutation {{ rescheduleSchedule(input: {{scheduleId: \"x\", {field}: INSTANT}}) {{ __typename }} }}"
            )
        }
        ["LifetimeInput", field] => create(format!("everyMs: 60000, lifetime: {{{field}: INSTANT}}")),
        ["TriggerInput", "anchor"] => {
            create("trigger: {kind: EVERY, from: SLOT, periodMs: 60000, anchor: INSTANT}".to_owned())
        }
        ["TriggerInput", "at"] => create("trigger: {kind: AT, at: INSTANT}".to_owned()),
        ["TriggerInput", "latest"] => {
            create("trigger: {kind: EVENT, job: \"j\", latest: INSTANT}".to_owned())
        }
        ["DecisionFilter", field] => {
            format!("{{ engine {{ decisions(filter: {{{field}: INSTANT}}) {{ __typename }} }} }}")
        }
        ["RunFilter", field] => {
            format!("{{ engine {{ runs(filter: {{{field}: INSTANT}}) {{ __typename }} }} }}")
        }
        ["ScheduleFilter", field] => {
            format!("{{ schedules(filter: {{{field}: INSTANT}}) {{ nodes {{ __typename }} }} }}")
        }
        ["Query", field, arg] => format!("{{ {} }}", asked(field, arg)),
        ["Engine", field, arg] => format!("{{ engine {{ {} }} }}", asked(field, arg)),
        ["Schedule", field, arg] => {
            format!("{{ schedules {{ nodes {{ {field}({arg}: INSTANT) {{ __typename }} }} }} }}")
        }
        _ => unreachable!("{taker} takes an instant, and no document here gives one"),
    }
}

/// The answer to a document that gives this instant, as a literal or by a variable.
fn give(handle: &Handle, document: &str, at: &str, by_variable: bool) -> String {
    let document = match by_variable {
        false => document.replace("INSTANT", &format!("{at:?}")),
        true => {
            let body = document.strip_prefix("mutation ");
            let kind = if body.is_some() { "mutation" } else { "query" };
            format!("{kind}($at: DateTime) {}", body.unwrap_or(document).replace("INSTANT", "$at"))
        }
    };
    let variables = if by_variable { json!({ "at": at }) } else { json!({}) };
    graphql(handle, &json!({ "query": document, "variables": variables }))
}

fn graphql(handle: &Handle, body: &serde_json::Value) -> String {
    let graphql = GraphqlService::new(&Service::new(handle.clone())).expect("sound roots");
    match GraphqlRequest::from_json(body.to_string().as_bytes()) {
        Ok(request) => graphql.answer(&Caller::OPERATOR, &request, false).body,
        Err(error) => format!("{{\"errors\": {error:?}}}"),
    }
}

#[test]
fn no_place_of_graphql_takes_a_year_of_five_digits() {
    let takers = takers();
    for expected in
        ["CreateScheduleInput.at", "RunFilter.to", "Query.whatIf.downUntil", "Schedule.explain.at"]
    {
        assert!(takers.iter().any(|taker| taker == expected), "{expected} is not among {takers:?}");
    }
    for taker in &takers {
        let document = document(taker);
        for by_variable in [false, true] {
            let handle = handle();
            let refused = give(&handle, &document, "+10000-01-01T00:00:00Z", by_variable);
            // The words for a literal are others than those for a variable.
            let is_about_it = refused.contains("\"errors\"") && refused.contains("DateTime");
            assert!(is_about_it, "{taker}: {refused}");
            assert!(
                ask(&handle, "[:psi.scheduler/schedule-count]").contains("count 0"),
                "{taker}: {refused}"
            );
            let last = give(&handle, &document, "9999-12-31T23:59:59Z", by_variable);
            assert!(
                !last.contains("cannot represent") && !last.contains("VALIDATION_FAILED"),
                "{taker}: {last}"
            );
        }
    }
}

/// Times that GraphQL takes in other forms than an instant.
#[test]
fn no_words_or_lengths_reach_a_year_of_five_digits() {
    for terms in [
        "when: \"+10000-01-01T00:00:00Z\"",
        "when: \"10000-01-01 at 9:00\"",
        "when: \"in 3000000 days\"",
        "when: \"in 500000 weeks\"",
        "delayMs: 300000000000000",
        "everyMs: 300000000000000",
        "delayMs: 5000, sessionConfig: {preloadedMessages: [{role: \"user\", content: \"c\", \
         timestamp: \"+10000-01-01T00:00:00Z\"}]}",
    ] {
        let handle = handle();
        let kind = if terms.contains("sessionConfig") { "SESSION" } else { "MESSAGE" };
        let input = format!("originSessionId: \"one\", kind: {kind}, message: \"m\", {terms}");
        let query = format!("mutation {{ createSchedule(input: {{{input}}}) {{ __typename }} }}");
        let answer = graphql(&handle, &json!({ "query": query }));
        assert!(answer.contains("\"errors\""), "{terms}: {answer}");
        assert!(ask(&handle, "[:psi.scheduler/schedule-count]").contains("count 0"), "{terms}: {answer}");
    }
    let as_of = json!({ "query": "{ pendingCount }", "extensions": { "asOf": "+10000-01-01T00:00:00Z" } });
    let answer = graphql(&handle(), &as_of);
    assert!(answer.contains("\"errors\""), "{answer}");
}

/// GraphQL has no form for an instant before the year 0, which psi's tools take. It is shown as text, and hides nothing else.
#[test]
fn an_instant_without_a_form_does_not_hide_its_page() {
    let handle = handle();
    let before = When::At(Moment::parse("-0044-03-15T12:00:00Z").expect("an instant"));
    handle.schedule(NewSchedule::message(simulated::session("one"), before, "early")).expect("there is room");
    let later = When::After(Span::from_millis(60_000));
    handle.schedule(NewSchedule::message(simulated::session("one"), later, "late")).expect("there is room");
    let body = graphql(&handle, &json!({ "query": "{ schedules { nodes { message fireAt } } }" }));
    assert!(!body.contains("errors") && body.contains("-0044-03-15T12:00:00Z"), "{body}");
    assert!(body.contains("\"early\"") && body.contains("\"late\""), "{body}");
}
