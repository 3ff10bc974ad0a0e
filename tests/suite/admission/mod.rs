//! The matrix of who may ask for what, written by the tables themselves: every mutation and every tool, as every kind of caller,
//! about its own session, another's and none, is admitted exactly where the rule of its operation says.
//!
//! A mutation or tool that is added is in it at once. What is refused has changed nothing, and what is another's answers like
//! what does not exist.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, CallerRole, Dialect, Grant, Op, Right, Scope, SessionId};
use reveille::edn::{Map, Value, read};
use reveille::graph::mutation::MutationName;
use reveille::runtime::Handle;
use reveille::service::{DenialReason, Service, TOOLBOX, ToolEffect};

use crate::simulated::{self, session, standing, token};

mod grants;
mod graphql;
mod mcp;
mod reads;
mod toolbox;
mod walls;
pub(crate) mod ways;
mod world;

use ways::params;
use world::{ABSENT, ANOTHER, CLOSED, HOSTED, OWN, REOPENED, SHARING, World};

/// What the table says, in the words of the test: a second reading of the rule, not a call of what is tested.
fn is_admitted(op: Op, world: &World, caller: &Caller) -> bool {
    let rule = op.rule();
    let changes = rule.changes;
    let of_the_whole = changes && !rule.roles.contains(&CallerRole::Host);
    rule.roles.contains(&caller.role)
        && !(changes && caller.right == Right::Read)
        && !(of_the_whole && caller.scope != Scope::Operator)
        && !(rule.is_granted && world.is_narrow(caller))
}

/// Whether a mutation exists for the caller at all; what does not is refused before it is admitted.
fn exists(op: Op, caller: &Caller) -> bool {
    let is_host = caller.role == CallerRole::Host && caller.via.token().is_some();
    let acts_for_none = !caller.scope.session().is_some_and(|own| own.as_str().starts_with("sess"));
    let opens = op == Op::OpenSession && is_host && acts_for_none;
    let is_beyond_sessions = op == Op::OpenSession || !op.rule().roles.contains(&CallerRole::Host);
    !is_beyond_sessions || opens || caller.scope == Scope::Operator
}

fn ask(handle: &Handle, caller: &Caller, query: &str) -> String {
    simulated::ask(handle, caller, query, false)
}

/// Asks for a mutation as the caller of this place, in a world of its own: what is admitted changes it.
fn check_mutation(mutation: MutationName, place: usize, subject: &str, is_graphql: bool) {
    let world = World::new();
    let (who, caller) = world.callers().swap_remove(place);
    let before = standing(&world.handle);
    let params = params(mutation, world.subject(subject));
    let answer = if is_graphql {
        graphql::mutate(&world.handle, &caller, mutation, &params)
    } else {
        ask(&world.handle, &caller, &format!("[({} {})]", mutation.name(), Value::Map(params)))
    };
    let may = is_admitted(mutation.op(), &world, &caller) && exists(mutation.op(), &caller);
    let asked = format!("{who}, {} about {subject}, GraphQL {is_graphql}", mutation.name());
    assert_eq!(!answer.contains("FORBIDDEN"), may, "{asked}: {answer}");
    let is_changed = standing(&world.handle) != before;
    assert!(may || !is_changed, "{asked} has changed something");
    let own = caller.scope.session().map(SessionId::as_str);
    let is_without_token = caller.via.token().is_none();
    let is_hosts = who == "host by its token" && subject == HOSTED;
    // A host opens a session where none is.
    let is_new = mutation.op() == Op::OpenSession && [ABSENT, CLOSED].contains(&subject);
    // What is shared is changed by operators, and by who runs sessions in this program.
    let is_trusted =
        caller.role == CallerRole::Operator || caller.role == CallerRole::Host && is_without_token;
    let is_shared = subject == SHARING && is_trusted;
    let is_foreign =
        caller.scope != Scope::Operator && own != Some(subject) && !is_hosts && !is_new && !is_shared;
    assert!(!(is_foreign && is_changed), "{asked} has changed something: {answer}");
}

#[test]
fn a_mutation_is_for_whom_its_operation_is() {
    let places = 0..World::new().callers().len();
    for mutation in MutationName::ALL {
        for subject in [OWN, ANOTHER, CLOSED, REOPENED, SHARING, HOSTED, ABSENT] {
            for place in places.clone() {
                check_mutation(*mutation, place, subject, false);
                check_mutation(*mutation, place, subject, true);
            }
        }
    }
}

/// The tools that manage a channel: for operators, and for sessions where a channel is open to that, which none is here.
const MANAGING: [&str; 3] =
    ["channels.simulate_event", "channels.pause_provider", "channels.resume_provider"];

/// Calls of every tool with the operation that each is.
fn calls() -> Vec<(&'static str, &'static str, Op)> {
    CALLS.to_vec()
}

const CALLS: &[(&str, &str, Op)] = &[
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
    ("CronCreate", "{:cron \"3 9 * * *\" :prompt \"p\"}", Op::Create),
    ("CronList", "{}", Op::Query),
    ("CronDelete", "{:id \"x\"}", Op::Cancel),
    ("ScheduleWakeup", "{:delaySeconds 60}", Op::Create),
    ("ScheduleWakeup", "{:stop true}", Op::Cancel),
    ("Monitor", "{:description \"d\" :tool \"t.x\"}", Op::Create),
    ("create", "{:message \"m\" :when \"in 5 minutes\"}", Op::Create),
    ("list", "{}", Op::Query),
    ("inbox", "{}", Op::Take),
    ("cancel", "{:id \"x\"}", Op::Cancel),
    ("update", "{:id \"x\" :label \"l\"}", Op::Change),
    ("explain", "{:id \"x\"}", Op::Query),
    ("query", "{:query \"[:psi.scheduler/pending-count]\"}", Op::Query),
    ("channels.send_message", "{:channel \"ops\" :message \"m\"}", Op::Create),
    ("channels.broadcast", "{:providers [\"ops\"] :message \"m\"}", Op::Create),
    ("channels.list_providers", "{}", Op::Query),
    ("channels.provider_status", "{:provider \"ops\"}", Op::Query),
    ("channels.provider_history", "{}", Op::Query),
    ("channels.stats", "{}", Op::Query),
    ("channels.reply", "{:text \"t\"}", Op::Create),
    ("channels.simulate_event", "{:provider \"ops\"}", Op::Create),
    ("channels.test_send", "{:provider \"ops\" :text \"t\"}", Op::Create),
    ("channels.pause_provider", "{:provider \"ops\"}", Op::Change),
    ("channels.resume_provider", "{:provider \"ops\"}", Op::Change),
    ("memory.remember", "{:content \"c\"}", Op::Remember),
    ("memory.set_goal", "{:goal \"g\"}", Op::Remember),
    ("memory.task_create", "{:subject \"s\"}", Op::Remember),
    ("memory.task_update", "{:taskId \"t1\" :status \"done\"}", Op::Remember),
    ("run_parallel", "{:actions [{:name \"t.x\"}]}", Op::Call),
    ("background_run", "{:name \"t.x\"}", Op::Call),
    // A blank id is none.
    ("background_run", "{:name \"t.x\" :task_id \" \"}", Op::Call),
    ("background_run", "{:list_tasks true}", Op::Query),
    ("background_run", "{:task_id \"x\"}", Op::Query),
    ("background_run", "{:task_id \"x\" :cancel true}", Op::Cancel),
    ("watch_start", "{:name \"t.x\"}", Op::Create),
    ("watch_stop", "{:watcher_id \"x\"}", Op::Cancel),
    ("watch_pause", "{:watcher_id \"x\"}", Op::Change),
    ("watch_resume", "{:watcher_id \"x\"}", Op::Change),
    ("watch_status", "{:watcher_id \"x\"}", Op::Query),
    ("watch_list", "{}", Op::Query),
    ("watch_history", "{:watcher_id \"x\"}", Op::Query),
    ("ping.age", "{:name \"b\"}", Op::Query),
    ("schedule", "{:when \"in 5m\" :action \"t.x\"}", Op::Create),
    ("cancel_schedule", "{:job_id \"x\"}", Op::Cancel),
    ("remind", "{:when \"in 5m\" :message \"m\"}", Op::Create),
    ("no-such-tool", "{}", Op::Change),
];

#[test]
fn a_tool_is_for_whom_its_operation_is() {
    for tool in TOOLBOX {
        let ops: Vec<Op> =
            calls().iter().filter(|(name, ..)| *name == tool.name).map(|(.., op)| *op).collect();
        assert!(!ops.is_empty(), "no call of {} here", tool.name);
        // What a host is told of the tool is what its calls may do.
        let takes_away = ops.iter().any(|op| matches!(op, Op::Cancel | Op::Change | Op::Take));
        // Whether a change of the memory adds or replaces is up to its tool.
        if ops.contains(&Op::Remember) {
            assert!(matches!(tool.effect, ToolEffect::Adds | ToolEffect::Changes), "{}", tool.name);
            continue;
        }
        // A name that is used again takes the place of its job.
        if tool.name == "schedule" || tool.name == "remind" {
            assert_eq!(tool.effect, ToolEffect::Changes, "{}", tool.name);
            continue;
        }
        // What calls other tools can do all that they can.
        if ops.contains(&Op::Call) {
            assert_eq!(tool.effect, ToolEffect::Calls, "{}", tool.name);
            continue;
        }
        let effects: &[ToolEffect] = match ops.iter().all(|op| *op == Op::Query) {
            true => &[ToolEffect::Reads],
            false if takes_away => &[ToolEffect::Changes, ToolEffect::Removes],
            false => &[ToolEffect::Adds],
        };
        assert!(effects.contains(&tool.effect), "{}: {:?}", tool.name, tool.effect);
    }
    for (tool, args, op) in calls() {
        let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
        for at in 0..World::new().callers().len() {
            let world = World::new();
            let (who, caller) = world.callers().swap_remove(at);
            let before = standing(&world.handle);
            let answer = Service::new(world.handle.clone()).call_tool(tool, &caller, &args, Notation::Edn);
            let is_tool = TOOLBOX.iter().any(|it| it.name == tool);
            // To try a channel is for an operator who acts for no session; for others there is no such tool.
            let is_operators = MANAGING.contains(&tool) || tool == "channels.test_send";
            let is_operator = caller.role == CallerRole::Operator && caller.scope == Scope::Operator;
            let is_tool = is_tool && (!is_operators || is_operator);
            let may = is_admitted(op, &world, &caller) || !is_tool;
            // A host reaches the tools by speaking for one of its sessions: this one may, and speaks for none.
            let speaks_for_none = caller.scope.session().is_some_and(|own| own.as_str() == "\u{0}");
            let needs_session = answer.as_ref().is_err_and(|it| it.reason == DenialReason::NoSession);
            assert_eq!(needs_session, may && is_tool && speaks_for_none, "{who}: {tool} {args}: {answer:?}");
            assert_eq!(answer.is_ok(), may && !needs_session, "{who}: {tool} {args}: {answer:?}");
            let is_unchanged = standing(&world.handle) == before;
            assert!(answer.is_ok() || is_unchanged, "{who} has changed something: {tool}");

            // Through MCP a model speaks, whatever its program holds.
            let world = World::new();
            let (_, caller) = world.callers().swap_remove(at);
            let before = standing(&world.handle);
            let answer = mcp::call(&world.handle, &caller, tool, &args);
            let may = is_admitted(op, &world, &caller.as_model());
            assert_eq!(!answer.contains("FORBIDDEN"), may || !is_tool, "{who}: {tool} over MCP: {answer}");
            assert!(may || standing(&world.handle) == before, "{who} has changed something over MCP: {tool}");
        }
    }
}

#[test]
fn a_model_is_a_session_whatever_its_program_holds() {
    for (who, caller) in World::new().callers() {
        let model = caller.as_model();
        let is_of_a_session = caller.scope.session().is_some();
        assert_eq!(model.role == CallerRole::Session, is_of_a_session, "{who}");
        assert_eq!((model.scope, model.right, model.via), (caller.scope, caller.right, caller.via), "{who}");
    }
}

/// Every operation is asked for in one way at least that a test above takes, or is of a surface's own.
#[test]
fn no_operation_is_without_a_way_in() {
    let of_surfaces = [
        Op::Graph,
        Op::AsOf,
        Op::Follow,
        Op::Introspect,
        Op::Metrics,
        Op::AttachHost,
        Op::BindAgent,
        Op::Receipt,
        Op::Dashboard,
        Op::Leave,
        Op::Calendar,
        Op::Arrive,
    ];
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

/// A tool that the grant withholds answers as one that nobody has, by the service and by MCP, and the log has who tried it.
#[test]
fn calls_of_withheld_tools_are_recorded() {
    let by_service = |handle: &Handle| {
        let called = Service::new(handle.clone()).call_tool(
            "cron_create",
            &token("alice"),
            &Map::new().into(),
            Notation::Edn,
        );
        assert_eq!(called, Ok(None));
    };
    let by_mcp = |handle: &Handle| {
        let line = mcp::call(handle, &token("alice"), "cron_create", &Map::new().into());
        assert!(line.contains("no tool"), "{line}");
    };
    for (way, call) in [("service", by_service as fn(&Handle)), ("MCP", by_mcp)] {
        let (handle, _clock) = simulated::engine(&["alice"]);
        let psi = Grant { dialects: Some(vec![Dialect::Psi]), ..Grant::FULL };
        handle.sessions().grant(&session("alice"), psi, Scope::Operator).expect("it is open");
        call(&handle);
        let tried = "[{(:reveille.engine/decisions {:kind :operation-refused}) [:reveille.decision/detail]}]";
        let tried = simulated::ask(&handle, &Caller::OPERATOR, tried, false);
        assert!(tried.contains("schedule/create"), "{way}: {tried}");
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
    handle.sessions().grant(&session("alice"), narrow, Scope::Operator).expect("it is open");
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
