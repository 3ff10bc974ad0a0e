//! Commands that the store could not commit: who gave them was told that nothing was changed, and so it is at once, and not only
//! when the store works again.

use std::sync::Arc;

use reveille::domain::{
    Cursor, Fact, Grant, GrantChange, GuardPolicy, HostId, MemoryChange, PingName, Policy, Refusal, Right,
    ScheduleId, Scope, SessionConfig, SessionId, Settings, Span, Status,
};
use reveille::engine::{
    Command, Holds, Input, LocalFact, NewSchedule, ScheduleChange, ScheduleRecord, State, Undo, Which,
};
use reveille::port::Clock as _;
use reveille::testkit::{Behaviour, Broken, DiskFault, Laws, Observation, Seen, StateView};

use super::lives::{ByHand, Lives, durable, every, message};

/// Two schedules that are kept, one of them paused, and the commands that a full disk refuses, one at a time.
#[test]
fn nothing_that_was_refused_is_so_while_the_store_fails() {
    for number in 0..refused(&owner()).len() {
        let lives = Lives::new();
        let mut life = ByHand::new(&lives);
        prepare(&lives, &life);
        let command = refused(&owner()).swap_remove(number);
        let (before, told) = (standing(&life), format!("{command:?}"));
        lives.store.fail_as(DiskFault::Full);
        assert!(life.ask(command).wait().is_err(), "{told}");
        assert_ne!(standing(&life), before, "{told} was decided");
        life.answers.publish();
        assert_eq!(standing(&life), before, "{told}");
        assert_eq!(life.handle.view(State::ledger).imbalance(), 0, "{told}");
        lives.store.heal();
        life.answers.retry().expect("the store is well");
        assert_eq!(standing(&life), before, "{told}");
        assert_eq!(life.handle.view(State::ledger).imbalance(), 0, "{told}");
    }
}

#[test]
fn of_several_changes_the_first_is_taken_back_with_the_rest() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    prepare(&lives, &life);
    let before = standing(&life);
    lives.store.hold();
    let refused: Vec<_> = refused(&owner()).into_iter().filter(|command| !ends(command)).collect();
    let refused: Vec<_> = refused.into_iter().map(|command| life.ask(command)).collect();
    lives.store.fail_as(DiskFault::Full);
    lives.store.release();
    assert!(refused.into_iter().all(|ticket| ticket.wait().is_err()), "none is on disk");
    life.answers.publish();
    assert_eq!(standing(&life), before);
    assert_eq!(life.handle.view(State::ledger).imbalance(), 0);
}

/// What is refused does not hold up what needs no disk.
#[test]
fn a_refused_hold_holds_nothing() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let owner = life.open(HostId::LOCAL);
    life.handle.schedule(message(&owner, 1_000)).expect("it needs no store");
    lives.store.fail_as(DiskFault::Full);
    assert!(life.ask(Command::HoldAll { by: Scope::Operator.into(), reason: None }).wait().is_err());
    life.answers.publish();
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.turn();
    assert_eq!(life.received().len(), 1);
}

/// A grant of nothing ends the session's token, once it is on disk and not before.
#[test]
fn a_refused_grant_leaves_the_token() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let opened = life.handle.open_session(None, HostId::LOCAL, SessionConfig::default());
    let (owner, token) = opened.expect("a new engine has room");
    life.ask(Command::CreateSchedule(durable(message(&owner, 60_000)))).wait().expect("it is kept");
    let grant = |life: &ByHand| {
        let nothing = Grant { right: None, ..Grant::FULL };
        life.handle.sessions().grant(&owner, nothing, Scope::Operator)
    };
    let has_token = |life: &ByHand| life.handle.tokens().session(&token) == Some(owner.clone());
    lives.store.fail_as(DiskFault::Full);
    // The first one finds out that the disk is full, and the second is refused for that.
    for _ in 0..2 {
        let said = grant(&life);
        assert!(matches!(said, Err(Refusal::StoreUnavailable { .. })), "{said:?}");
        assert!(has_token(&life), "nothing has changed");
        life.answers.publish();
    }
    lives.store.heal();
    life.answers.retry().expect("the store is well");
    assert!(has_token(&life));
    drop(life);
    let life = ByHand::new(&lives);
    assert!(has_token(&life), "nor on disk");
    grant(&life).expect("the store is well");
    assert!(!has_token(&life));
    drop(life);
    assert!(!has_token(&ByHand::new(&lives)), "it is on disk");
}

/// Its lane is taken: to put the schedule back would free it. So this waits for the store.
#[test]
fn a_schedule_with_a_run_at_its_host_is_put_right_when_the_store_works() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let owner = life.open(HostId::LOCAL);
    life.host.behave(&[(Behaviour::Slow, 1)]);
    let new = durable(every(&lives.stage, &owner, 60_000, Policy::PLAIN));
    let again = ScheduleId::new("again").expect("an id");
    life.ask(Command::CreateSchedule(NewSchedule { id: Some(again.clone()), ..new }))
        .wait()
        .expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(60_000));
    life.turn();
    assert_eq!(life.received().len(), 1);
    lives.store.fail_as(DiskFault::Full);
    assert!(life.ask(Command::CancelSchedule(Which::any(Scope::Operator, again.clone()))).wait().is_err());
    life.answers.publish();
    life.turn();
    let receipt = life.host.take_receipt(0).expect("it is owed");
    life.handle.submit(Input::Report(receipt)).expect("it is waited for");
    lives.store.heal();
    life.answers.retry().expect("the store is well");
    life.turn();
    assert_eq!(life.status(&again), Some(Status::Pending));
    assert_eq!(life.received().len(), 1, "its receipt counts");
    assert_eq!(life.handle.view(State::ledger).imbalance(), 0);
}

/// The write of a creation that failed may have reached the disk: when the store works again, the schedule is there.
#[test]
fn the_id_of_what_may_be_on_disk_is_not_given_away() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let owner = life.open(HostId::LOCAL);
    let id = ScheduleId::new("once").expect("an id");
    let new = || NewSchedule { id: Some(id.clone()), ..message(&owner, 60_000) };
    lives.store.fail_as(DiskFault::Unflushed);
    assert!(life.ask(Command::CreateSchedule(durable(new()))).wait().is_err());
    life.answers.publish();
    assert_eq!(life.status(&id), None);
    let said = life.handle.schedule(new());
    assert!(matches!(said, Err(Refusal::ScheduleExists { .. })), "{said:?}");
    life.answers.retry().expect("the store is well");
    let is_durable = |record: &ScheduleRecord| record.schedule().is_durable();
    assert_eq!(life.handle.view(|state| state.schedule(&id).map(is_durable)), Some(true));
}

#[test]
fn the_laws_see_what_is_so_though_it_was_refused() {
    check("what_is_refused_is_not_so", &[frozen()]);
    let holds = Undo::Holds(Holds::default());
    check("only_what_is_not_kept_is_taken_back", &[Seen::Local(LocalFact::TakenBack(holds)), frozen()]);
}

/// An engine whose store has failed under a creation, and the laws after this is seen of it instead of what it did.
fn check(law: &str, seen: &[Seen]) {
    let lives = Lives::new();
    let life = ByHand::new(&lives);
    prepare(&lives, &life);
    let (now, mut laws) = (lives.stage.clock.now(), Laws::new());
    laws.know_kept(Cursor::START);
    let all = lives.stage.history.after(0);
    let created =
        all.iter().position(|it| matches!(it.seen, Seen::Fact(Fact::Created { .. }))).expect("there is");
    let failed = Seen::DiskFailed { kept: Cursor::START };
    let more = std::iter::once(&failed).chain(seen).map(|seen| Observation { now, seen: seen.clone() });
    let mut story = all.into_iter().take(created + 1).chain(more);
    let observed = story.try_for_each(|seen| laws.observe(&seen));
    let standing = |laws: &Laws| -> Result<(), Broken> {
        life.handle.view(|state| laws.stand(&StateView { state, now, turned: false, session_live_max: None }))
    };
    let broken = observed.and_then(|()| standing(&laws)).expect_err(law);
    assert_eq!(broken.law, law, "{broken}");
}

fn frozen() -> Seen {
    Seen::Local(LocalFact::DurableFrozen { why: "full".into() })
}

fn owner() -> SessionId {
    SessionId::new("main").expect("an id")
}

fn id(name: &str) -> ScheduleId {
    ScheduleId::new(name).expect("an id")
}

/// What everything starts from, all of it on disk.
fn prepare(lives: &Lives, life: &ByHand) {
    let session = Some(owner());
    let opened = life.handle.open_session(session, HostId::LOCAL, SessionConfig::default());
    assert!(opened.is_ok(), "{opened:?}");
    let settings = Some(Box::new(Settings { key: Some("build-7".into()), ..Settings::PLAIN }));
    let once = durable(NewSchedule { id: Some(id("once")), settings, ..message(&owner(), 60_000) });
    let again = durable(every(&lives.stage, &owner(), 60_000, Policy::PLAIN));
    let again = NewSchedule { id: Some(id("again")), ..again };
    let paused = durable(NewSchedule { id: Some(id("paused")), ..message(&owner(), 60_000) });
    for new in [once, again, paused] {
        life.ask(Command::CreateSchedule(new)).wait().expect("it is kept");
    }
    let which = Which::any(Scope::Operator, id("paused"));
    life.ask(Command::PauseSchedule { which, reason: None }).wait().expect("it is kept");
    let ping = Command::Ping { session: owner(), name: PingName::new("backup").expect("a name"), by: None };
    life.ask(ping).wait().expect("it is kept");
    lives.stage.clock.advance(Span::from_millis(1_000));
}

/// A command of each kind that the disk can refuse.
fn refused(owner: &SessionId) -> Vec<Command> {
    let by = || Scope::Operator.into();
    let which = |name| Which::any(Scope::Operator, id(name));
    let change = ScheduleChange { text: Some("another".into()), ..ScheduleChange::default() };
    let settings = Some(Box::new(Settings { key: Some("build-7".into()), ..Settings::PLAIN }));
    let content = "the build is red".into();
    let policy = GuardPolicy { rules: Vec::new(), approval: None, asks: None };
    let grant = Grant { right: Some(Right::Read), ..Grant::FULL };
    vec![
        Command::CreateSchedule(durable(message(owner, 60_000))),
        Command::ReplaceSchedule(durable(NewSchedule { settings, ..message(owner, 90_000) })),
        Command::Supersede {
            new: durable(NewSchedule { id: Some(id("once")), ..message(owner, 90_000) }),
            of: None,
        },
        Command::CancelSchedule(which("once")),
        Command::CancelSchedule(which("again")),
        Command::DeleteSchedule(which("paused")),
        Command::ChangeSchedule { which: which("again"), change: Box::new(change) },
        Command::PauseSchedule { which: which("again"), reason: None },
        Command::ResumeSchedule(which("paused")),
        Command::RunNow { which: which("again"), keeps_slot: false },
        Command::SkipNext(which("again")),
        Command::HoldAll { by: by(), reason: None },
        Command::SetGuard { policy: Some(Arc::new(policy)), by: by() },
        Command::SetGrant { session: owner.clone(), grant, by: by() },
        Command::ChangeGrant {
            session: owner.clone(),
            change: GrantChange { depth: Some(0), ..GrantChange::default() },
            by: by(),
        },
        Command::ChangeMemory {
            session: owner.clone(),
            change: MemoryChange::Remembered { content },
            by: None,
        },
        Command::Ping { session: owner.clone(), name: PingName::new("nightly").expect("a name"), by: None },
    ]
}

/// Whether no other change of the table can follow this one.
fn ends(command: &Command) -> bool {
    matches!(
        command,
        Command::ReplaceSchedule(_)
            | Command::CancelSchedule(_)
            | Command::DeleteSchedule(_)
            | Command::SetGrant { .. }
            | Command::ChangeGrant { .. }
    )
}

/// All that is stored, as memory has it.
fn standing(life: &ByHand) -> String {
    life.handle.view(|state| {
        let rows = state.schedules().into_iter().map(|it| state.schedule_row(&it.schedule().id));
        let rows: Vec<_> = rows.collect();
        let settings = (state.holds(), state.guard(), state.grants(), state.live_count());
        format!("{rows:#?}\n{settings:#?}\n{:#?}", state.session_row(&owner()))
    })
}
