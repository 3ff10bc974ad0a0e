//! The matrix of who may ask for what, written by the tables themselves: every mutation and every tool, as every kind of caller,
//! about its own session, another's and none, is admitted exactly where the rule of its operation says.
//!
//! A mutation or tool that is added is in it at once. What is refused has changed nothing, and what is another's answers like
//! what does not exist.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, CallerRole, Grant, Op, Right, Scope};
use reveille::edn::{Map, Value, read};
use reveille::graph::mutation::MutationName;
use reveille::graph::registry::{Param, ParamType};
use reveille::runtime::Handle;
use reveille::service::{Service, TOOLBOX};

use crate::simulated::{self, session, standing, token};

/// An engine with three sessions: one's own, another's, and one whose grant has been narrowed.
fn handle() -> Handle {
    let (handle, _) = simulated::engine(&["own", "another", "narrow"]);
    let narrow = Grant { right: Some(Right::Read), ..Grant::FULL };
    handle.grant(&session("narrow"), narrow, Scope::Operator).expect("it is open");
    handle
}

fn callers() -> Vec<(&'static str, Caller)> {
    let observer = Caller { role: CallerRole::Observer, right: Right::Read, ..Caller::OPERATOR };
    vec![
        ("operator", Caller::OPERATOR),
        ("operator for a session", Caller { role: CallerRole::Operator, ..Caller::session(session("own")) }),
        ("observer", observer),
        ("host", Caller::session(session("own"))),
        ("session", token("own")),
        ("another session", token("another")),
        ("narrowed session", token("narrow")),
    ]
}

/// What the table says, in the words of the test: a second reading of the rule, not a call of what is tested.
fn is_admitted(op: Op, caller: &Caller) -> bool {
    let rule = op.rule();
    let changes = rule.changes;
    let of_the_whole = changes && !rule.roles.contains(&CallerRole::Host);
    let is_narrow = caller.scope.session().is_some_and(|session| session.as_str() == "narrow");
    rule.roles.contains(&caller.role)
        && !(changes && caller.right == Right::Read)
        && !(of_the_whole && caller.scope != Scope::Operator)
        && !(rule.is_granted && is_narrow)
}

/// Whether a mutation exists for the caller at all; what does not is refused before it is admitted.
fn exists(op: Op, caller: &Caller) -> bool {
    let is_beyond_sessions = op == Op::OpenSession || !op.rule().roles.contains(&CallerRole::Host);
    !is_beyond_sessions || caller.scope == Scope::Operator
}

fn sample(param: &Param, subject: &str) -> Value {
    match param.kind {
        ParamType::Id if param.name.contains("session") => subject.into(),
        ParamType::Id => "a~1~1970-01-01T00:00:00Z".into(),
        ParamType::Text => "0".repeat(64).into(),
        ParamType::Boolean => true.into(),
        ParamType::Integer { min, .. } => min.into(),
        ParamType::Instant => "2030-01-01T00:00:00Z".into(),
        ParamType::Enum { values, .. } => Value::keyword(values[0]),
        ParamType::List(_) => Vec::<Value>::new().into(),
        ParamType::Record(_) | ParamType::Map => Map::new().into(),
    }
}

/// The parameters of a call about this session, or about what its schedules would be.
fn params(mutation: MutationName, subject: &str) -> Map {
    let all = mutation.params().iter().flat_map(|group| group.params);
    let named = all.filter(|param| param.is_required || param.name.ends_with("session-id"));
    named.fold(Map::new(), |map, param| {
        // The session may be optional, and text in the table; it is the subject all the same.
        let value = if param.name.ends_with("session-id") { subject.into() } else { sample(param, subject) };
        map.with(param.name, value)
    })
}

fn ask(handle: &Handle, caller: &Caller, query: &str) -> String {
    simulated::ask(handle, caller, query, false)
}

#[test]
fn a_mutation_is_for_whom_its_operation_is() {
    let mut count = 0;
    for mutation in MutationName::ALL {
        for (who, caller) in callers() {
            for subject in ["own", "another", "nobody"] {
                // A new engine each time: what is admitted changes it.
                let handle = handle();
                let before = standing(&handle);
                let query = format!("[({} {})]", mutation.name(), Value::Map(params(*mutation, subject)));
                let answer = ask(&handle, &caller, &query);
                let may = is_admitted(mutation.op(), &caller) && exists(mutation.op(), &caller);
                assert_eq!(!answer.contains("FORBIDDEN"), may, "{who}: {query}: {answer}");
                assert!(may || standing(&handle) == before, "{who} has changed something: {query}");
                count += 1;
            }
        }
    }
    assert_eq!(count, MutationName::ALL.len() * callers().len() * 3);
}

#[test]
fn anothers_session_answers_like_none_to_every_mutation() {
    for mutation in MutationName::ALL {
        for (who, caller) in callers().into_iter().filter(|(_, caller)| caller.scope != Scope::Operator) {
            let own = caller.scope.session().expect("a session").as_str();
            let answer = |subject: &str| {
                let handle = handle();
                let query = format!("[({} {})]", mutation.name(), Value::Map(params(*mutation, subject)));
                ask(&handle, &caller, &query).replace(subject, "S")
            };
            let foreign = if own == "another" { "own" } else { "another" };
            assert_eq!(answer(foreign), answer("nobody"), "{who}: {}", mutation.name());
        }
    }
}

/// Calls of every tool with the operation that each is.
fn calls() -> Vec<(&'static str, &'static str, Op)> {
    vec![
        ("psi-tool", "{:action \"scheduler\" :op \"create\" :message \"m\" :delay-ms 5000}", Op::Create),
        ("psi-tool", "{:action \"scheduler\" :op \"list\"}", Op::Query),
        ("psi-tool", "{:action \"scheduler\" :op \"cancel\" :schedule-id \"x\"}", Op::Cancel),
        ("psi-tool", "{:action \"query\" :query \"[:psi.scheduler/pending-count]\"}", Op::Query),
        ("psi-tool", "{:action \"no such\"}", Op::Change),
        ("cron_create", "{}", Op::Create),
        ("cron_list", "{}", Op::Query),
        ("cron_get", "{:job_id \"x\"}", Op::Query),
        ("cron_update", "{:job_id \"x\"}", Op::Change),
        ("cron_delete", "{:job_id \"x\"}", Op::Cancel),
        ("cron_pause", "{:job_id \"x\"}", Op::Change),
        ("cron_resume", "{:job_id \"x\"}", Op::Change),
        ("reminderadd", "{}", Op::Create),
        ("reminderlist", "{}", Op::Query),
        ("reminderremove", "{}", Op::Cancel),
        ("schedule_session_action", "{}", Op::Create),
        ("schedule_session_action", "{:operation \"LIST\"}", Op::Query),
        ("schedule_session_action", "{:operation \"cancel\" :action_id \"x\"}", Op::Cancel),
        ("schedule_session_action", "{:operation \"run-now\" :action_id \"x\"}", Op::Change),
        ("report_job_ready", "{:job_id \"x\"}", Op::ReportJob),
        ("create", "{:message \"m\" :when \"in 5 minutes\"}", Op::Create),
        ("list", "{}", Op::Query),
        ("cancel", "{:id \"x\"}", Op::Cancel),
        ("update", "{:id \"x\" :label \"l\"}", Op::Change),
        ("explain", "{:id \"x\"}", Op::Query),
        ("query", "{:query \"[:psi.scheduler/pending-count]\"}", Op::Query),
        ("no-such-tool", "{}", Op::Change),
    ]
}

#[test]
fn a_tool_is_for_whom_its_operation_is() {
    for tool in TOOLBOX {
        assert!(calls().iter().any(|(name, ..)| *name == tool.name), "no call of {} here", tool.name);
    }
    for (tool, args, op) in calls() {
        for (who, caller) in callers() {
            let handle = handle();
            let before = standing(&handle);
            let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
            let answer = Service::new(handle.clone()).call_tool(tool, &caller, &args, Notation::Edn);
            assert_eq!(answer.is_ok(), is_admitted(op, &caller), "{who}: {tool} {args}: {answer:?}");
            assert!(answer.is_ok() || standing(&handle) == before, "{who} has changed something: {tool}");
        }
    }
}

#[test]
fn a_model_is_a_session_whatever_its_program_holds() {
    for (who, caller) in callers() {
        let model = caller.as_model();
        let is_of_a_session = caller.scope.session().is_some();
        assert_eq!(model.role == CallerRole::Session, is_of_a_session, "{who}");
        assert_eq!((model.scope, model.right, model.via), (caller.scope, caller.right, caller.via), "{who}");
    }
}

/// Every operation is asked for in one way at least that a test above takes, or is of a surface's own.
#[test]
fn no_operation_is_without_a_way_in() {
    let of_surfaces = [Op::Follow, Op::Introspect, Op::Metrics, Op::AttachHost, Op::Receipt];
    for op in Op::ALL {
        let by_mutation = MutationName::ALL.iter().any(|mutation| mutation.op() == *op);
        let by_tool = calls().iter().any(|(_, _, of)| of == op);
        assert!(by_mutation || by_tool || of_surfaces.contains(op), "{}", op.name());
        assert!(
            !op.rule().roles.is_empty() && op.rule().roles.contains(&CallerRole::Operator),
            "{}",
            op.name()
        );
    }
}

/// What a caller may not ask for is in the log, with the caller's name, once a minute.
#[test]
fn refusals_of_authority_are_recorded() {
    let (handle, clock) = simulated::engine(&["alice"]);
    let service = Service::new(handle.clone());
    let ask = |query: &str| simulated::ask_service(&service, &token("alice"), query, true);
    let recorded = |filter: &str| {
        let list = "[{(:reveille.engine/decisions {:kind :operation-refused FILTER})
                      [:reveille.decision/detail :reveille.decision/by :reveille.decision/session-id]}]";
        let answer = simulated::ask(&handle, &Caller::OPERATOR, &list.replace("FILTER", filter), false);
        (answer.matches("decision/by").count(), answer)
    };
    let narrow = Grant { right: Some(Right::Read), ..Grant::FULL };
    handle.grant(&session("alice"), narrow, Scope::Operator).expect("it is open");
    let create = "[(psi.scheduler/create {:kind :message :message \"m\" :delay-ms 1000})]";
    for _ in 0..100 {
        let answer = ask(create);
        assert!(answer.contains("may not change"), "{answer}");
    }
    let (count, answer) = recorded(":by \"alice\"");
    assert_eq!(count, 1, "{answer}");
    assert!(answer.contains("\"schedule/create\"") && answer.contains("\"session alice\""), "{answer}");
    ask("[(psi.scheduler/cancel {:schedule-id \"sch-1\"})]");
    assert_eq!(recorded("").0, 2, "another operation");
    assert_eq!(recorded(":by \"operator\"").0, 0);
    clock.advance(reveille::domain::Span::from_millis(60_000));
    ask(create);
    assert_eq!(recorded("").0, 3);
    assert!(
        ask("[{:reveille.engine/decisions [:reveille.decision/kind]}]").contains("operation-refused"),
        "it may know"
    );
}
