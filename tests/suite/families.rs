//! A session and the fresh sessions that come from it share their grants and their budgets.

use std::sync::{Arc, Mutex};

use reveille::adapter::HostLocal;
use reveille::domain::{
    Caller, Channel, ChannelKind, Grant, HostId, Refusal, Scope, SessionConfig, SessionId, Span,
};
use reveille::engine::{Command, Input, NewSchedule, Parcel, Report, RunRecord, SessionRecord};
use reveille::limits;
use reveille::port::{Carried, Courier};
use reveille::runtime::Handle;
use reveille::service::{DenialReason, Service};
use reveille::testkit::SimClock;

use crate::simulated::{self, session, token};

/// A schedule of alice that opens a fresh session every second.
const EVERY_SECOND: &str =
    "[(psi.scheduler/create {:session-id \"alice\" :kind :session :message \"m\" :every-ms 1000})]";

pub(crate) fn scene() -> (Handle, Arc<SimClock>) {
    let (handle, clock) = simulated::engine(&["alice"]);
    let answer = simulated::ask(&handle, &token("alice"), EVERY_SECOND, false);
    assert!(answer.contains("created? true"), "{answer}");
    (handle, clock)
}

pub(crate) fn pass(handle: &Handle, clock: &SimClock, seconds: u64) {
    for _ in 0..seconds {
        clock.advance(Span::from_millis(1_000));
        handle.run_due();
    }
}

/// The fresh sessions, oldest first.
pub(crate) fn fresh(handle: &Handle) -> Vec<SessionId> {
    handle.view(|state| {
        let mut fresh: Vec<&SessionRecord> = state.sessions();
        fresh.retain(|session| session.provenance().is_some());
        fresh.sort_by_key(|session| session.opened());
        fresh.into_iter().map(|session| session.id().clone()).collect()
    })
}

#[test]
fn the_oldest_fresh_session_makes_room_for_the_next() {
    let (handle, clock) = scene();
    let most = limits::FRESH_SESSIONS.value;
    pass(&handle, &clock, most);
    let before = fresh(&handle);
    assert_eq!(before.len() as u64, most);
    // A person keeps the first one; the second has a schedule of its own.
    let words = Report::UserMessage { session: before[0].clone(), text: "hi".into(), by: None };
    handle.submit(Input::Report(words)).expect("it is open");
    let later = reveille::domain::When::After(Span::from_millis(3_600_000));
    handle.schedule(NewSchedule::message(before[1].clone(), later, "later")).expect("there is room");
    // The place of the one that is kept does not count.
    pass(&handle, &clock, 1);
    assert_eq!(fresh(&handle)[..before.len()], before[..]);
    pass(&handle, &clock, 3);
    let after = fresh(&handle);
    let closed: Vec<&SessionId> = before.iter().filter(|session| !after.contains(session)).collect();
    assert_eq!(closed, [&before[2], &before[3], &before[4]]);
    assert!(handle.sessions().transcript(&before[2]).is_none(), "the host has dropped it");
    assert_eq!(after.len() as u64, most + 1);
}

#[test]
fn a_family_at_work_gets_no_further_session_and_takes_no_place_from_others() {
    let (handle, clock) = scene();
    pass(&handle, &clock, limits::FRESH_SESSIONS.value);
    let before = fresh(&handle);
    for session in &before {
        let busy = Report::Busy { session: session.clone(), busy: true, by: None };
        handle.submit(Input::Report(busy)).expect("it is open");
    }
    simulated::open(&handle, "bob", SessionConfig::default());
    let of_bob = EVERY_SECOND.replace("alice", "bob");
    assert!(simulated::ask(&handle, &token("bob"), &of_bob, false).contains("created? true"));
    pass(&handle, &clock, 1);
    let after = fresh(&handle);
    assert_eq!(after[..before.len()], before[..], "nothing at work is closed");
    let roots = handle.view(|state| {
        after[before.len()..]
            .iter()
            .filter_map(|id| Some(state.session(id)?.provenance()?.root.clone()))
            .collect::<Vec<_>>()
    });
    assert_eq!(roots, [session("bob")]);
    let failed =
        "[{:psi.scheduler/schedules [{:psi.scheduler/runs [:reveille.run/reason :reveille.run/error]}]}]";
    let failed = simulated::ask(&handle, &token("alice"), failed, true);
    assert!(failed.contains("limit-reached") && failed.contains("fresh-sessions"), "{failed}");
}

#[test]
fn a_fresh_session_may_what_its_origin_may() {
    let (handle, clock) = scene();
    pass(&handle, &clock, 1);
    let child = fresh(&handle).remove(0);
    let create = |by: &str| {
        let text = format!(
            "[(psi.scheduler/create {{:session-id {by:?} :kind :message :message \"m\" :delay-ms 60000}})]"
        );
        simulated::ask(&handle, &token(by), &text, true)
    };
    let answer = create(child.as_str());
    assert!(answer.contains("created? true"), "{answer}");
    let narrow = Grant { right: Some(reveille::domain::Right::Read), ..Grant::FULL };
    handle.sessions().grant(&session("alice"), narrow, Scope::Operator).expect("it is open");
    assert!(create(child.as_str()).contains("may not change"), "its origin may only read");
    let shown =
        "[{[:psi.agent-session/session-id \"ID\"] [:psi.agent-session/grant]}]".replace("ID", child.as_str());
    let shown = simulated::ask(&handle, &token(child.as_str()), &shown, true);
    assert!(shown.contains(":right :read"), "{shown}");
}

/// The line of openers has a gap where a session between is closed.
#[test]
fn a_fresh_session_may_what_its_root_may_when_its_opener_is_closed() {
    let (handle, clock) = simulated::engine(&["alice"]);
    let open_by = |by: &str| {
        let text = format!(
            "[(psi.scheduler/create {{:session-id {by:?} :kind :session :message \"m\" :delay-ms 1000}})]"
        );
        assert!(simulated::ask(&handle, &Caller::OPERATOR, &text, false).contains("created? true"));
        pass(&handle, &clock, 1);
    };
    open_by("alice");
    let child = fresh(&handle).remove(0);
    open_by(child.as_str());
    let grandchild =
        fresh(&handle).into_iter().find(|id| *id != child).expect("the child's schedule opened it");
    handle.close_session(&child).expect("it is open");
    let narrow = Grant { right: Some(reveille::domain::Right::Read), ..Grant::FULL };
    handle.sessions().grant(&session("alice"), narrow, Scope::Operator).expect("it is open");
    let create = format!(
        "[(psi.scheduler/create {{:session-id {:?} :kind :message :message \"m\" :delay-ms 60000}})]",
        grandchild.as_str()
    );
    let answer = simulated::ask(&handle, &token(grandchild.as_str()), &create, true);
    assert!(answer.contains("may not change"), "its root may only read: {answer}");
}

#[test]
fn a_family_shares_its_schedules_and_its_rate() {
    let (handle, clock) = scene();
    pass(&handle, &clock, 1);
    let child = fresh(&handle).remove(0);
    let soon = || reveille::domain::When::After(Span::from_millis(3_600_000));
    let of = |owner: &SessionId| NewSchedule {
        session_live_max: 10,
        ..NewSchedule::message(owner.clone(), soon(), "m")
    };
    for _ in 0..9 {
        handle.schedule(of(&session("alice"))).expect("there is room");
    }
    assert_eq!(
        handle.schedule(of(&child)),
        Err(Refusal::SessionFull { max: 10 }),
        "one is the recurring one"
    );
    // The same holds for the pace of changes.
    let service = Service::new(handle);
    let cancel = reveille::edn::read(b"{:id \"sch-none\"}", &reveille::dialect::REQUEST_CAPS).expect("EDN");
    let call =
        |by: &str| service.call_tool("cancel", &token(by), &cancel, reveille::dialect::Notation::Edn).err();
    for _ in 0..limits::CHANGES_PER_MINUTE.value {
        assert_eq!(call("alice"), None);
    }
    let reason = call(child.as_str()).map(|denial| denial.reason);
    assert!(matches!(reason, Some(DenialReason::TooFast { .. })), "a child has no pace of its own");
    assert_eq!(call("bob"), None);
}

#[test]
fn a_family_shares_the_room_for_its_texts() {
    let (handle, clock) = scene();
    pass(&handle, &clock, 1);
    let child = fresh(&handle).remove(0);
    let text: Box<str> = "x".repeat(usize::try_from(limits::TEXT_BYTES.value).expect("a size")).into();
    let create = |owner: &SessionId, delay| {
        let soon = reveille::domain::When::After(Span::from_millis(delay));
        handle.schedule(NewSchedule::message(owner.clone(), soon, text.clone()))
    };
    let full = Refusal::LimitReached { limit: limits::SESSION_BYTES };
    create(&child, 5_000).expect("there is room");
    let created = (0..1_000).take_while(|_| create(&session("alice"), 5_000).is_ok());
    assert_eq!(created.count() as u64, limits::SESSION_BYTES.value / limits::TEXT_BYTES.value - 2);
    assert_eq!(create(&child, 5_000), Err(full.clone()));
    assert_eq!(create(&session("alice"), 5_000), Err(full));
    simulated::open(&handle, "bob", SessionConfig::default());
    create(&session("bob"), 5_000).expect("another session has room of its own");
    // Finished schedules make room by themselves.
    pass(&handle, &clock, 6);
    create(&session("alice"), 5_000).expect("there is room again");
}

/// Notes what is sent.
#[derive(Clone, Default)]
pub(crate) struct Desk(Arc<Mutex<Vec<Parcel>>>);

impl Desk {
    /// What was sent since the last time.
    pub(crate) fn take(&self) -> Vec<Parcel> {
        std::mem::take(&mut *self.0.lock().expect("no test panics in it"))
    }
}

impl Courier for Desk {
    fn carry(&self, parcel: Parcel, carried: Carried) {
        self.0.lock().expect("no test panics in it").push(parcel);
        carried(Ok(()));
    }
}

/// Opens the channel `ops`, which agents may use.
pub(crate) fn open_ops(handle: &Handle) -> Desk {
    let desk = Desk::default();
    let (name, goes_to, kind) = ("ops".into(), "somewhere".into(), ChannelKind::Webhook);
    let ops = Channel { name, kind, goes_to, agents: true, agents_manage: false };
    assert!(handle.outside().open_channels(Arc::new(desk.clone()), vec![ops]));
    desk
}

#[test]
fn a_family_shares_its_places_outside() {
    let (handle, clock) = scene();
    let desk = open_ops(&handle);
    pass(&handle, &clock, 1);
    let child = fresh(&handle).remove(0);
    for sender in [&session("alice"), &child] {
        let create = format!(
            "[(psi.scheduler/create {{:session-id \"{sender}\" :kind :message :message \"m\" :delay-ms 1000 :channel \"ops\"}})]"
        );
        let answer = simulated::ask(&handle, &token(sender.as_str()), &create, false);
        assert!(answer.contains("created? true"), "{answer}");
    }
    pass(&handle, &clock, 1);
    let sent: Vec<_> = desk.take().into_iter().map(|sent| (sent.session, sent.family)).collect();
    assert_eq!(sent, [(session("alice"), session("alice")), (child, session("alice"))]);
}

/// What is reserved for operators is for what an operator has scheduled, as long as no session has a hand in it.
#[test]
fn only_what_is_all_an_operators_may_use_the_reserve() {
    let (handle, clock) = simulated::engine(&["alice"]);
    let desk = open_ops(&handle);
    let create = |by: &Caller| {
        let create =
            "[(psi.scheduler/create {:session-id \"alice\" :kind :message :message \"m\" :every-ms 60000
                        :channel \"ops\"})]";
        let answer = simulated::ask(&handle, by, create, false);
        let id = answer.split('"').find(|part| part.starts_with("sch-"));
        id.unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let sent = || desk.take().iter().map(|parcel| parcel.is_operators).collect::<Vec<bool>>();
    let own = create(&token("alice"));
    pass(&handle, &clock, 60);
    assert_eq!(sent(), [false]);
    let cancel = format!("[(psi.scheduler/cancel {{:schedule-id {own:?}}})]");
    simulated::ask(&handle, &token("alice"), &cancel, false);
    let id = create(&Caller::OPERATOR);
    pass(&handle, &clock, 60);
    assert_eq!(sent(), [true]);
    let as_alice = |what: &str, rest: &str| {
        let text = format!("[(psi.scheduler/{what} {{:schedule-id {id:?} {rest}}})]");
        simulated::ask(&handle, &token("alice"), &text, false)
    };
    let ran = as_alice("run-now", "");
    assert_eq!(sent(), [false], "a session asked for this one: {ran}");
    let changed = as_alice("reschedule", ":message \"n\"");
    pass(&handle, &clock, 60);
    assert_eq!(sent(), [false], "these are a session's words: {changed}");
}

/// What the session, or an operator, does with an operator's schedule, and how long after that its run comes.
struct Causes {
    when: &'static str,
    by_session: &'static [&'static str],
    by_operator: &'static [&'static str],
    seconds: u64,
}

const CAUSES: &[Causes] = &[
    Causes {
        when: ":every-ms 60000",
        by_session: &["(psi.scheduler/run-now {:schedule-id ID})"],
        by_operator: &["(psi.scheduler/run-now {:schedule-id ID})"],
        seconds: 1,
    },
    // Its only slot is brought forward.
    Causes {
        when: ":delay-ms 3600000",
        by_session: &["(psi.scheduler/run-now {:schedule-id ID})"],
        by_operator: &["(psi.scheduler/run-now {:schedule-id ID})"],
        seconds: 1,
    },
    Causes {
        when: ":every-ms 60000",
        by_session: &["(psi.scheduler/pause {:schedule-id ID})", "(psi.scheduler/resume {:schedule-id ID})"],
        by_operator: &["(psi.scheduler/pause {:schedule-id ID})", "(psi.scheduler/resume {:schedule-id ID})"],
        seconds: 60,
    },
    Causes {
        when: ":trigger {:kind :event :job \"build\"}",
        by_session: &["report_job_ready"],
        by_operator: &["(psi.agent-session/job-ready {:session-id \"alice\" :job-id \"build\"})"],
        seconds: 1,
    },
];

/// Whatever a session causes of an operator's schedule uses the places of the session. What an operator causes does not, and
/// neither does the run after that, which comes at its own time.
#[test]
fn what_a_session_causes_uses_its_own_places() {
    for Causes { when, by_session, by_operator, seconds } in CAUSES {
        for (by, calls) in [(token("alice"), by_session), (Caller::OPERATOR, by_operator)] {
            let (handle, clock) = simulated::engine(&["alice"]);
            let desk = open_ops(&handle);
            let sent = || desk.take().iter().map(|parcel| parcel.is_operators).collect::<Vec<bool>>();
            let create = format!(
                "[(psi.scheduler/create {{:session-id \"alice\" :kind :message :message \"m\" {when} :channel \"ops\"}})]"
            );
            let answer = simulated::ask(&handle, &Caller::OPERATOR, &create, false);
            let id = answer.split('"').find(|part| part.starts_with("sch-")).expect("it was created");
            for call in *calls {
                if *call == "report_job_ready" {
                    let args = reveille::edn::read(b"{:job_id \"build\"}", &reveille::dialect::REQUEST_CAPS);
                    let notation = reveille::dialect::Notation::Edn;
                    let service = Service::new(handle.clone());
                    let answer = service.call_tool(call, &by, &args.expect("EDN"), notation);
                    answer.expect("admitted").expect("it is a tool");
                } else {
                    let call = format!("[{}]", call.replace("ID", &format!("{id:?}")));
                    simulated::ask(&handle, &by, &call, false);
                }
            }
            pass(&handle, &clock, *seconds);
            assert_eq!(sent(), [by == Caller::OPERATOR], "{when} {calls:?}");
            if when.contains("every") {
                pass(&handle, &clock, 60);
                assert_eq!(sent(), [true], "{when} {calls:?}: the next one");
            }
        }
    }
}

/// A session that has more to hand over than its share of the disk waits. Others do not, and nothing is lost.
#[test]
fn runs_wait_when_their_session_has_written_its_share() {
    let (handle, clock) = simulated::engine(&["alice", "bob"]);
    let text = "x".repeat(usize::try_from(limits::TEXT_BYTES.value).expect("small"));
    let per_second = limits::RUN_BYTES_PER_SECOND.value / limits::TEXT_BYTES.value;
    let at = reveille::domain::When::After(Span::from_millis(1_000));
    let durable = |owner: &str, text: &str| NewSchedule {
        durability: reveille::domain::Durability::Durable,
        session_live_max: 1_000,
        ..NewSchedule::message(session(owner), at.clone(), text)
    };
    // Far more seconds' worth than a run has attempts.
    let all = 3 * limits::ATTEMPTS.value * per_second;
    let facts = |handle: &Handle| handle.view(|state| state.cursor().number());
    for _ in 0..all {
        handle.schedule(durable("alice", &text)).expect("there is room");
    }
    handle.schedule(durable("bob", "p")).expect("there is room");
    handle.schedule(NewSchedule::message(session("alice"), at.clone(), "volatile")).expect("there is room");
    let delivered = |handle: &Handle| handle.view(|state| state.ledger().delivered);
    let before = facts(&handle);
    pass(&handle, &clock, 1);
    // The run that reaches a second's worth still goes out: a single one may be as large as that.
    let at_once = per_second + 1;
    assert_eq!(delivered(&handle), at_once + 2, "what alice may write at once, her volatile one, and bob's");
    pass(&handle, &clock, 1);
    let later = delivered(&handle) - 2;
    assert!(later > at_once && later <= at_once + per_second, "{later}");
    pass(&handle, &clock, 2 * all / per_second);
    assert_eq!(delivered(&handle), all + 2, "each has gone out");
    let most = handle
        .view(|state| state.schedules().into_iter().filter_map(|it| state.newest_run(it)).map(attempt).max());
    assert_eq!(most, Some(1), "to wait for the disk is no attempt");
    // A claim, a wait, the hand-over, its receipt, and the end of the schedule: each run waits for a time of its own.
    assert!(facts(&handle) - before < 6 * all, "{}", facts(&handle) - before);
}

/// Nobody can take a message any more once its session is closed.
#[test]
fn a_session_whose_message_nobody_has_taken_makes_room_last() {
    let (handle, clock) = simulated::engine(&[]);
    handle.open_session(Some(session("alice")), HostId::INBOX, SessionConfig::default()).expect("it is new");
    // A schedule for each, because of one that recurs only the latest runs are remembered.
    for number in 1..=limits::FRESH_SESSIONS.value + 2 {
        let once = EVERY_SECOND.replace(":every-ms 1000", &format!(":delay-ms {}", 1_000 * number));
        let answer = simulated::ask(&handle, &token("alice"), &once, false);
        assert!(answer.contains("created? true"), "{answer}");
    }
    pass(&handle, &clock, limits::FRESH_SESSIONS.value);
    let before = fresh(&handle);
    let third = &before[2];
    let take = format!("[(psi.agent-session/take-messages {{:session-id \"{third}\"}})]");
    let taken = simulated::ask(&handle, &Caller::OPERATOR, &take, false);
    assert!(taken.contains(":text \"m\""), "{taken}");
    pass(&handle, &clock, 1);
    assert!(!fresh(&handle).contains(third), "nothing is left to do in it");
    assert_eq!(fresh(&handle)[..2], before[..2]);
    pass(&handle, &clock, 1);
    assert!(!fresh(&handle).contains(&before[0]), "the oldest of the others");
}

/// A host that comes gets many runs in one step. What operators' runs write in it counts for those of the session.
#[test]
fn what_operators_have_written_counts_in_the_step_that_hands_it_over() {
    let (handle, clock) = simulated::engine(&[]);
    let attach = || handle.hosts().attach(Arc::new(HostLocal::new()));
    let gone = attach();
    handle.open_session(Some(session("alice")), gone, SessionConfig::default()).expect("it is new");
    handle.hosts().detach(gone);
    let text = "x".repeat(usize::try_from(limits::TEXT_BYTES.value).expect("small"));
    let per_second = limits::RUN_BYTES_PER_SECOND.value / limits::TEXT_BYTES.value;
    let create = |caller: &Caller, text: &str, ms: u64| {
        let what = format!(":session-id \"alice\" :kind :session :message \"{text}\" :delay-ms {ms}");
        let made = simulated::ask(&handle, caller, &format!("[(psi.scheduler/create {{{what}}})]"), false);
        assert!(made.contains("created? true"), "{made}");
    };
    for _ in 0..2 * per_second {
        create(&Caller::OPERATOR, &text, 1_000);
    }
    create(&token("alice"), "mine", 2_000);
    pass(&handle, &clock, 3);
    assert_eq!(fresh(&handle).len(), 0, "there is no host");
    let (host, sessions) = (attach(), vec![session("alice")]);
    let come = Command::HostSessions { host, sessions, busy: Some(false), by: None };
    handle.submit(Input::Command(come)).expect("it has no host");
    assert_eq!(
        fresh(&handle).len() as u64,
        2 * per_second,
        "those of operators wait for no pace, and the other does"
    );
    pass(&handle, &clock, 3);
    assert_eq!(fresh(&handle).len() as u64, 2 * per_second + 1, "its turn has come");
}

fn attempt(record: &RunRecord) -> u16 {
    record.run().attempt
}

/// However its schedules came to their periods, a session has no more slots in a minute than its bound.
#[test]
fn a_family_shares_its_slots_of_short_periods() {
    let (handle, clock) = scene();
    pass(&handle, &clock, 1);
    let child = fresh(&handle).remove(0);
    let create = |owner: &SessionId, period: u64| {
        let period = Span::from_millis(period);
        let each = reveille::domain::When::Each(period);
        handle.schedule(NewSchedule {
            session_live_max: 1_000,
            ..NewSchedule::message(owner.clone(), each, "m")
        })
    };
    let full = Refusal::LimitReached { limit: limits::SLOTS_PER_MINUTE };
    // Alice's first schedule, and these in both sessions.
    let alice = session("alice");
    let of_each_second = limits::SLOTS_PER_MINUTE.value / 60 - 1;
    let first = create(&alice, 1_000).expect("there is room");
    for number in 1..of_each_second {
        create(if number % 10 == 0 { &child } else { &alice }, 1_000).expect("there is room");
    }
    assert_eq!(create(&child, 1_000), Err(full.clone()));
    assert_eq!(create(&alice, 30_000), Err(full.clone()));
    assert_eq!(create(&alice, 59_999), Err(full.clone()));
    let slow = create(&alice, 60_000).expect("one slot in a minute is no short period");
    let reschedule = |period: u64| {
        let change = format!("[(psi.scheduler/reschedule {{:schedule-id \"{slow}\" :every-ms {period}}})]");
        simulated::ask(&handle, &token("alice"), &change, false)
    };
    assert!(reschedule(1_000).contains("slots-per-minute"), "{}", reschedule(1_000));
    assert!(reschedule(59_000).contains("slots-per-minute"), "{}", reschedule(59_000));
    assert!(reschedule(61_000).contains("every 61 seconds"), "{}", reschedule(61_000));
    let operators = EVERY_SECOND.replace(":kind :session ", ":kind :message ");
    let answer = simulated::ask(&handle, &Caller::OPERATOR, &operators, false);
    assert!(answer.contains("created? true"), "{answer}");
    // A schedule that has ended makes room for another one.
    let cancel = format!("[(psi.scheduler/cancel {{:schedule-id \"{first}\"}})]");
    let answer = simulated::ask(&handle, &token("alice"), &cancel, false);
    assert!(answer.contains(&first.to_string()), "{answer}");
    create(&child, 1_000).expect("there is room again");
    assert_eq!(create(&alice, 1_000), Err(full));
}
