//! The laws of the test kit, held to account: each is shown a wrong history, and must be the one that says so.
//!
//! True histories are recorded from a real engine, one of them of watches; every row spoils one of them in one place.

use std::collections::BTreeSet;
use std::sync::Arc;

use reveille::domain::{
    BootTime, Cursor, Dialect, Dispatch, Durability, EngineFact, Fact, Failure, HostId, Lifetime, Lineage,
    Message, MessageProvenance, Moment, Next, Now, Payload, Phase, PingName, Reason, RunFact, RunId,
    ScheduleFact, ScheduleId, Scope, SessionConfig, SessionFact, SessionId, Settings, Span, When,
};
use reveille::engine::{Command, Input, NewSchedule, Report, Which};
use reveille::port::Clock;
use reveille::runtime::Handle;
use reveille::testkit::{
    Laws, Observation, Seen, SimHost, Stage, StateView, feed_tells_all, reads_change_nothing,
};

mod authority;
mod calls;
mod parcels;
mod watches;

use authority::WRONG_AUTHORITY;
use calls::{WRONG_CALLS, WRONG_DELIVERIES};
use watches::{WRONG_CHECKS, WRONG_MEMORIES};

type Spoil = fn(&mut Vec<Observation>);

/// Records the true story that some wrong histories are made of.
type Record = fn() -> TrueStory;

/// Wrong histories, and the law that each breaks.
const WRONG_SIGHTS: &[(&str, Spoil)] = &[
    ("a_session_opens_once", |all| repeat(all, |seen| session_fact(seen).is_some_and(is_opened))),
    ("a_schedule_is_created_once", |all| {
        repeat(all, |seen| matches!(seen, Seen::Fact(Fact::Created { .. })));
    }),
    ("nothing_goes_where_nothing_is_wanted", |all| {
        let place = find(all, |seen| is_dispatched(seen, "first"));
        if let Seen::Fact(Fact::Run(_, RunFact::Dispatched(to), _)) = &mut all[place].seen {
            to.phase = Phase::Outside;
        }
    }),
    ("a_channel_is_left_alone_as_it_asks", |all| {
        let place = find(all, |seen| is_dispatched(seen, "first"));
        let (now, seen) = (all[place].now, all[place].seen.clone());
        let Seen::Fact(Fact::Run(run, _, _)) = seen else { return };
        let wait = Some(Span::from_millis(60_000));
        let failure = Failure::new(Phase::Outside, Reason::HostRefused, "not now").with_wait(wait);
        let again = RunFact::Retrying { failure: Box::new(failure), at: now.wall, due: now.boot };
        all.insert(place + 1, Observation { now, seen: Seen::Fact(Fact::Run(run, again, None)) });
    }),
    ("terminal_is_final", |all| repeat(all, |seen| is_delivered(seen, "first"))),
    ("terminal_is_final", |all| remove(all, |seen| is_created(seen, "first"))),
    ("terminal_is_final", |all| remove(all, |seen| is_claimed(seen, "first"))),
    ("a_slot_is_consumed_once", |all| repeat(all, |seen| is_claimed(seen, "first"))),
    ("slots_go_forward", |all| {
        let place = find(all, |seen| is_claimed(seen, "first"));
        if let Seen::Fact(Fact::Run(run, RunFact::Claimed(claim), _)) = &mut all[place].seen {
            claim.next = Some(Next::Slot { slot: run.slot, due: None });
        }
    }),
    ("held_is_held", |all| {
        let place = find(all, |seen| is_claimed(seen, "first"));
        let held = Fact::Engine(EngineFact::AllHeld { by: Scope::Operator.into(), reason: None });
        all.insert(place, Observation { now: all[place].now, seen: Seen::Fact(held) });
    }),
    ("a_line_ends", |all| {
        let place = find(all, |seen| matches!(seen, Seen::Fact(Fact::Created { .. })));
        if let Seen::Fact(Fact::Created { schedule, .. }) = &mut all[place].seen {
            let run = RunId { schedule: schedule.id.clone(), incarnation: 1, slot: schedule.created_at };
            schedule.enter_chain(Lineage { run, depth: 2, root: schedule.id.clone() });
        }
    }),
    ("volatile_is_tried_once", |all| {
        let place = find(all, |seen| is_delivered(seen, "first"));
        let now = all[place].now;
        if let Seen::Fact(Fact::Run(_, fact, _)) = &mut all[place].seen {
            let failure = Failure::new(Phase::PromptSubmit, Reason::ReceiptOverdue, "late");
            *fact = RunFact::Retrying { failure: Box::new(failure), at: now.wall, due: now.boot };
        }
    }),
    ("never_early", |all| hasten(all, |seen| is_claimed(seen, "first"))),
    ("never_early", |all| hasten(all, |seen| is_received(seen, "prompt"))),
    ("cancel_holds", |all| all.push(acknowledged(all, "first"))),
    ("cancel_holds", |all| all.push(received_after_all(all, "cancelled"))),
    ("a_session_cancels_its_own", |all| {
        let place = find(all, |seen| matches!(seen, Seen::CancelAcknowledged { .. }));
        all[place].seen =
            Seen::CancelAcknowledged { scope: Scope::Session(session("away")), schedule: id("cancelled") };
    }),
    ("a_word_calls_off_what_it_may", |all| {
        let called_off = ScheduleFact::Cancelled { reason: Reason::UserActivity, by: None };
        let fact = Fact::Schedule(id("later"), called_off);
        all.push(Observation { now: all[all.len() - 1].now, seen: Seen::Fact(fact) });
    }),
    ("at_most_once", |all| repeat(all, |seen| is_received(seen, "first"))),
    ("nothing_unasked", |all| {
        let place = find(all, |seen| is_received(seen, "first"));
        if let Seen::Received(reception) = &mut all[place].seen {
            reception.session = session("away");
        }
    }),
    ("delivered_means_received", |all| remove(all, |seen| is_received(seen, "first"))),
    // Its host has it, and is one that answers.
    ("left_is_not_delivered", |all| ends_otherwise(all, "first", RunFact::Left)),
    ("left_is_not_delivered", |all| ends_otherwise(all, "first", RunFact::Taken { by: None })),
    ("first_due_first_served", |all| {
        let second = all.remove(find(all, |seen| is_dispatched(seen, "second")));
        all.insert(find(all, |seen| is_dispatched(seen, "first")), second);
    }),
    ("one_in_flight", |all| {
        let second = all.remove(find(all, |seen| is_dispatched(seen, "second")));
        all.insert(find(all, |seen| is_dispatched(seen, "first")) + 1, second);
    }),
    ("one_delivery_per_idle_transition", |all| {
        remove(all, |seen| session_fact(seen).is_some_and(|fact| *fact == SessionFact::TurnUnreported));
    }),
    ("delivered_where_it_lives", |all| {
        let place = find(all, |seen| is_received(seen, "first"));
        if let Seen::Received(reception) = &mut all[place].seen {
            reception.host = HostId::new(1);
        }
    }),
    ("a_lost_host_holds_nothing", |all| {
        let place = find(all, |seen| is_received(seen, "prompt"));
        all.insert(place + 1, Observation { now: all[place].now, seen: Seen::HostLost(HostId::new(1)) });
    }),
    ("stopping_starts_nothing", |all| {
        let place = find(all, |seen| is_claimed(seen, "first"));
        let stopping = Fact::Engine(EngineFact::Stopping { abandon: false });
        all.insert(place, Observation { now: all[place].now, seen: Seen::Fact(stopping) });
    }),
    ("nothing_after_shutdown", |all| {
        let place = find(all, |seen| is_received(seen, "first"));
        let now = all[place].now;
        all.insert(place, Observation { now, seen: Seen::ShutDown });
    }),
    ("a_fact_can_be_kept", |all| {
        // A preloaded message that says it comes from a schedule: nobody can have asked for that.
        let place =
            find(all, |seen| matches!(seen, Seen::Fact(Fact::Session(_, SessionFact::Opened { .. }, _))));
        if let Seen::Fact(Fact::Session(_, SessionFact::Opened { config, .. }, _)) = &mut all[place].seen {
            let mut message = Message::user("hello", Moment::EPOCH);
            message.provenance = Some(MessageProvenance {
                run: RunId { schedule: id("first"), incarnation: 1, slot: Moment::EPOCH },
                label: None,
                late: Span::ZERO,
                folded: 0,
                begins_turn: true,
            });
            let preloaded_messages = Some(vec![message]);
            *config = Arc::new(SessionConfig { preloaded_messages, ..SessionConfig::default() });
        }
    }),
];

/// Histories that do not fit the state they are said to have led to, and the law that each breaks.
const WRONG_STANDINGS: &[(&str, Spoil)] = &[
    ("accounting_balances", |all| remove(all, |seen| is_delivered(seen, "fresh"))),
    ("nothing_silent", |all| {
        for observation in all {
            match &mut observation.seen {
                Seen::Fact(Fact::Created { schedule, .. }) if schedule.id == id("later") => {
                    schedule.id = id("other");
                }
                Seen::Fact(_)
                | Seen::Local(_)
                | Seen::Received(_)
                | Seen::CancelAcknowledged { .. }
                | Seen::HostLost(_)
                | Seen::ShutDown
                | Seen::DiskFailed { .. } => {}
            }
        }
    }),
    ("a_schedule_shows_its_slot", |all| {
        let place = find(all, |seen| is_created(seen, "later"));
        if let Seen::Fact(Fact::Created { next: Next::Slot { slot, .. }, .. }) = &mut all[place].seen {
            *slot = slot.checked_add(Span::from_nanos(1)).unwrap_or(Moment::EPOCH);
        }
    }),
    ("the_last_pings_are_there", |all| {
        let name = PingName::new("backup").expect("a name");
        let at = all[all.len() - 1].now;
        let pinged = Fact::Session(session("away"), SessionFact::Pinged { name, at: at.wall }, None);
        all.push(Observation { now: at, seen: Seen::Fact(pinged) });
    }),
    ("nothing_waits_without_cause", |all| {
        let idle = Fact::Session(session("away"), SessionFact::Idle, None);
        all.push(Observation { now: all[all.len() - 1].now, seen: Seen::Fact(idle) });
    }),
    ("a_word_has_called_off", |all| {
        let place = find(all, |seen| is_created(seen, "later"));
        if let Seen::Fact(Fact::Created { schedule, .. }) = &mut all[place].seen {
            let lifetime = Lifetime { cancel_on_user_activity: true, ..Lifetime::PLAIN };
            schedule.settings = Some(Box::new(Settings { lifetime, ..Settings::PLAIN }));
        }
        let spoke = Fact::Session(session("home"), SessionFact::UserMessage, None);
        all.push(Observation { now: all[all.len() - 1].now, seen: Seen::Fact(spoke) });
    }),
    ("created_sessions_are_real", |all| {
        for observation in all {
            if let Seen::Received(reception) = &mut observation.seen
                && reception.run.schedule == id("fresh")
            {
                reception.session = session("elsewhere");
            }
            if let Seen::Fact(Fact::Run(run, RunFact::Dispatched(Dispatch { session: into, .. }), _)) =
                &mut observation.seen
                && run.schedule == id("fresh")
            {
                *into = session("elsewhere");
            }
        }
    }),
    ("nothing_lives_after_shutdown", |all| {
        all.push(Observation { now: all[all.len() - 1].now, seen: Seen::ShutDown });
    }),
];

#[test]
fn each_law_catches_the_histories_that_break_it() {
    let check = |record: Record, (law, spoil): &(&str, Spoil)| {
        let mut history = record().stage.history.after(0);
        spoil(&mut history);
        let broken = observe(&history).expect_err(law);
        assert_eq!(broken.law, *law, "{broken}");
    };
    let of_messages = WRONG_SIGHTS.iter().chain(WRONG_AUTHORITY).chain(WRONG_CALLS);
    of_messages.for_each(|row| check(TrueStory::record, row));
    WRONG_CHECKS.iter().for_each(|row| check(TrueStory::of_watches, row));
}

#[test]
fn each_law_catches_the_states_that_break_it() {
    let check = |record: Record, (law, spoil): &(&str, Spoil)| {
        let story = record();
        let mut history = story.stage.history.after(0);
        spoil(&mut history);
        let laws = observe(&history).unwrap_or_else(|broken| panic!("for {law}: {broken}"));
        let broken = story.stand(&laws, |_| ()).expect_err(law);
        assert_eq!(broken, *law);
    };
    WRONG_STANDINGS.iter().chain(WRONG_DELIVERIES).for_each(|row| check(TrueStory::record, row));
    WRONG_MEMORIES.iter().for_each(|row| check(TrueStory::of_watches, row));
    let story = TrueStory::record();
    let laws = observe(&story.stage.history.after(0)).unwrap_or_else(|broken| panic!("{broken}"));
    let late = story.stage.clock.now().boot.after(Span::from_millis(86_400_000));
    assert_eq!(story.stand(&laws, |standing| standing.now.boot = late), Err("nothing_due_is_left"));
    assert_eq!(story.stand(&laws, |standing| standing.session_live_max = Some(0)), Err("limits_hold"));
    assert_eq!(laws.everything_ends().map_err(|broken| broken.law), Err("everything_ends"));
    story.user_speaks();
    assert_eq!(story.stand_deep(&laws), Err("fold_is_state"));
}

#[test]
fn the_feed_is_compared_with_the_facts() {
    let story = TrueStory::record();
    let decisions = story.handle.subscribe(Cursor::START).poll(usize::MAX).decisions;
    let facts = |history: Vec<Observation>| -> Vec<Fact> {
        let facts = history.into_iter().filter_map(|observation| match observation.seen {
            Seen::Fact(fact) => Some(fact),
            Seen::Local(_)
            | Seen::Received(_)
            | Seen::CancelAcknowledged { .. }
            | Seen::HostLost(_)
            | Seen::ShutDown
            | Seen::DiskFailed { .. } => None,
        });
        facts.collect()
    };
    let mut told = facts(story.stage.history.after(0));
    assert_eq!(feed_tells_all(&told, &decisions), Ok(()));
    told.swap(0, 5);
    assert_eq!(feed_tells_all(&told, &decisions).map_err(|broken| broken.law), Err("feed_tells_all"));
    told.pop();
    assert_eq!(feed_tells_all(&told, &decisions).map_err(|broken| broken.law), Err("feed_tells_all"));
}

#[test]
fn the_true_history_breaks_no_law_and_every_law_was_broken_once() {
    for story in [TrueStory::record(), TrueStory::of_watches()] {
        let laws = observe(&story.stage.history.after(0)).unwrap_or_else(|broken| panic!("{broken}"));
        assert_eq!((story.stand(&laws, |_| ()), story.stand_deep(&laws)), (Ok(()), Ok(())));
        assert_eq!(reads_change_nothing(&story.handle), Ok(()));
    }
    let tables = WRONG_SIGHTS
        .iter()
        .chain(WRONG_AUTHORITY)
        .chain(WRONG_CALLS)
        .chain(WRONG_STANDINGS)
        .chain(WRONG_DELIVERIES)
        .chain(WRONG_CHECKS)
        .chain(WRONG_MEMORIES)
        .map(|(law, _)| *law);
    let in_code =
        ["limits_hold", "nothing_due_is_left", "fold_is_state", "everything_ends", "feed_tells_all"];
    let in_code = in_code.into_iter().chain(["a_parcel_is_the_same_at_each_attempt"]);
    // In `durable`, which has stores.
    let in_code = in_code.chain(["what_is_kept_is_there", "nothing_unkept_is_handed_over"]);
    let in_code = in_code.chain(["only_what_is_not_kept_is_retracted", "what_is_stored_is_loaded"]);
    let in_code = in_code.chain(["nothing_is_out_that_is_not_kept", "only_what_is_not_kept_is_taken_back"]);
    let in_code = in_code.chain(["what_is_refused_is_not_so"]);
    // Reads cannot change a state that they are lent: there is no wrong history for this one, short of `unsafe`.
    let unbreakable = ["reads_change_nothing"];
    let broken: BTreeSet<&str> = tables.chain(in_code).chain(unbreakable).collect();
    assert_eq!(broken, Laws::names().into_iter().collect());
}

/// A short life that every law has something to say about.
struct TrueStory {
    stage: Stage,
    handle: Handle,
}

impl TrueStory {
    fn record() -> TrueStory {
        let stage = Stage::seeded(7);
        let handle = Handle::new(stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL))));
        let away = handle.hosts().attach(Arc::new(SimHost::new(&stage, HostId::new(1))));
        let story = TrueStory { stage, handle };
        for (name, host) in [("home", HostId::LOCAL), ("away", away)] {
            let opened = story.handle.open_session(Some(session(name)), host, SessionConfig::default());
            assert!(opened.is_ok(), "{opened:?}");
        }
        story.create("prompt", "away", 1_000, false);
        story.create("answer", "away", 2_000, false);
        story.create("first", "home", 1_000, false);
        story.create("second", "home", 1_500, false);
        story.create("fresh", "home", 2_000, true);
        story.create("cancelled", "home", 2_000, false);
        let (scope, schedule) = (Scope::Session(session("home")), id("cancelled"));
        story.submit(Input::Command(Command::CancelSchedule(Which::any(scope.clone(), schedule.clone()))));
        story.stage.history.note(story.stage.clock.now(), Seen::CancelAcknowledged { scope, schedule });
        story.submit(Input::Report(Report::Busy { session: session("home"), busy: true, by: None }));
        story.pass(1_000);
        story.pass(1_500);
        story.submit(Input::Report(Report::Busy { session: session("home"), busy: false, by: None }));
        story.pass(1_000);
        // Waits for the turn that the last delivery is presumed to begin.
        story.create("reply", "away", 500, false);
        story.pass(500);
        story.create("later", "home", 60_000, false);
        story
    }

    fn create(&self, name: &str, owner: &str, delay_ms: u64, fresh: bool) {
        let text = name.into();
        let config = Arc::new(SessionConfig::default());
        self.submit(Input::Command(Command::CreateSchedule(NewSchedule {
            made_by: None,
            id: Some(id(name)),
            dialect: Dialect::Psi,
            durability: Durability::Volatile,
            label: None,
            owner: session(owner),
            when: When::After(Span::from_millis(delay_ms)),
            payload: if fresh { Payload::new_session(text, config) } else { Payload::Turn { text } },
            settings: None,
            session_live_max: 50,
        })));
    }

    fn user_speaks(&self) {
        self.submit(Input::Report(Report::UserMessage {
            session: session("home"),
            text: "a word".into(),
            by: None,
        }));
    }

    fn submit(&self, input: Input) {
        assert_eq!(self.handle.submit(input), Ok(()));
    }

    fn pass(&self, millis: u64) {
        self.stage.clock.advance(Span::from_millis(millis));
        self.handle.run_due();
    }

    fn stand(&self, laws: &Laws, spoil: impl Fn(&mut StateView<'_>)) -> Result<(), &'static str> {
        let now = self.stage.clock.now();
        self.handle.view(|state| {
            let mut standing = StateView { state, now, turned: true, session_live_max: None };
            spoil(&mut standing);
            laws.stand(&standing).map_err(|broken| broken.law)
        })
    }

    fn stand_deep(&self, laws: &Laws) -> Result<(), &'static str> {
        let now = self.stage.clock.now();
        self.handle.view(|state| {
            let standing = StateView { state, now, turned: true, session_live_max: None };
            laws.stand_deep(&standing).map_err(|broken| broken.law)
        })
    }
}

fn observe(history: &[Observation]) -> Result<Laws, reveille::testkit::Broken> {
    let mut laws = Laws::new();
    history.iter().try_for_each(|observation| laws.observe(observation))?;
    Ok(laws)
}

fn find(all: &[Observation], is: impl Fn(&Seen) -> bool) -> usize {
    all.iter().position(|observation| is(&observation.seen)).expect("the true story has one")
}

fn repeat(all: &mut Vec<Observation>, is: impl Fn(&Seen) -> bool) {
    let place = find(all, is);
    let again = all[place].clone();
    all.insert(place + 1, again);
}

fn remove(all: &mut Vec<Observation>, is: impl Fn(&Seen) -> bool) {
    all.remove(find(all, is));
}

/// One nanosecond too soon.
fn hasten(all: &mut [Observation], is: impl Fn(&Seen) -> bool) {
    let now = &mut all[find(all, is)].now;
    *now = Now { boot: BootTime::from_nanos(now.boot.nanos() - 1), ..*now };
}

fn acknowledged(all: &[Observation], name: &str) -> Observation {
    let seen = Seen::CancelAcknowledged { scope: Scope::Operator, schedule: id(name) };
    Observation { now: all[all.len() - 1].now, seen }
}

fn received_after_all(all: &[Observation], name: &str) -> Observation {
    let mut observation = all[find(all, |seen| is_received(seen, "first"))].clone();
    if let Seen::Received(reception) = &mut observation.seen {
        reception.run.schedule = id(name);
    }
    Observation { now: all[all.len() - 1].now, ..observation }
}

fn is_created(seen: &Seen, name: &str) -> bool {
    matches!(seen, Seen::Fact(Fact::Created { schedule, .. }) if schedule.id == id(name))
}

fn is_claimed(seen: &Seen, name: &str) -> bool {
    matches!(seen, Seen::Fact(Fact::Run(run, RunFact::Claimed { .. }, _)) if run.schedule == id(name))
}

fn is_dispatched(seen: &Seen, name: &str) -> bool {
    matches!(seen, Seen::Fact(Fact::Run(run, RunFact::Dispatched(_), _)) if run.schedule == id(name))
}

/// The run that was delivered ends in another way.
fn ends_otherwise(all: &mut [Observation], name: &str, end: RunFact) {
    let place = find(all, |seen| is_delivered(seen, name));
    if let Seen::Fact(Fact::Run(_, fact, _)) = &mut all[place].seen {
        *fact = end;
    }
}

fn is_delivered(seen: &Seen, name: &str) -> bool {
    matches!(seen, Seen::Fact(Fact::Run(run, RunFact::Delivered, _)) if run.schedule == id(name))
}

fn is_received(seen: &Seen, name: &str) -> bool {
    let Seen::Received(reception) = seen else { return false };
    reception.run.schedule == id(name) && reception.phase == Phase::PromptSubmit
}

fn session_fact(seen: &Seen) -> Option<&SessionFact> {
    if let Seen::Fact(Fact::Session(_, fact, _)) = seen { Some(fact) } else { None }
}

fn is_opened(fact: &SessionFact) -> bool {
    matches!(fact, SessionFact::Opened { .. })
}

fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("a name is an id")
}

fn id(name: &str) -> ScheduleId {
    ScheduleId::new(name).expect("a name is an id")
}
