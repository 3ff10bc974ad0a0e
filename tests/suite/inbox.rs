//! What is due in a session in which nobody listens is left in its inbox, and is delivered when somebody takes it.

use std::sync::Arc;

use reveille::dialect::Notation;
use reveille::domain::{Caller, HostId, SessionConfig, Span};
use reveille::edn::{Map, Value};
use reveille::engine::{Command, Input, Report, State};
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::testkit::{Behaviour, SimClock};

use crate::simulated::{self, ask, session, token};

/// An engine with a session in which nobody listens.
fn scene() -> (Handle, Arc<SimClock>) {
    let (handle, clock) = simulated::engine(&["read"]);
    handle.open_session(Some(session("s")), HostId::INBOX, SessionConfig::default()).expect("it is new");
    (handle, clock)
}

/// A schedule of the session, due after so many seconds.
fn create(handle: &Handle, kind: &str, text: &str, seconds: u64) {
    let ms = seconds * 1_000;
    let made = ask(
        handle,
        &Caller::OPERATOR,
        &format!(
            "[(psi.scheduler/create {{:session-id \"s\" :kind {kind} :message \"{text}\" :label \"{text}\" :delay-ms {ms}}})]"
        ),
        false,
    );
    assert!(made.contains(":psi.scheduler/created? true"), "{made}");
}

fn pass(handle: &Handle, clock: &SimClock, seconds: u64) {
    for _ in 0..seconds {
        clock.advance(Span::from_millis(1_000));
        handle.run_due();
    }
}

/// Delivered, left, pending and the imbalance of the accounts.
fn accounts(handle: &Handle) -> (u64, u64, u64, i128) {
    handle.view(|state| {
        let ledger = state.ledger();
        (ledger.delivered, ledger.left, ledger.pending, ledger.imbalance())
    })
}

fn take(handle: &Handle, caller: &Caller, rest: &str) -> String {
    ask(handle, caller, &format!("[(psi.agent-session/take-messages {{:session-id \"s\" {rest}}})]"), false)
}

/// Only a program beside the daemon waits, and the daemon does not keep that to itself.
#[test]
fn who_asks_to_wait_for_a_message_is_told_that_nothing_waited() {
    let (handle, clock) = scene();
    create(&handle, ":message", "one", 1);
    let service = Service::new(handle.clone());
    let call = |args: Map| {
        let answer = service.call_tool("inbox", &token("s"), &args.into(), Notation::Edn);
        answer.expect("admitted").expect("there is the tool").value.to_string()
    };
    let wait = || call(Map::new().with("wait_seconds", 3));
    let empty = wait();
    assert!(empty.contains("warnings") && empty.contains("was not waited"), "{empty}");
    assert!(!call(Map::new()).contains("warnings"), "nothing was asked");
    pass(&handle, &clock, 1);
    let taken = wait();
    assert!(taken.contains("one") && !taken.contains("warnings"), "{taken}");
}

#[test]
fn a_message_is_left_and_taken_once() {
    let (handle, clock) = scene();
    create(&handle, ":message", "one", 1);
    create(&handle, ":notice", "two", 2);
    pass(&handle, &clock, 3);
    assert_eq!(accounts(&handle), (0, 2, 0, 0));
    let operator = Caller::OPERATOR;
    let look = "[{[:psi.agent-session/session-id \"s\"] [:psi.agent-session/reception :psi.agent-session/inbox-count \
                {:psi.agent-session/inbox [:reveille.message/text]} \
                {:psi.agent-session/messages [:reveille.message/text :reveille.message/taken?]} \
                {:psi.agent-session/schedules [:psi.scheduler/status :psi.scheduler/reason]}]}]";
    let before = ask(&handle, &operator, look, false);
    for part in [
        ":psi.agent-session/reception :nobody",
        "inbox-count 2",
        "inbox [{:reveille.message/text \"one\"} {:reveille.message/text \"two\"}]",
        "{:reveille.message/text \"one\" :reveille.message/taken? false}",
        "{:psi.scheduler/status :left :psi.scheduler/reason :nobody-listens}",
    ] {
        assert!(before.contains(part), "{part}: {before}");
    }
    // Another session does not learn that there is one. Its own token may take.
    let foreign = take(&handle, &token("read"), "");
    assert!(foreign.contains("session not found") && !foreign.contains("one"), "{foreign}");
    assert_eq!(accounts(&handle).1, 2);
    let first = take(&handle, &token("s"), ":first 1");
    assert!(first.contains(":text \"one\"") && !first.contains("two"), "{first}");
    assert!(first.contains(":psi.agent-session/inbox-count 1"), "{first}");
    assert_eq!(accounts(&handle), (1, 1, 0, 0));
    let second = take(&handle, &operator, "");
    assert!(second.contains(":text \"two\"") && !second.contains("one"), "{second}");
    // A message is for the model; a notice is for the user.
    assert!(first.contains(":turn? true") && second.contains(":turn? false"), "{first} {second}");
    assert!(take(&handle, &operator, "").contains(":psi.agent-session/taken []"));
    assert_eq!(accounts(&handle), (2, 0, 0, 0));
    let after = ask(&handle, &operator, look, false);
    assert!(after.contains(":psi.scheduler/status :delivered") && !after.contains(":left"), "{after}");
    assert!(after.contains("{:reveille.message/text \"one\" :reveille.message/taken? true}"), "{after}");
}

/// As one of psi's background jobs, a message that waits in an inbox has not ended.
#[test]
fn a_job_whose_message_is_left_goes_on_until_it_is_taken() {
    let (handle, clock) = scene();
    create(&handle, ":message", "one", 1);
    pass(&handle, &clock, 2);
    let operator = Caller::OPERATOR;
    let look = "[{[:psi.agent-session/session-id \"s\"] [:psi.agent-session/background-job-statuses \
                {:psi.agent-session/background-jobs [:psi.background-job/status :psi.background-job/is-terminal \
                :psi.background-job/is-non-terminal]}]}]";
    let job = |status: &str, has_ended: bool| {
        format!(
            "{{:psi.background-job/status {status} :psi.background-job/is-terminal {has_ended} \
             :psi.background-job/is-non-terminal {}}}",
            !has_ended
        )
    };
    let left = ask(&handle, &operator, look, false);
    assert!(left.contains(&job(":running", false)), "{left}");
    assert!(left.contains("background-job-statuses [:running :completed :cancelled :failed]"), "{left}");
    assert!(take(&handle, &operator, "").contains(":text \"one\""));
    let taken = ask(&handle, &operator, look, false);
    assert!(taken.contains(&job(":completed", true)), "{taken}");
}

/// Nobody had a message before it was taken: it is as late as that, by the record and by the decisions alone.
#[test]
fn a_message_that_was_taken_late_is_late() {
    let (handle, clock) = scene();
    create(&handle, ":message", "one", 1);
    pass(&handle, &clock, 25);
    let operator = Caller::OPERATOR;
    assert!(take(&handle, &operator, "").contains(":text \"one\""));
    let look = "[{:psi.scheduler/schedules [{:psi.scheduler/runs [:reveille.run/lateness-ms]} \
                {:psi.scheduler/explain [:reveille.explanation/late-ms :reveille.explanation/sentence]}]}]";
    let told = ask(&handle, &operator, look, false);
    for part in [":reveille.run/lateness-ms 24000", ":reveille.explanation/late-ms 24000", "24.000 s late"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// The inbox goes with its session, and nobody is told that a message waits there.
#[test]
fn what_was_left_is_not_said_to_wait_after_its_session_was_closed() {
    let (handle, clock) = scene();
    create(&handle, ":message", "one", 1);
    pass(&handle, &clock, 2);
    let id = handle.view(|state| state.schedules()[0].schedule().id.to_string());
    let query = format!("[{{(:reveille/explain {{:schedule-id {id:?}}}) [:reveille.explanation/sentence]}}]");
    let sentence = || ask(&handle, &Caller::OPERATOR, &query, false);
    assert!(sentence().contains("waits in its inbox"), "{}", sentence());
    ask(&handle, &Caller::OPERATOR, "[(psi.agent-session/close {:session-id \"s\"})]", false);
    assert!(sentence().contains("the owning session was closed"), "{}", sentence());
}

/// Of two who take the same message one is refused, and nothing changes by it.
#[test]
fn that_a_message_will_be_left_is_said_before() {
    let (handle, _) = scene();
    create(&handle, ":message", "one", 60);
    let operator = Caller::OPERATOR;
    let said =
        ask(&handle, &operator, "[{:reveille/forecast [:reveille.slot/will :reveille.slot/reason]}]", false);
    assert_eq!(
        said,
        "{:reveille/forecast [{:reveille.slot/will :left :reveille.slot/reason :nobody-listens}]}"
    );
    let why = "[{:psi.scheduler/schedules [{:psi.scheduler/explain [:reveille.explanation/verdict \
                :reveille.explanation/sentence]}]}]";
    let why = ask(&handle, &operator, why, false);
    assert!(why.contains(":will-be-left") && why.contains("will be left in the inbox"), "{why}");
}

#[test]
fn all_or_none_are_taken() {
    let (handle, clock) = scene();
    create(&handle, ":message", "one", 1);
    create(&handle, ":message", "two", 2);
    pass(&handle, &clock, 3);
    let runs: Vec<_> = handle.view(|state| {
        let inbox = state.inbox(state.session(&session("s")).expect("it is open"));
        inbox.into_iter().filter_map(|run| state.run_id(run)).collect()
    });
    let take = |runs: Vec<_>| {
        handle.submit(Input::Command(Command::TakeLeft { session: session("s"), runs, by: None }))
    };
    take(vec![runs[0].clone()]).expect("it is there");
    let refusal = take(runs.clone()).expect_err("one of them is gone");
    assert_eq!(refusal.name(), "not-left");
    assert!(take(vec![runs[1].clone(), runs[1].clone()]).is_err(), "twice");
    assert_eq!(accounts(&handle), (1, 1, 0, 0));
}

#[test]
fn what_a_listener_reads_is_delivered() {
    let (handle, clock) = simulated::engine(&["s"]);
    create(&handle, ":message", "one", 1);
    pass(&handle, &clock, 2);
    assert_eq!(accounts(&handle), (1, 0, 0, 0));
}

/// A prompt of a fresh session is left in that session, and a host that takes it over gets it there.
#[test]
fn a_host_that_attaches_gets_what_was_left() {
    let stage = reveille::testkit::Stage::seeded(3);
    let host = Arc::new(reveille::testkit::SimHost::new(&stage, HostId::LOCAL));
    let handle = Handle::new(stage.parts(host));
    handle.open_session(Some(session("s")), HostId::INBOX, SessionConfig::default()).expect("it is new");
    create(&handle, ":message", "one", 1);
    create(&handle, ":message", "two", 2);
    create(&handle, ":session", "fresh", 3);
    pass(&handle, &stage.clock, 4);
    assert_eq!(accounts(&handle), (0, 3, 0, 0));
    let harness = Arc::new(reveille::testkit::SimHost::new(&stage, HostId::new(1)));
    harness.behave(&[(Behaviour::Slow, 1)]);
    assert_eq!(handle.hosts().attach(Arc::<reveille::testkit::SimHost>::clone(&harness)), HostId::new(1));
    let sessions = handle.view(|state| state.sessions().iter().map(|it| it.id().clone()).collect::<Vec<_>>());
    assert_eq!(sessions.len(), 2);
    handle
        .submit(Input::Command(Command::HostSessions {
            host: HostId::new(1),
            sessions,
            busy: Some(false),
            by: None,
        }))
        .expect("nobody else has them");
    // One at a time in each session, the earliest first.
    let texts = || harness.prompts().into_iter().map(|it| it.text.to_string()).collect::<Vec<_>>();
    let mut first = texts();
    first.sort();
    assert_eq!(first, ["fresh", "one"]);
    assert_eq!(accounts(&handle), (0, 0, 3, 0));
    while let Some(report) = harness.take_receipt(0) {
        handle.submit(Input::Report(report)).expect("it is owed");
        pass(&handle, &stage.clock, 3);
    }
    assert_eq!(texts().last().map(String::as_str), Some("two"));
    assert_eq!(accounts(&handle), (3, 0, 0, 0));
}

/// A waiter beside an agent does not know whether a turn goes on. What a hook has said of it before holds on.
#[test]
fn a_host_that_does_not_say_whether_a_turn_goes_on_leaves_the_session_as_it_is() {
    for (is_busy, at_once) in [(true, 0), (false, 1)] {
        let stage = reveille::testkit::Stage::seeded(3);
        let local = Arc::new(reveille::testkit::SimHost::new(&stage, HostId::LOCAL));
        let handle = Handle::new(stage.parts(local));
        handle.open_session(Some(session("s")), HostId::INBOX, SessionConfig::default()).expect("it is new");
        create(&handle, ":message", "one", 2);
        let says = |busy| {
            let report = Report::Busy { session: session("s"), busy, by: None };
            handle.submit(Input::Report(report)).expect("it is open");
        };
        says(is_busy);
        let harness = Arc::new(reveille::testkit::SimHost::new(&stage, HostId::new(1)));
        let host = handle.hosts().attach(Arc::<reveille::testkit::SimHost>::clone(&harness));
        let attach = Command::HostSessions { host, sessions: vec![session("s")], busy: None, by: None };
        handle.submit(Input::Command(attach)).expect("it is free");
        pass(&handle, &stage.clock, 3);
        assert_eq!(harness.prompts().len(), at_once, "busy: {is_busy}");
        says(false);
        pass(&handle, &stage.clock, 3);
        assert_eq!(harness.prompts().len(), 1, "busy: {is_busy}");
    }
}

/// A host that goes in good order has done what it had accepted; one that is lost has not.
#[test]
fn a_turn_ends_with_a_host_that_goes_in_good_order() {
    for (in_order, expected) in [(true, (1, 0)), (false, (0, 1))] {
        let stage = reveille::testkit::Stage::seeded(3);
        let local = Arc::new(reveille::testkit::SimHost::new(&stage, HostId::LOCAL));
        let handle = Handle::new(stage.parts(local));
        handle.open_session(Some(session("s")), HostId::INBOX, SessionConfig::default()).expect("it is new");
        let harness = Arc::new(reveille::testkit::SimHost::new(&stage, HostId::new(1)));
        harness.behave(&[(Behaviour::Slow, 1)]);
        let host = handle.hosts().attach(Arc::<reveille::testkit::SimHost>::clone(&harness));
        let sessions = vec![session("s")];
        handle
            .submit(Input::Command(Command::HostSessions { host, sessions, busy: Some(false), by: None }))
            .expect("it is free");
        let made = ask(
            &handle,
            &Caller::OPERATOR,
            "[(psi.scheduler/create {:kind :message :session-id \"s\" :message \"one\" :delay-ms 1000 \
              :policy {:ends-with :turn}})]",
            false,
        );
        assert!(made.contains(":psi.scheduler/created? true"), "{made}");
        pass(&handle, &stage.clock, 2);
        let receipt = harness.take_receipt(0).expect("it has the prompt");
        handle.submit(Input::Report(receipt)).expect("it is owed");
        assert_eq!(accounts(&handle), (0, 0, 1, 0), "the turn goes on");
        if in_order {
            handle.hosts().release(host);
        } else {
            handle.hosts().detach(host);
        }
        let ended = handle.view(|state| (state.ledger().delivered, state.ledger().failed));
        assert_eq!(ended, expected, "in order: {in_order}");
        assert_eq!(accounts(&handle).3, 0);
    }
}

/// What waits is no row of the list, and is in memory only: both are said.
#[test]
fn what_waits_in_the_inbox_is_counted_in_the_list_and_would_be_lost() {
    let (handle, clock) = scene();
    let service = Service::new(handle.clone());
    let listed = || {
        let answer = service.call_tool("list", &token("s"), &Value::Map(Map::new()), Notation::Json);
        answer.expect("admitted").expect("a tool").value.to_string()
    };
    let named = || {
        let named = handle.view(State::losable);
        named.iter().filter_map(|lost| lost.label.as_deref().map(str::to_owned)).collect::<Vec<String>>()
    };
    create(&handle, ":message", "one", 1);
    create(&handle, ":message", "two", 9);
    assert!(!listed().contains("inbox"), "{}", listed());
    pass(&handle, &clock, 2);
    assert!(listed().contains(":inbox 1"), "{}", listed());
    assert_eq!(named(), ["one", "two"]);
    assert!(take(&handle, &Caller::OPERATOR, "").contains("one"));
    assert!(!listed().contains("inbox"), "{}", listed());
    assert_eq!(named(), ["two"]);
}
