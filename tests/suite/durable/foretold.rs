//! What the engine says of watches, of scheduled calls and of their bulletins: what is foretold is what then happens, and an
//! explanation, the accounts and a question about the past say of each what they say of any run.

use std::num::NonZeroU32;
use std::sync::Arc;

use reveille::domain::{
    Call, CallPurpose, Caller, Cause, Fact, Filter, GuardPolicy, HostId, Lifetime, Moment, NotifyWhen,
    Outcome, Payload, Policy, Rule, RuleScope, Ruling, RunFact, ScheduleFact, ScheduleId, Scope, SessionId,
    Settings, Sink, Span, Status, ToolName, Trigger, When, Zone,
};
use reveille::edn::{Map, Value};
use reveille::engine::{Command, ForecastQuery, Input, NewSchedule, Report, SlotOutcome, State, Which};
use reveille::port::Clock;
use reveille::testkit::{CallAnswer, Seen, SimExecutor, SimHost};

use super::lives::{ByHand, Lives, durable};
use super::past;
use super::watches::{live, run_for, watch_by};
use crate::simulated::ask;

/// When a slot was dealt with, and whether it was skipped.
type Entry = (Moment, bool);

/// What is foretold for so long.
fn said(lives: &Lives, life: &ByHand, millis: u64) -> Vec<Entry> {
    let now = lives.stage.clock.now();
    let to = now.wall.checked_add(Span::from_millis(millis)).expect("near");
    let ask = ForecastQuery { to, first: 1_000, ..ForecastQuery::of(&Scope::Operator, now.wall) };
    let forecast = life.handle.view(|state| state.forecast(&lives.stage.zones, now, &ask));
    forecast.slots.iter().map(|slot| (slot.at, slot.outcome == SlotOutcome::Skipped)).collect()
}

/// What has happened since this place of the history. A bulletin takes no slot.
fn happened(lives: &Lives, since: usize) -> Vec<Entry> {
    let entry = |(at, fact): (Moment, Fact)| match fact {
        Fact::Run(_, RunFact::Claimed(claim), _) => (claim.cause != Cause::Bulletin).then_some((at, false)),
        Fact::Schedule(_, fact) => matches!(fact, ScheduleFact::Skipped(_)).then_some((at, true)),
        Fact::Run(..)
        | Fact::Created { .. }
        | Fact::Session(..)
        | Fact::Host(..)
        | Fact::Channel(..)
        | Fact::Engine(_) => None,
    };
    let facts = lives.stage.history.after(since).into_iter().filter_map(|it| {
        let Seen::Fact(fact) = it.seen else { return None };
        Some((it.now.wall, fact))
    });
    facts.filter_map(entry).collect()
}

fn owner(life: &ByHand) -> SessionId {
    life.open(HostId::LOCAL)
}

fn start(life: &ByHand, owner: &SessionId, filter: Filter, change: impl FnOnce(&mut Settings)) {
    let mut new = watch_by(&life.handle, owner, "w", (filter, 30));
    change(new.settings.as_mut().expect("a watch has settings"));
    life.handle.schedule(new).expect("it is kept");
}

fn on_change() -> Filter {
    Filter::plain(NotifyWhen::OnChange)
}

fn plain(lives: &Lives) -> ByHand {
    let (life, _) = live(lives, &[200; 3]);
    start(&life, &owner(&life), on_change(), |_| ());
    life
}

/// Up to half as long again is waited, by chance.
fn jitter(lives: &Lives) -> ByHand {
    let (life, _) = live(lives, &[200; 3]);
    start(&life, &owner(&life), Filter { jitter: 500, ..on_change() }, |_| ());
    life
}

fn three_checks(lives: &Lives) -> ByHand {
    let (life, _) = live(lives, &[]);
    let lifetime = Lifetime { max_runs: NonZeroU32::new(3), ..Lifetime::PLAIN };
    start(&life, &owner(&life), on_change(), |settings| settings.lifetime = lifetime);
    life
}

/// The check of the time in which nobody looked is skipped, and the next one comes within an interval.
fn after_a_restart(lives: &Lives) -> ByHand {
    let mut life = plain(lives);
    run_for(lives, &mut life, 65_000);
    drop(life);
    lives.stage.clock.advance(Span::from_millis(300_000));
    live(lives, &[200]).0
}

/// A bulletin waits for the host of its session. No check waits for it.
fn bulletin_waits(lives: &Lives) -> ByHand {
    let (mut life, _) = live(lives, &[1, 2]);
    let host = life.handle.hosts().attach(Arc::new(SimHost::new(&lives.stage, HostId::new(1))));
    let owner = life.open(host);
    life.handle.hosts().detach(host);
    start(&life, &owner, Filter::plain(NotifyWhen::Always), |_| ());
    run_for(lives, &mut life, 35_000);
    life
}

/// A rule forbids the checks, so they fail, and it is waited longer and longer.
fn refused(lives: &Lives) -> ByHand {
    let (life, _) = live(lives, &[]);
    let owner = owner(&life);
    let of = RuleScope { sessions: vec![owner.clone()], ..RuleScope::default() };
    let rule = Rule { name: "never".into(), of, then: Ruling::Refuse, why: None };
    let policy = GuardPolicy { rules: vec![rule], approval: None, asks: None };
    let by = Scope::Operator.into();
    let guard = Command::SetGuard { policy: Some(Arc::new(policy)), by };
    life.handle.submit(Input::Command(guard)).expect("an operator may");
    start(&life, &owner, Filter { backoff: Some(Span::from_millis(200_000)), ..on_change() }, |_| ());
    life
}

/// What passed during a pause is not made up for.
fn resumed(lives: &Lives) -> ByHand {
    let mut life = plain(lives);
    let which = || Which::any(Scope::Operator, ScheduleId::new("w").expect("an id"));
    let pause = Command::PauseSchedule { which: which(), reason: None };
    life.handle.submit(Input::Command(pause)).expect("it runs");
    run_for(lives, &mut life, 100_000);
    life.handle.submit(Input::Command(Command::ResumeSchedule(which()))).expect("it is paused");
    life
}

/// A call by the calendar.
fn every_minute(lives: &Lives) -> ByHand {
    let (life, _) = live(lives, &[]);
    let cron = reveille::calendar::parse_cron("* * * * *").expect("sound");
    let new = NewSchedule {
        id: Some(ScheduleId::new("job").expect("an id")),
        payload: Payload::Call(Box::new(job_call("http.get"))),
        ..NewSchedule::message(owner(&life), When::By(Trigger::Cron(cron.into(), Zone::Utc.into())), "")
    };
    life.handle.schedule(durable(new)).expect("it is kept");
    life
}

fn job_call(tool: &str) -> Call {
    let tool = ToolName::new(tool).expect("a name");
    Call { purpose: CallPurpose::Job, sink: Sink::Session, ..Call::new(tool, Map::new()) }
}

type Row = (&'static str, fn(&Lives) -> ByHand, usize);

/// What there is, and how many slots it has in four minutes at least.
const ROWS: &[Row] = &[
    ("a watch", plain, 7),
    ("intervals that vary", jitter, 5),
    ("three checks", three_checks, 3),
    ("after a restart", after_a_restart, 8),
    ("a bulletin that waits", bulletin_waits, 7),
    ("refused checks", refused, 3),
    ("a resume", resumed, 7),
    ("a scheduled call", every_minute, 3),
];

#[test]
fn a_forecast_of_calls_is_what_then_happens() {
    for (name, set_up, least) in ROWS {
        let lives = Lives::new();
        let mut life = set_up(&lives);
        let said = said(&lives, &life, 240_500);
        let since = lives.stage.history.len();
        run_for(&lives, &mut life, 240_499);
        assert_eq!(said, happened(&lives, since), "{name}");
        assert!(said.len() >= *least, "{name}: {said:?}");
    }
}

/// What a schedule and its runs are, without what waits for something.
const STANDING: &str = "[{:psi.scheduler/schedules [:psi.scheduler/schedule-id :psi.scheduler/status \
    :psi.scheduler/run-count :psi.scheduler/delivered-count {:psi.scheduler/runs [:reveille.run/id :reveille.run/cause \
    :reveille.run/state :reveille.run/delivered-at]}]}]";

/// A scheduled call and its bulletin, stage by stage: what the accounts and an explanation say, and whether a later question
/// about the past is answered as it was seen, also in the next life.
#[test]
fn a_call_and_its_bulletin_are_told_as_any_run_is() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let executor = Arc::new(SimExecutor::scripted(&lives.stage).with("ci.build"));
    executor.serve(&life.handle);
    let fine = Outcome::of_value(Map::new().with("exit", 0).into(), 10, Span::from_millis(20));
    executor.script(CallAnswer::After(Span::from_millis(5_000), fine));
    let host = life.handle.hosts().attach(Arc::new(SimHost::new(&lives.stage, HostId::new(1))));
    let owner = life.open(host);
    let busy = |life: &ByHand, busy: bool| {
        let report = Report::Busy { session: owner.clone(), busy, by: None };
        life.handle.submit(Input::Report(report)).expect("it is open");
    };
    busy(&life, true);
    let policy = Policy { timeout: Some(Span::from_millis(60_000)), ..Policy::PLAIN };
    let new = NewSchedule {
        id: Some(ScheduleId::new("job").expect("an id")),
        payload: Payload::Call(Box::new(job_call("ci.build"))),
        settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
        ..NewSchedule::message(owner.clone(), When::After(Span::from_millis(10_000)), "")
    };
    life.handle.schedule(durable(new)).expect("it is kept");
    let explain = "[{(:reveille/explain {:schedule-id \"job\"}) [:reveille.explanation/verdict]}]";
    let mut seen: Vec<(Moment, String)> = Vec::new();
    let mut look = |life: &mut ByHand, (delivered, pending): (u64, u64), verdict: &str| {
        life.turn();
        let ledger = life.handle.view(State::ledger);
        let accounts = (ledger.delivered, ledger.pending, ledger.imbalance());
        assert_eq!(accounts, (delivered, pending, 0), "{verdict}");
        let told = ask(&life.handle, &Caller::OPERATOR, explain, false);
        assert!(told.contains(&format!(":reveille.explanation/verdict :{verdict}")), "{verdict}: {told}");
        let standing = Value::Map(past::ask(&life.handle, STANDING, None)).to_string();
        seen.push((lives.stage.clock.now().wall, standing));
        lives.stage.clock.advance(Span::from_millis(1));
    };
    look(&mut life, (0, 1), "will-fire");
    run_for(&lives, &mut life, 10_000);
    look(&mut life, (0, 1), "running");
    run_for(&lives, &mut life, 5_000);
    executor.answer_due();
    // The slot's call is over; its bulletin waits for the session.
    look(&mut life, (1, 1), "delivered");
    busy(&life, false);
    look(&mut life, (2, 0), "delivered");
    for _ in 0..2 {
        for (at, standing) in &seen {
            let told = Value::Map(past::ask(&life.handle, STANDING, Some(*at))).to_string();
            assert_eq!(told, *standing, "as of {at}");
        }
        drop(life);
        life = ByHand::new(&lives);
        life.turn();
    }
}

/// The accounts of a watch count each check and each bulletin once, and an explanation of a check says what was told.
#[test]
fn the_checks_and_bulletins_of_a_watch_are_accounted_for() {
    let lives = Lives::new();
    let (mut life, _) = live(&lives, &[200, 200, 503]);
    let owner = owner(&life);
    start(&life, &owner, on_change(), |_| ());
    for (seconds, delivered) in [(1, 0), (30, 1), (30, 2), (30, 4)] {
        run_for(&lives, &mut life, seconds * 1_000);
        let ledger = life.handle.view(State::ledger);
        // The next check is pending.
        assert_eq!((ledger.delivered, ledger.pending, ledger.imbalance()), (delivered, 1, 0), "{seconds}");
    }
    let now = lives.stage.clock.now().wall;
    let explain = |ago: u64| {
        let at = now.checked_sub(Span::from_millis(ago * 1_000)).expect("in range");
        let asked = format!(
            "[{{(:reveille/explain {{:schedule-id \"w\" :at \"{at}\"}}) \
              [:reveille.explanation/verdict :reveille.explanation/sentence]}}]"
        );
        ask(&life.handle, &Caller::OPERATOR, &asked, false)
    };
    let (silent, told) = (explain(31), explain(1));
    assert!(
        silent.contains("verdict :delivered") && silent.contains("there was nothing to tell"),
        "{silent}"
    );
    assert!(told.contains("verdict :delivered") && !told.contains("nothing to tell"), "{told}");
    let next = ask(
        &life.handle,
        &Caller::OPERATOR,
        "[{(:reveille/explain {:schedule-id \"w\"}) [:reveille.explanation/verdict]}]",
        false,
    );
    assert!(next.contains(":will-fire"), "{next}");
}

/// A watch whose lifetime ends during a pause ends when it is resumed: it has no slot that never comes.
#[test]
fn a_watch_that_is_resumed_after_its_end_has_ended() {
    let lives = Lives::new();
    let (mut life, _) = live(&lives, &[]);
    let owner = owner(&life);
    let end = lives.stage.clock.now().wall.checked_add(Span::from_millis(60_000));
    start(&life, &owner, on_change(), |settings| settings.lifetime.expires_at = end);
    let id = ScheduleId::new("w").expect("an id");
    let which = || Which::any(Scope::Operator, id.clone());
    let pause = Command::PauseSchedule { which: which(), reason: None };
    life.handle.submit(Input::Command(pause)).expect("it runs");
    run_for(&lives, &mut life, 100_000);
    life.handle.submit(Input::Command(Command::ResumeSchedule(which()))).expect("it is paused");
    run_for(&lives, &mut life, 100_000);
    assert_eq!(life.status(&id), Some(Status::Finished));
    let ledger = life.handle.view(State::ledger);
    assert_eq!((ledger.pending, ledger.imbalance()), (0, 0));
}
