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
        ["PreloadedMessageInput", field] => create(format!(
            "delayMs: 60000, sessionConfig: {{preloadedMessages: [{{role: USER, content: \"c\", {field}: INSTANT}}]}}"
        )),
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
        "delayMs: 5000, sessionConfig: {preloadedMessages: [{role: USER, content: \"c\", \
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

/// The fields of a type that are instants, by the schema.
fn instants_of(kind: &str) -> String {
    let sdl = sdl();
    let declaration = format!("\ntype {kind} {{\n");
    let fields = sdl.split_once(&declaration).and_then(|(_, rest)| rest.split_once("\n}")).expect(kind).0;
    // Arguments have more blanks in front.
    let fields = fields.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(": "));
    let instants =
        fields.filter(|(name, kind)| !name.starts_with([' ', '"', ')']) && kind.starts_with("DateTime"));
    let instants: Vec<&str> = instants.map(|(name, _)| name).collect();
    assert!(!instants.is_empty(), "{kind} has none");
    instants.join(" ")
}

/// What is computed from the last instants of the calendar (what comes next, what would be late, where a bucket begins) stays
/// within it. Every instant that GraphQL shows of such schedules has a year of four digits, and none hides its page.
#[test]
fn nothing_that_is_computed_lies_beyond_the_calendar() {
    const LAST: &str = "9999-12-31T23:59:59Z";
    let handle = handle();
    let late = ":policy {:max-late-ms 3600000 :timeout-ms 3600000 :backoff-ms [60000]}";
    let terms = [
        format!(":at {LAST:?} {late}"),
        format!(
            ":trigger {{:kind :every :from :slot :period-ms 1000 :anchor \"9999-12-31T23:59:50Z\"}} {late}"
        ),
        ":trigger {:kind :every :from :slot :period-ms 86400000 :anchor \"9999-12-30T00:00:00Z\"}".to_owned(),
        ":cron \"59 23 31 12 *\" :zone \"Pacific/Kiritimati\"".to_owned(),
        ":cron \"59 23 31 12 *\" :zone \"Pacific/Niue\"".to_owned(),
        format!(":trigger {{:kind :event :job \"j\" :latest {LAST:?}}}"),
        format!(":every-ms 60000 :lifetime {{:expires-at {LAST:?}}}"),
    ];
    let mut ids = Vec::new();
    for terms in &terms {
        let create =
            "psi.scheduler/create {:session-id \"one\" :kind :message :message \"m\" :durability :durable";
        let made = ask(&handle, &format!("[{{({create} {terms}}}) [:psi.scheduler/schedule-id]}}]"));
        ids.push(made.split('"').nth(1).filter(|id| id.starts_with("sch-")).expect(&made).to_owned());
    }
    let [schedule, slot, explanation, cell, run] =
        ["Schedule", "Slot", "Explanation", "TimelineCell", "Run"].map(instants_of);
    let end = format!("from: \"9999-12-31T23:59:00Z\", to: {LAST:?}");
    let mut reads = vec![
        format!("schedules {{ nodes {{ {schedule} upcoming(first: 20) runs {{ {run} }} }} }}"),
        format!("forecast {{ {slot} }}"),
        format!("forecast(first: 200, {end}) {{ {slot} }}"),
        format!("whatIf(downFrom: \"9999-12-31T23:59:00Z\", downUntil: {LAST:?}, {end}) {{ {slot} }}"),
        format!("timeline({end}, bucketMs: 7000) {{ {cell} }}"),
        format!("timeline(from: \"9999-12-01T00:00:00Z\", to: {LAST:?}) {{ {cell} }}"),
    ];
    for id in &ids {
        for at in ["9999-12-31T23:59:58Z", LAST] {
            reads.push(format!("explain(scheduleId: {id:?}, at: {at:?}) {{ {explanation} }}"));
        }
        reads.push(format!("whatIf(scheduleId: {id:?}, everyMs: 86399000, {end}) {{ {slot} }}"));
    }
    let mut reached = 0;
    for read in &reads {
        let shown = graphql(&handle, &json!({ "query": format!("{{ {read} }}") }));
        // An assumption may not fit a schedule; that is no instant.
        let is_refused = read.starts_with("whatIf(scheduleId");
        assert!(is_refused || !shown.contains("\"errors\""), "{read}: {shown}");
        assert!(!shown.contains("cannot represent") && !shown.contains("\"+"), "{read}: {shown}");
        // An explanation repeats the instant that it was asked about.
        let repeats = read.starts_with("explain");
        reached += usize::from(!repeats && shown.contains("\"9999-12-31T23:59:5"));
    }
    assert!(reached >= 4, "only {reached} reads reach the end of the calendar");
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
