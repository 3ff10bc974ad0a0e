//! Scheduled calls and reminders as a session has them: the three tools over an engine in virtual time (T53 to T55, T57 to T59).

use std::sync::{Arc, Mutex};

use reveille::domain::{
    Actor, Caller, CallerRole, Channel, ChannelKind, Content, Failure, Grant, Phase, Reason, Recovery, Risk,
    Role, ScheduleId, Scope, Span, Status, TokenName, ToolSpec, Via, Ways,
};
use reveille::edn::{Map, Value};
use reveille::engine::{Command, Input, Parcel, Report, ScheduleRecord, State};
use reveille::port::{Carried, Courier};
use reveille::testkit::{Behaviour, CallAnswer};

use crate::simulated::{ask_service, session, token};
use crate::watching::{Scene, failed, fine, spec};

fn text<'m>(map: &'m Map, key: &str) -> Option<&'m str> {
    map.keyword(key).and_then(Value::as_str)
}

#[track_caller]
fn job(answer: &Map) -> String {
    text(answer, "job_id").unwrap_or_else(|| unreachable!("{answer:?}")).to_owned()
}

fn runs(scene: &Scene, id: &str) -> Option<(u64, u32)> {
    let id = ScheduleId::new(id).expect("an id");
    scene.handle().view(|state| {
        let progress = state.schedule(&id)?.progress();
        Some((progress.runs, progress.incarnation))
    })
}

#[test]
fn a_call_is_made_at_its_time_and_its_session_is_told() {
    let scene = Scene::new();
    scene.script(&[fine(r#"{"status_code" 200}"#)]);
    let answer =
        scene.call("schedule", r#"{"when" "in 5m" "action" "http.get" "args" {"url" "x"} "name" "probe"}"#);
    assert_eq!(job(&answer), "cron_default_probe");
    let kinds = ["schedule_type", "label", "cron_expr"].map(|key| text(&answer, key));
    assert_eq!(kinds, [Some("once"), Some("probe"), None]);
    assert!(text(&answer, "next_run").is_some() && text(&answer, "next_run") == text(&answer, "next_run_at"));
    scene.pass(299);
    assert!(scene.executor.calls().is_empty());
    scene.pass(2);
    let told = "[SCHEDULED JOB] job_id=cron_default_probe name=\"probe\" run=1 status=ok\nResult: {\"status_code\": 200}";
    assert_eq!(scene.told(), [told]);
    scene.pass(600);
    assert_eq!(scene.executor.calls().len(), 1);
}

/// The zone is echoed whatever the time is, and what its clock does at that time is said.
#[test]
fn the_zone_of_a_time_is_said_and_a_gap_of_its_clock() {
    let scene = Scene::new();
    let berlin = r#" "zone" "Europe/Berlin""#;
    for (when, zone, next, warning) in [
        ("2027-03-28T02:30:00", berlin, "2027-03-28T01:00:00Z", Some("does not exist there")),
        ("2027-10-31T02:30:00", berlin, "2027-10-31T00:30:00Z", Some("comes twice there")),
        ("2027-03-29T02:30:00", berlin, "2027-03-29T00:30:00Z", None),
        ("2027-03-28T02:30:00+01:00", berlin, "2027-03-28T01:30:00Z", None),
        ("2027-03-28T02:30:00", "", "2027-03-28T02:30:00Z", None),
    ] {
        for (tool, what) in [("schedule", r#""action" "http.get""#), ("remind", r#""message" "look""#)] {
            let answer = scene.call(tool, &format!(r#"{{"when" "{when}" {what}{zone}}}"#));
            let expected = if zone.is_empty() { "UTC" } else { "Europe/Berlin" };
            assert_eq!(text(&answer, "zone"), Some(expected), "{answer:?}");
            assert_eq!(text(&answer, "next_run"), Some(next), "{answer:?}");
            let warnings = answer.keyword("warnings").map(Value::to_string);
            assert_eq!(warnings.is_some(), warning.is_some(), "{when}: {warnings:?}");
            assert!(warnings.unwrap_or_default().contains(warning.unwrap_or_default()), "{when}: {answer:?}");
        }
    }
}

#[test]
fn a_job_without_a_name_has_an_id_by_chance() {
    let scene = Scene::new();
    let answer = scene.call("schedule", r#"{"when" "0 9 * * *" "action" "http.get"}"#);
    let id = job(&answer);
    let digits = id.strip_prefix("cron_default_").expect("the prefix");
    assert!(digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    assert_eq!(
        (text(&answer, "schedule_type"), text(&answer, "cron_expr")),
        (Some("cron"), Some("0 9 * * *"))
    );
    assert_eq!(
        scene.error("s", "schedule", r#"{"when" "in 5m" "action" "http.gte"}"#),
        "Tool 'http.gte' not found."
    );
}

/// T53.
#[test]
fn a_name_that_is_used_again_is_the_same_job_anew() {
    let scene = Scene::new();
    let every = r#"{"when" "* * * * *" "action" "http.get" "name" "x"}"#;
    let id = job(&scene.call("schedule", every));
    scene.pass(200);
    let before = runs(&scene, &id).expect("it is there");
    assert!(before.0 >= 3 && before.1 == 1, "{before:?}");
    // Another kind, under the same name.
    let answer = scene.call("remind", r#"{"when" "in 10m" "message" "look" "name" "x"}"#);
    assert_eq!((job(&answer), text(&answer, "session_id")), (id.clone(), Some("s")));
    assert_eq!(runs(&scene, &id), Some((0, 2)));
    let calls = scene.executor.calls().len();
    scene.rest();
    scene.pass(601);
    assert_eq!(scene.executor.calls().len(), calls, "the calls have ended");
    assert!(
        scene.told().last().is_some_and(|told| told.starts_with("[REMINDER from cron] ")),
        "{:?}",
        scene.told()
    );
    // And once more, after it has ended.
    let again = scene.call("schedule", r#"{"when" "in 1m" "action" "http.get" "name" "x"}"#);
    assert_eq!((job(&again), runs(&scene, &id)), (id, Some((0, 3))));
    scene.pass(61);
    assert_eq!(scene.executor.calls().len(), calls + 1);
}

/// T53, over sessions: a name belongs to the app, and a job of another session to those that may change it.
#[test]
fn another_session_replaces_a_job_if_it_may() {
    let scene = Scene::new();
    let later = r#"{"when" "in 5m" "action" "http.get" "name" "x"}"#;
    let id = job(&scene.call("schedule", later));
    assert!(scene.error("t", "schedule", later).contains("is taken"));
    assert!(scene.error("t", "cancel_schedule", &format!("{{\"job_id\" \"{id}\"}}")).contains("not found"));
    // Its name is taken, and that is all that the other session learns of it.
    let seen =
        format!("[{{[:psi.scheduler/schedule-id {id:?}] [:psi.scheduler/call :psi.scheduler/shared?]}}]");
    let seen = ask_service(&scene.service, &token("t"), &seen, true);
    assert!(!seen.contains("http.get") && !seen.contains("true"), "{seen}");
    let operator = Actor { scope: Scope::Operator, via: None, tool: None, as_model: false };
    let grant = Grant { cron_others: true, ..Grant::FULL };
    let set = Command::SetGrant { session: session("t"), grant, by: operator };
    scene.handle().submit(Input::Command(set)).expect("it is open");
    assert_eq!(job(&scene.answer("t", "schedule", later)), id);
    let owner = |scene: &Scene| {
        let id = ScheduleId::new(&id).expect("an id");
        scene.handle().view(|state| state.schedule(&id).map(|record| record.schedule().owner.clone()))
    };
    assert_eq!((owner(&scene), runs(&scene, &id)), (Some(session("t")), Some((0, 2))));
    scene.pass(301);
    assert_eq!((scene.executor.calls().len(), scene.told().len()), (1, 1));
    let other = job(&scene.call("schedule", r#"{"when" "in 5m" "action" "http.get" "name" "y"}"#));
    let cancel = format!("{{\"job_id\" \"{other}\"}}");
    assert!(scene.answer("t", "cancel_schedule", &cancel).keyword("cancelled").is_some(), "it may");
    // What it told went to the session that owns it now.
    let prompts = scene.host.prompts();
    assert_eq!(prompts.last().map(|prompt| prompt.session.clone()), Some(session("t")), "{prompts:?}");
}

/// A host acts for a session, and has no more rights over the jobs of others than that session.
#[test]
fn a_host_replaces_no_job_of_another_session() {
    let scene = Scene::new();
    let later = r#"{"when" "in 5m" "action" "http.get" "name" "x"}"#;
    let id = ScheduleId::new(&job(&scene.call("schedule", later))).expect("an id");
    let host = Caller {
        scope: Scope::Session(session("t")),
        role: CallerRole::Host,
        via: Via::Host(TokenName::new("laptop").expect("a name")),
        ..Caller::OPERATOR
    };
    let said = scene.answer_to(&host, "schedule", later);
    let error = said.keyword("error").and_then(Value::as_map).and_then(|it| it.keyword("message"));
    assert!(error.and_then(Value::as_str).is_some_and(|it| it.contains("is taken")), "{said:?}");
    let owner = scene.handle().view(|state| state.schedule(&id).map(|it| it.schedule().owner.clone()));
    assert_eq!(owner, Some(session("s")));
}

/// T54.
#[test]
fn a_job_that_is_cancelled_is_called_no_more() {
    let scene = Scene::new();
    assert!(scene.error("s", "cancel_schedule", r#"{"job_id" "cron_default_x"}"#).contains("not found"));
    scene.script(&[fine("1")]);
    scene.executor.script(CallAnswer::After(Span::from_millis(20_000), fine("2")));
    let id = job(&scene.call("schedule", r#"{"when" "* * * * *" "action" "http.get" "name" "x"}"#));
    while scene.executor.calls().len() < 2 {
        scene.pass(1);
    }
    let named = format!("{{\"job_id\" \"{id}\"}}");
    let answer = scene.call("cancel_schedule", &named);
    assert_eq!(
        (answer.keyword("cancelled"), answer.keyword("ran_count")),
        (Some(&Value::Bool(true)), Some(&Value::Int(2)))
    );
    assert_eq!(scene.executor.cancelled().len(), 1);
    let told = scene.told().len();
    scene.pass(300);
    assert_eq!((scene.executor.calls().len(), scene.told().len()), (2, told));
    assert!(scene.error("s", "cancel_schedule", &named).contains("not found"));
}

/// T54: a reminder that a host has already. A cancel could not be relied on, so it is refused.
#[test]
fn a_reminder_that_is_on_its_way_cannot_be_cancelled() {
    let scene = Scene::new();
    scene.host.behave(&[(Behaviour::LoseReceipt, 1)]);
    let id = job(&scene.call("remind", r#"{"when" "in 1s" "message" "look" "name" "x"}"#));
    scene.pass(2);
    assert_eq!(scene.told().len(), 1, "its host has it, and has not said so");
    let error = scene.error("s", "cancel_schedule", &format!("{{\"job_id\" \"{id}\"}}"));
    assert!(!error.contains("not found"), "{error}");
    let id = ScheduleId::new(&id).expect("an id");
    let status = |state: &State| state.schedule(&id).map(ScheduleRecord::status);
    assert_eq!(scene.handle().view(status), Some(Status::InFlight));
}

/// T55.
#[test]
fn a_call_that_fails_counts_as_a_run() {
    let scene = Scene::new();
    scene.script(&[failed("down"), failed("down"), failed("down"), fine("1")]);
    scene.busy(true);
    let id = job(&scene.call("schedule", r#"{"when" "* * * * *" "action" "http.get" "max_runs" 3}"#));
    scene.pass(600);
    assert_eq!((scene.executor.calls().len(), runs(&scene, &id).map(|(runs, _)| runs)), (3, Some(3)));
    scene.busy(false);
    let told = scene.told();
    assert!(told[0].contains(" run=3 status=error\nError: down\n2 earlier updates are folded"), "{told:?}");
}

/// T55: a bound on the runs of what runs once means nothing, and the answer says so.
#[test]
fn a_bound_on_the_runs_of_what_runs_once_is_warned_of() {
    let scene = Scene::new();
    let answer = scene.call("schedule", r#"{"when" "in 5m" "action" "http.get" "max_runs" 7}"#);
    let warnings = answer.keyword("warnings").map(ToString::to_string).unwrap_or_default();
    assert!(warnings.contains("\"max_runs is ignored: this runs once\""), "{answer:?}");
    scene.pass(302);
    scene.pass(3_600);
    assert_eq!(scene.executor.calls().len(), 1);
    let recurring = scene.call("schedule", r#"{"when" "* * * * *" "action" "http.get" "max_runs" 7}"#);
    assert!(!format!("{recurring:?}").contains("max_runs is ignored"), "{recurring:?}");
}

/// T53: a name that is used again while a call of the job is out. The call ends by itself and is told of as what it was; the
/// new job has counts of its own and one slot.
#[test]
fn a_name_that_is_used_again_during_a_call_leaves_that_call_alone() {
    let scene = Scene::new();
    scene.executor.script(CallAnswer::After(Span::from_millis(20_000), fine("1")));
    let id = job(&scene.call("schedule", r#"{"when" "in 1m" "action" "http.get" "name" "x"}"#));
    scene.pass(65);
    assert_eq!(scene.executor.calls().len(), 1, "it is out");
    let again = scene.call("schedule", r#"{"when" "in 5m" "action" "http.get" "name" "x"}"#);
    assert_eq!((job(&again), runs(&scene, &id)), (id.clone(), Some((0, 2))));
    scene.pass(20);
    let told = scene.told();
    assert_eq!(told.len(), 1);
    assert!(
        told[0].starts_with("[SCHEDULED JOB] job_id=cron_default_x") && told[0].contains("Result: 1"),
        "{told:?}"
    );
    assert!(scene.executor.cancelled().is_empty(), "nobody ends it");
    assert_eq!(runs(&scene, &id), Some((0, 2)), "it is no run of the new job");
    scene.rest();
    scene.pass(300);
    assert_eq!((scene.executor.calls().len(), scene.told().len()), (2, 2));
    assert_eq!(runs(&scene, &id), Some((1, 2)));
    scene.pass(600);
    assert_eq!(scene.executor.calls().len(), 2, "one slot was pending, and no other");
}

/// T57, what can be seen without a channel.
#[test]
fn a_channel_that_is_not_there_is_refused_with_those_that_are() {
    let scene = Scene::new();
    let args = r#"{"when" "in 5m" "action" "http.get" "output_channel" "ops"}"#;
    assert!(scene.error("s", "schedule", args).contains("there is no channel \"ops\" that you may use"));
}

/// T59.
#[test]
fn a_reminder_is_of_the_system_and_waits_for_its_session() {
    let scene = Scene::new();
    scene.busy(true);
    scene.call("remind", r#"{"when" "in 2m" "message" "Check whether the build passed."}"#);
    scene.pass(180);
    assert!(scene.told().is_empty());
    scene.busy(false);
    let told = scene.told();
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("[REMINDER from cron] "), "{told:?}");
    assert!(told[0].ends_with("\nMessage: Check whether the build passed."), "{told:?}");
    scene.rest();
    scene.pass(300);
    assert_eq!(scene.told().len(), 1);
}

/// T59.
#[test]
fn the_words_of_a_reminder_have_the_role_of_the_system() {
    let scene = Scene::new();
    let handle =
        reveille::runtime::Handle::new(scene.stage.parts(Arc::new(reveille::adapter::HostLocal::new())));
    crate::simulated::open(&handle, "s", reveille::domain::SessionConfig::default());
    handle.tools().switch(reveille::domain::Primitives::all());
    let service = reveille::service::Service::new(handle);
    let args = reveille::edn::read(br#"{"when" "in 2m" "message" "look"}"#, &reveille::dialect::REQUEST_CAPS)
        .expect("EDN");
    let token = token("s");
    let answer = service.call_tool("remind", &token, &args, reveille::dialect::Notation::Json);
    assert!(answer.is_ok_and(|answer| answer.is_some_and(|answer| !answer.is_error)));
    scene.stage.run_for(service.handle(), Span::from_millis(121_000));
    let transcript = service.handle().sessions().transcript(&session("s")).expect("it is built in");
    let [message] = transcript.messages.as_slice() else { unreachable!("{transcript:?}") };
    assert_eq!(message.role, Role::System);
    assert!(matches!(message.content.as_slice(), [Content::Text(_)]));
}

/// Takes what goes to channels, and remembers it. It finds the receiver of `gone` gone for ever.
#[derive(Clone, Default)]
pub(crate) struct Desk(Arc<Mutex<Vec<String>>>);

impl Courier for Desk {
    fn carry(&self, parcel: Parcel, carried: Carried) {
        let is_gone = &*parcel.route.channel == "gone";
        let text = format!("{}: {}", parcel.route.channel, parcel.text);
        self.0.lock().expect("no test panics in it").push(text);
        let failure = || Failure::new(Phase::Outside, Reason::ChannelDisabled, "410 Gone");
        carried(if is_gone { Err(failure()) } else { Ok(()) });
    }
}

impl Desk {
    /// What went to channels so far.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.0.lock().expect("no test panics in it").clone()
    }
}

pub(crate) fn channel(name: &str, agents: bool) -> Channel {
    Channel {
        name: name.into(),
        kind: ChannelKind::Webhook,
        goes_to: "https://hooks.example.com".into(),
        agents,
        agents_manage: false,
    }
}

/// T57: a channel that is closed after it was asked for. The session is told instead, and told so.
#[test]
fn a_channel_that_is_gone_later_is_not_told_and_the_session_is() {
    let (scene, desk) = (Scene::new(), Desk::default());
    assert!(scene.handle().outside().open_channels(Arc::new(desk.clone()), vec![channel("gone", true)]));
    let every = r#"{"when" "* * * * *" "action" "http.get" "name" "x" "output_channel" "gone"}"#;
    scene.call("schedule", every);
    let heard = || desk.0.lock().expect("no test panics in it").len();
    while heard() == 0 {
        scene.pass(1);
    }
    assert!(scene.told().is_empty(), "its receiver has said only now that it is gone");
    scene.pass(60);
    let told = scene.told();
    assert_eq!((heard(), told.len()), (1, 1), "{told:?}");
    assert!(told[0].starts_with("[SCHEDULED JOB] job_id=cron_default_x"), "{told:?}");
    assert!(told[0].ends_with("\nThe channel \"gone\" is not open; it was to be told."), "{told:?}");
    // What is asked for from now on is refused.
    let later = r#"{"when" "in 1m" "action" "http.get" "output_channel" "gone"}"#;
    assert!(scene.error("s", "schedule", later).contains("there is no channel \"gone\" that you may use"));
}

/// T57, with channels: a job can tell one that is open to sessions, and no other.
#[test]
fn a_channel_is_told_what_a_call_came_to() {
    let (scene, desk) = (Scene::new(), Desk::default());
    let channels = vec![channel("ops", true), channel("secret", false)];
    assert!(scene.handle().outside().open_channels(Arc::new(desk.clone()), channels));
    let args = |name: &str| {
        format!("{{\"when\" \"in 1m\" \"action\" \"http.get\" \"name\" \"x\" \"output_channel\" \"{name}\"}}")
    };
    let refused = scene.call("schedule", &args("secret"));
    assert!(format!("{refused:?}").contains(":channels [\"ops\"]"), "{refused:?}");
    scene.script(&[fine("1")]);
    scene.call("schedule", &args("ops"));
    scene.pass(62);
    let told = "ops: [SCHEDULED JOB] job_id=cron_default_x name=\"x\" run=1 status=ok\nResult: 1";
    assert_eq!(*desk.0.lock().expect("no test panics in it"), [told]);
    assert!(scene.told().is_empty(), "the channel is told, and not the session");
}

/// T57: a channel that is closed to sessions after it was asked for. It gets nothing more of theirs, and the session is told.
#[test]
fn a_channel_that_is_closed_to_sessions_later_is_told_nothing_more() {
    let (scene, desk) = (Scene::new(), Desk::default());
    assert!(scene.handle().outside().open_channels(Arc::new(desk.clone()), vec![channel("ops", true)]));
    let heard = || desk.0.lock().expect("no test panics in it").len();
    scene.call("schedule", r#"{"when" "* * * * *" "action" "http.get" "name" "x" "output_channel" "ops"}"#);
    while heard() == 0 {
        scene.pass(1);
    }
    let closed = Input::Report(Report::ChannelOpened(channel("ops", false)));
    scene.handle().submit(closed).expect("it is configured");
    scene.pass(60);
    let told = scene.told();
    assert_eq!((heard(), told.len()), (1, 1), "{told:?}");
    assert!(told[0].ends_with("\nThe channel \"ops\" is not open; it was to be told."), "{told:?}");
}

/// T57: what waits for the channel when it is closed does not go out either.
#[test]
fn what_waits_for_a_channel_that_is_closed_to_sessions_does_not_go_out() {
    let (scene, desk) = (Scene::new(), Desk::default());
    assert!(scene.handle().outside().open_channels(Arc::new(desk.clone()), vec![channel("ops", true)]));
    let by = || Actor { scope: Scope::Operator, via: None, tool: None, as_model: false };
    let submit = |input| scene.handle().submit(input).expect("an operator may");
    submit(Input::Command(Command::PauseChannel { channel: "ops".into(), ways: Ways::Both, by: by() }));
    let id =
        job(&scene
            .call("schedule", r#"{"when" "in 1m" "action" "http.get" "name" "x" "output_channel" "ops"}"#));
    scene.pass(62);
    submit(Input::Report(Report::ChannelOpened(channel("ops", false))));
    submit(Input::Command(Command::ResumeChannel { channel: "ops".into(), ways: Ways::Both, by: by() }));
    scene.pass(5);
    assert_eq!(*desk.0.lock().expect("no test panics in it"), [""; 0]);
    let id = ScheduleId::new(&id).expect("an id");
    let reason = |state: &State| {
        let record = state.schedule(&id)?;
        state.newest_run(record).and_then(|run| run.run().reason)
    };
    assert_eq!(scene.handle().view(reason), Some(Reason::NotGranted));
}

/// T56: a call that was out when the process died is made again only if that does no harm.
#[test]
fn a_call_that_could_do_harm_is_not_made_twice() {
    let scene = Scene::new();
    let tool = |name: &str, risk, idempotent| ToolSpec { risk, idempotent, ..spec(name) };
    for (name, risk, idempotent, expected) in [
        ("do.read", Risk::Read, false, Recovery::Redeliver),
        ("do.put", Risk::Change, true, Recovery::Redeliver),
        ("do.post", Risk::Change, false, Recovery::Fail),
        ("do.drop", Risk::Danger, false, Recovery::Fail),
    ] {
        scene.executor.offer(tool(name, risk, idempotent));
        let id = job(&scene.call("schedule", &format!(r#"{{"when" "in 5m" "action" "{name}"}}"#)));
        let id = ScheduleId::new(&id).expect("an id");
        let recovery = |state: &State| state.schedule(&id).map(|it| it.schedule().settings().policy.recovery);
        assert_eq!(scene.handle().view(recovery), Some(expected), "{name}");
    }
}
