//! A played-through engine: every kind, every status, several sessions, hosts that failed in every phase.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::dialect::{Notation, REQUEST_CAPS, psi};
use reveille::domain::{
    AgentSchedule, AgentSchedules, Caller, HostId, Primitives, ScheduleId, SessionId, Span,
};
use reveille::edn::read;
use reveille::engine::{Input, Report};
use reveille::port::Host;
use reveille::runtime::Handle;
use reveille::service::{CallStyle, Called, Service};
use reveille::testkit::{Behaviour, SimExecutor, SimHost, Stage};

use crate::simulated;

/// The engine, and who is in it.
pub(crate) struct Population {
    pub(crate) service: Service,
    pub(crate) a: SessionId,
    pub(crate) b: SessionId,
    pub(crate) schedules_of_a: Vec<ScheduleId>,
    pub(crate) schedules_of_b: Vec<ScheduleId>,
}

impl Population {
    pub(crate) fn new() -> Population {
        let stage = Stage::seeded(7);
        let host = Arc::new(SimHost::new(&stage, HostId::LOCAL).over(Arc::new(HostLocal::new())));
        let handle = Handle::new(stage.parts(Arc::clone(&host) as Arc<dyn Host>));
        let service = Service::new(handle.clone());
        let open = |id: &str, config: &str| {
            let config = read(config.as_bytes(), &REQUEST_CAPS).expect("EDN");
            let config = psi::session_config::parse(&config, Notation::Edn).expect("a configuration");
            let id = SessionId::new(id).expect("an id");
            handle.open_session(Some(id), HostId::LOCAL, config).expect("opened").0
        };
        let a = open("session-a", CONFIG);
        let b = open("b \"quoted\"", "{}");
        let busy = open("busy", "{}");
        let mut schedules_of_a = Vec::new();
        let advance = |millis: u64| {
            stage.clock.advance(Span::from_millis(millis));
            handle.run_due();
        };
        for (behaviour, args) in [
            (Behaviour::Prompt, ":kind \"message\" :label \"said\""),
            (Behaviour::Prompt, ":kind \"session\" :session-config {:session-name \"Fresh\"}"),
            (Behaviour::FailCreate, ":kind \"session\" :label \"x\" :session-config {}"),
            (Behaviour::FailConfigure, ":kind \"session\" :session-config {}"),
            (Behaviour::FailSubmit, ":kind \"session\" :session-config {}"),
            (Behaviour::FailSubmit, ":kind \"message\""),
            (Behaviour::Slow, ":kind \"message\" :label \"in flight\""),
        ] {
            host.behave(&[(behaviour, 1)]);
            schedules_of_a.push(create(&service, &a, args, 1_000));
            advance(1_000);
        }
        host.behave(Behaviour::FAULTLESS);
        schedules_of_a.push(create(&service, &a, ":kind \"message\" :label \"Grüße \\\"\\n\"", 5_000));
        let cancelled = create(&service, &a, ":kind \"message\"", 6_000);
        handle.cancel(Caller::OPERATOR.scope, cancelled.clone()).expect("it is pending");
        schedules_of_a.push(cancelled);
        let fresh = ":kind \"session\" :session-config {:tool-ids [\"x\"]}";
        schedules_of_a.push(create(&service, &a, fresh, 7_000));
        let report = |report| handle.submit(Input::Report(report)).expect("taken");
        report(Report::Busy { session: busy.clone(), busy: true, by: None });
        report(Report::AgentSchedules { session: a.clone(), said: Some(schedules_of_an_agent()) });
        report(Report::UserMessage { session: b.clone(), text: "Hello.".into(), by: None });
        create(&service, &busy, ":kind \"message\" :label \"waits\"", 1_000);
        let schedules_of_b = vec![
            create(&service, &b, ":kind \"message\" :label \"said\"", 1_000),
            create(&service, &b, ":kind \"message\"", 86_400_000),
        ];
        handle.tools().switch(Primitives::all());
        for change in [
            "remember {:content \"Grüße \\\"\\n\"",
            "remember {:content \"two\"",
            "set-goal {:goal \"a goal\"",
            "create-task {:subject \"one\" :description \"more\"",
            "create-task {:subject \"two\"",
            "update-task {:task 2 :status :done",
            "ping {:name \"Grüße \\\"\"",
            "ping {:name \"backup\"",
        ] {
            let query = format!("[(psi.agent-session/{change}}})]");
            let answer = simulated::ask(&handle, &Caller::session(a.clone()), &query, false);
            assert!(answer.contains(":psi.agent-session/session-id"), "{answer}");
        }
        SimExecutor::serve(&Arc::new(SimExecutor::scripted(&stage).with("http.get")), &handle);
        call_tools(&service, &a);
        advance(1_000);
        advance(1_000);
        Population { service, a, b, schedules_of_a, schedules_of_b }
    }
}

/// Begins a watch and a task.
fn call_tools(service: &Service, session: &SessionId) {
    for (tool, more) in [("watch_start", ":interval 5"), ("background_run", "")] {
        let args = format!("{{:name \"http.get\" :params {{:url \"u\"}} {more}}}");
        let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
        let style = CallStyle { notation: Notation::Edn, patience: None };
        let called = service.begin_tool(tool, &Caller::session(session.clone()), &args, style);
        match called.expect("admitted").expect("it is switched on") {
            // A call that is refused would leave nothing to compare.
            Called::Now(answer) => assert!(!answer.is_error, "{tool}: {}", answer.value),
            // Nobody waits for the task.
            Called::Later(pending) => drop(pending),
        }
    }
}

fn create(service: &Service, session: &SessionId, args: &str, delay_ms: u64) -> ScheduleId {
    let args =
        format!("{{:action \"scheduler\" :op \"create\" :message \"Look.\" :delay-ms {delay_ms} {args}}}");
    let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let answer = service.call_tool(psi::TOOL, &Caller::session(session.clone()), &args, Notation::Edn);
    let answer = answer.expect("admitted").expect("psi-tool is always there").value;
    let schedule = answer.as_map().and_then(|map| map.keyword("psi-tool/scheduler")?.as_map());
    let schedule = schedule.and_then(|map| map.keyword("schedule")?.as_map());
    let id = schedule.and_then(|map| map.keyword("schedule-id")?.as_str());
    ScheduleId::new(id.unwrap_or_default()).expect("a schedule was created")
}

const CONFIG: &str = r#"{:session-name "Origin" :model {:provider "p" :id "m" :reasoning true} :thinking-level :high
                         :tool-ids ["read" "write"] :preloaded-messages
                         [{:role "system" :content [{:type :text :text "Be brief."}]}]}"#;

/// The schedules that an agent holds itself: one with every kind of character, one that is cut, and more than are retained.
fn schedules_of_an_agent() -> AgentSchedules {
    let prompts = ["Grüße \"\n\"".to_owned(), "x".repeat(1_000)];
    let held = prompts.map(|prompt| AgentSchedule::new("3f9a", "*/5 * * * *", prompt.len() > 100, &prompt));
    AgentSchedules::new(held, 70)
}
