//! What came due while no process was there comes out in the order of its instants, as in a process that slept.

use std::sync::Arc;

use reveille::domain::{
    BootTime, Fact, HostId, Now, Policy, RunFact, ScheduleFact, ScheduleId, Scope, SessionConfig, Span,
};
use reveille::engine::{ForecastQuery, NewSchedule, SlotOutcome};
use reveille::port::Clock;
use reveille::testkit::{Seen, SimClock, SimHost};

use super::lives::{ByHand, Lives, durable, every};
use super::watches::run_for;

/// What became of runs and slots since this place of the history, in order.
fn became(lives: &Lives, since: usize) -> Vec<&'static str> {
    let word = |fact: Fact| match fact {
        Fact::Run(_, RunFact::Claimed(_), _) => Some("claimed"),
        Fact::Run(_, RunFact::Failed(failure), _) => Some(failure.reason.name()),
        Fact::Schedule(_, ScheduleFact::Skipped(skip)) => Some(skip.reason.name()),
        Fact::Run(..)
        | Fact::Created { .. }
        | Fact::Schedule(..)
        | Fact::Session(..)
        | Fact::Host(..)
        | Fact::Channel(..)
        | Fact::Engine(_) => None,
    };
    let seen = lives.stage.history.after(since).into_iter();
    seen.filter_map(|it| if let Seen::Fact(fact) = it.seen { word(fact) } else { None }).collect()
}

/// A job of each ten seconds, whose first run waits for a host that is gone and may take so long. The process ends a second
/// after its slot.
fn cut_off(timeout_ms: u64) -> Lives {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let host = life.handle.hosts().attach(Arc::new(SimHost::new(&lives.stage, HostId::new(1))));
    let (owner, _) = life.handle.open_session(None, host, SessionConfig::default()).expect("there is room");
    life.handle.hosts().detach(host);
    let policy = Policy { timeout: Some(Span::from_millis(timeout_ms)), ..Policy::PLAIN };
    let job = every(&lives.stage, &owner, 10_000, policy);
    let id = Some(ScheduleId::new("job").expect("an id"));
    life.handle.schedule(durable(NewSchedule { id, ..job })).expect("it is kept");
    run_for(&lives, &mut life, 11_000);
    lives
}

/// What is foretold of the slots that are overdue.
fn foretold(lives: &Lives, life: &ByHand) -> Option<SlotOutcome> {
    let now = lives.stage.clock.now();
    let ask = ForecastQuery::of(&Scope::Operator, now.wall);
    let forecast = life.handle.view(|state| state.forecast(&lives.stage.zones, now, &ask));
    forecast.slots.first().map(|slot| slot.outcome)
}

/// When a run's time is up and when the next slot comes, both in a time without a process; also if the machine was off as well,
/// so that its boot clock does not reach back that far.
#[test]
fn a_time_that_is_up_before_a_slot_makes_room_for_it() {
    const ROWS: &[(u64, u64, [&str; 2], SlotOutcome)] = &[
        (2_000, 13_500, ["timed-out", "claimed"], SlotOutcome::Waits),
        (5_000, 65_000, ["timed-out", "claimed"], SlotOutcome::Waits),
        // At the same instant the run ends first.
        (10_000, 13_500, ["timed-out", "claimed"], SlotOutcome::Waits),
        (12_000, 13_500, ["overlap", "timed-out"], SlotOutcome::Skipped),
    ];
    for (timeout, down, expected, outcome) in ROWS {
        for is_machine_anew in [false, true] {
            let mut lives = cut_off(*timeout);
            lives.stage.clock.advance(Span::from_millis(*down));
            let wall = lives.stage.clock.now().wall;
            if is_machine_anew {
                let boot = BootTime::from_nanos(1_000_000);
                lives.stage.clock = Arc::new(SimClock::starting_at(Now { wall, boot }));
            }
            let since = lives.stage.history.len();
            let mut life = ByHand::new(&lives);
            if !is_machine_anew {
                assert_eq!(foretold(&lives, &life), Some(*outcome), "a timeout of {timeout} ms");
            }
            life.turn();
            assert_eq!(became(&lives, since), expected, "a timeout of {timeout} ms, {is_machine_anew}");
        }
    }
}
