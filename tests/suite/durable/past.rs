//! What is told of the past is what was told then: the same question, asked at an instant and as of it later.

use reveille::domain::{Caller, DecisionKind, Moment, Policy, ScheduleId, Scope, Span};
use reveille::edn::{Map, Value};
use reveille::engine::{Command, Input, Which};
use reveille::graph::eql::{QueryAnswer, QueryRefusal};
use reveille::port::Clock;
use reveille::runtime::Handle;
use reveille::service::Service;

use super::lives::{Life, Lives, every, message};

/// Everything that is kept of schedules, as an operator asks for it.
pub(super) const ALL: &str = "[:reveille.engine/held {:psi.agent-session/sessions [:psi.agent-session/session-id]} \
    {:psi.scheduler/schedules [:psi.scheduler/schedule-id :psi.scheduler/status :psi.scheduler/next-fire-at \
        :psi.scheduler/revision :psi.scheduler/incarnation :psi.scheduler/paused? :psi.scheduler/run-count \
        :psi.scheduler/delivered-count :psi.scheduler/skipped-count :psi.scheduler/trigger :psi.scheduler/message \
        {:psi.scheduler/runs [:reveille.run/id :reveille.run/state :reveille.run/reason :reveille.run/delivered-at]}]}]";

pub(super) fn ask(handle: &Handle, query: &str, as_of: Option<Moment>) -> Map {
    try_ask(handle, query, as_of).expect("within bounds")
}

/// The answer, or why there is none.
pub(super) fn try_ask(handle: &Handle, query: &str, as_of: Option<Moment>) -> Result<Map, QueryRefusal> {
    let as_of = as_of.map(|at| format!(" :reveille/as-of \"{at}\"")).unwrap_or_default();
    let text = format!("{{:pathom/eql {query}{as_of}}}");
    let prepared = Service::new(handle.clone()).prepare(&Caller::OPERATOR, text.as_bytes()).expect("a query");
    match Service::new(handle.clone()).run(&Caller::OPERATOR, &prepared, false)? {
        QueryAnswer::Done(map) => Ok(map),
        QueryAnswer::Failed(failure) => unreachable!("{failure:?}"),
    }
}

/// What was seen, and when.
#[derive(Default)]
struct Seen(Vec<(Moment, Map)>);

impl Seen {
    /// Looks, and lets a little time pass, so that what comes next is not of this instant.
    fn look(&mut self, lives: &Lives, life: &Life) {
        self.0.push((lives.stage.clock.now().wall, ask(&life.handle, ALL, None)));
        lives.stage.clock.advance(Span::from_millis(1));
    }

    #[track_caller]
    fn check(&self, life: &Life) {
        for (at, seen) in &self.0 {
            let told = ask(&life.handle, ALL, Some(*at));
            assert_eq!(Value::Map(told).to_string(), Value::Map(seen.clone()).to_string(), "as of {at}");
        }
    }
}

fn submit(life: &Life, command: Command) {
    life.handle.submit(Input::Command(command)).expect("it can be done");
}

fn which(id: &ScheduleId) -> Which {
    Which::any(Scope::Operator, id.clone())
}

#[test]
fn what_was_is_told_as_it_was_seen() {
    let (lives, mut seen) = (Lives::new(), Seen::default());
    let mut life = lives.next(0);
    seen.look(&lives, &life);
    let owner = life.open("one");
    let other = life.open("two");
    let once = life.create(message(&owner, 90_000)).expect("it is kept");
    let repeated = life.create(every(&lives.stage, &other, 60_000, Policy::PLAIN)).expect("it is kept");
    seen.look(&lives, &life);
    // In the second minute, what comes once does.
    for deliveries in [1, 2, 1] {
        lives.stage.clock.advance(Span::from_millis(60_000));
        life.handle.run_due();
        for _ in 0..deliveries {
            life.await_kind(DecisionKind::RunDelivered);
        }
        seen.look(&lives, &life);
    }
    submit(&life, Command::PauseSchedule { which: which(&repeated), reason: Some("the night".into()) });
    seen.look(&lives, &life);
    drop(life);
    lives.stage.clock.advance(Span::from_millis(200_000));
    let mut life = lives.next(0);
    seen.look(&lives, &life);
    submit(&life, Command::ResumeSchedule(which(&repeated)));
    life.handle.run_due();
    life.await_kind(DecisionKind::RunDelivered);
    seen.look(&lives, &life);
    submit(&life, Command::HoldAll { by: Scope::Operator.into(), reason: Some("a look".into()) });
    seen.look(&lives, &life);
    submit(&life, Command::ReleaseAll { by: Scope::Operator.into() });
    submit(&life, Command::SkipNext(which(&repeated)));
    seen.look(&lives, &life);
    submit(&life, Command::RunNow { which: which(&repeated), keeps_slot: true });
    life.await_kind(DecisionKind::RunDelivered);
    seen.look(&lives, &life);
    submit(&life, Command::DeleteSchedule(which(&once)));
    seen.look(&lives, &life);
    life.handle.close_session(&other).expect("it is open");
    seen.look(&lives, &life);
    seen.check(&life);
    drop(life);
    let life = lives.next(0);
    seen.check(&life);
    let untold =
        |at| ask(&life.handle, "[:reveille.engine/untold]", at).keyword("reveille.engine/untold").cloned();
    assert_eq!(untold(Some(seen.0[4].0)), Some(Value::Int(0)));
    assert_eq!(untold(None), Some(Value::Nil));
}

#[test]
fn a_long_life_is_told_from_where_the_history_begins() {
    let (lives, mut seen) = (Lives::new(), Seen::default());
    let mut life = lives.next(0);
    let owner = life.open("one");
    let id = life.create(every(&lives.stage, &owner, 60_000, Policy::PLAIN)).expect("it is kept");
    for minute in 0..1_200 {
        lives.stage.clock.advance(Span::from_millis(60_000));
        life.handle.run_due();
        life.await_kind(DecisionKind::RunDelivered);
        if minute % 100 == 50 {
            seen.look(&lives, &life);
        }
    }
    let told: Vec<bool> = seen
        .0
        .iter()
        .map(|(at, seen)| {
            let told = ask(&life.handle, ALL, Some(*at));
            let untold = ask(&life.handle, "[:reveille.engine/untold]", Some(*at));
            let untold = untold.keyword("reveille.engine/untold").cloned();
            let is_told = told == *seen;
            assert_eq!(untold, Some(Value::Int(i64::from(!is_told))), "as of {at}: told or counted");
            if !is_told {
                let schedules = told.keyword("psi.scheduler/schedules").and_then(Value::as_items);
                assert_eq!(schedules.map(<[Value]>::len), Some(0), "as of {at}: nothing half told");
            }
            is_told
        })
        .collect();
    // A thousand facts are kept, three a run, and each 64th run bears all of the schedule.
    let first = told.iter().position(|told| *told).expect("something is told");
    assert!(told[first..].iter().all(|told| *told), "{told:?}");
    assert!((8..=10).contains(&first), "{told:?}");
    assert!(life.handle.view(|state| state.schedule(&id).is_some()));
}

#[test]
fn the_past_is_read_only_and_must_have_been() {
    let lives = Lives::new();
    let life = lives.next(0);
    let refused = |query: &str, at: Moment| {
        let text = format!("{{:pathom/eql {query} :reveille/as-of \"{at}\"}}");
        let prepared =
            Service::new(life.handle.clone()).prepare(&Caller::OPERATOR, text.as_bytes()).expect("a query");
        match Service::new(life.handle.clone()).run(&Caller::OPERATOR, &prepared, false) {
            Ok(QueryAnswer::Failed(failure)) => failure.error.expect("it says why").message,
            Ok(QueryAnswer::Done(map)) => unreachable!("{map:?}"),
            Err(refusal) => refusal.to_string(),
        }
    };
    let now = lives.stage.clock.now().wall;
    let later = now.checked_add(Span::from_millis(1)).expect("in range");
    assert_eq!(
        refused("[(psi.scheduler/hold-all {})]", now),
        "what was cannot be changed; ask without an instant in the past"
    );
    assert!(life.handle.view(|state| state.held().is_none()));
    assert_eq!(
        refused("[:reveille.engine/now]", later),
        format!("the past cannot be queried: {later} has not come yet")
    );
    let error =
        Service::new(life.handle.clone()).prepare(&Caller::OPERATOR, b"{:pathom/eql [:a] :reveille/as-of 7}");
    let error = error.err().expect("no instant").to_string();
    assert_eq!(
        error,
        "the instant to query is #inst or an ISO string, not an integer: 7, at [:reveille/as-of]"
    );
}

/// The verdict about a schedule at an instant.
fn verdict(life: &Life, id: &ScheduleId, at: Moment) -> String {
    let query = format!(
        "[{{(:reveille/explain {{:schedule-id \"{id}\" :at \"{at}\"}}) [:reveille.explanation/verdict \
         :reveille.explanation/reason]}}]"
    );
    let answer = ask(&life.handle, &query, None);
    answer.keyword("reveille/explain").expect("an answer").to_string()
}

#[test]
fn an_earlier_life_is_explained() {
    let lives = Lives::new();
    let mut life = lives.next(0);
    let owner = life.open("one");
    let start = lives.stage.clock.now().wall;
    let id = life.create(every(&lives.stage, &owner, 60_000, Policy::PLAIN)).expect("it is kept");
    let at = |minutes: u64| start.checked_add(Span::from_millis(60_000 * minutes)).expect("in range");
    for _ in 0..40 {
        lives.stage.clock.advance(Span::from_millis(60_000));
        life.handle.run_due();
        life.await_kind(DecisionKind::RunDelivered);
    }
    submit(&life, Command::SkipNext(which(&id)));
    let known = [1, 5, 20, 40, 41].map(|minute| verdict(&life, &id, at(minute)));
    assert!(known[0].contains(":delivered") && known[4].contains(":skipped"), "{known:?}");
    drop(life);
    let life = lives.next(0);
    assert_eq!(
        [1, 5, 20, 40, 41].map(|minute| verdict(&life, &id, at(minute))),
        known,
        "in the next life too"
    );
    submit(&life, Command::DeleteSchedule(which(&id)));
    drop(life);
    let life = lives.next(0);
    assert_eq!(verdict(&life, &id, at(5)), known[1], "when it is gone itself, too");
}
