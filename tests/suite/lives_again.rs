//! A schedule that has ended and lives again by a change counts like a new one: in the chain of the turn that changes it, and in
//! the room of its family.

use std::num::NonZeroU32;

use reveille::domain::{Durability, Lifetime, Refusal, ScheduleId, Scope, SessionId, Settings, Span, When};
use reveille::engine::{Command, Input, NewSchedule, ScheduleChange, SessionRecord, Which};
use reveille::limits;
use reveille::runtime::Handle;

use crate::simulated::{self, ask, session, token};
use crate::watching::Scene;

/// A durable schedule of a session that comes each minute, once in all.
fn once(owner: &SessionId) -> NewSchedule {
    let lifetime = Lifetime { max_runs: NonZeroU32::new(1), ..Lifetime::PLAIN };
    NewSchedule {
        durability: Durability::Durable,
        settings: Some(Box::new(Settings { lifetime, ..Settings::PLAIN })),
        ..NewSchedule::message(owner.clone(), When::Each(Span::from_millis(60_000)), "m")
    }
}

fn has_ended(handle: &Handle, id: &ScheduleId) -> bool {
    handle.view(|state| state.schedule(id).is_some_and(|record| record.status().is_terminal()))
}

/// A session may let its schedule run once more in a turn that the schedule began, as deep as chains may be, and no further.
#[test]
fn a_longer_life_is_one_more_link_of_the_chain() {
    let scene = Scene::new();
    let id = scene.handle().schedule(once(&session("s"))).expect("there is room");
    let longer = |runs: u32| {
        let lifetime = format!("{{:max-runs {runs}}}");
        let change = format!("[(psi.scheduler/reschedule {{:schedule-id \"{id}\" :lifetime {lifetime}}})]");
        ask(scene.handle(), &token("s"), &change, false)
    };
    scene.pass(61);
    assert!(scene.told().len() == 1 && has_ended(scene.handle(), &id), "{:?}", scene.told());
    scene.busy(true);
    let answer = longer(2);
    assert!(!has_ended(scene.handle(), &id), "the first link: {answer}");
    scene.busy(false);
    scene.pass(60);
    assert!(scene.told().len() == 2 && has_ended(scene.handle(), &id), "{:?}", scene.told());
    scene.busy(true);
    let answer = longer(3);
    assert!(answer.contains("at depth 2") && has_ended(scene.handle(), &id), "{answer}");
}

/// Every way to one more unfinished schedule counts the family.
#[test]
fn a_full_family_has_no_room_for_what_lives_again() {
    let (handle, clock) = simulated::engine(&["alice"]);
    let alice = session("alice");
    let open = "[(psi.scheduler/create {:kind :session :message \"m\" :delay-ms 1000})]";
    assert!(ask(&handle, &token("alice"), open, false).contains("created? true"));
    let id = handle.schedule(once(&alice)).expect("there is room");
    for _ in 0..61 {
        clock.advance(Span::from_millis(1_000));
        handle.run_due();
    }
    assert!(has_ended(&handle, &id));
    let child = handle.view(|state| {
        let fresh = state.sessions().into_iter().find(|session| session.provenance().is_some());
        fresh.map(SessionRecord::id).cloned()
    });
    let child = child.expect("a fresh session");
    let later = || When::After(Span::from_millis(3_600_000));
    let most = u32::try_from(limits::SESSION_SCHEDULES.value).expect("small");
    for _ in 0..most {
        // An operator's: what the child itself schedules belongs to a chain, which has a bound of its own.
        let made_by = Some(Box::new(Scope::Operator.into()));
        let new = NewSchedule { made_by, ..NewSchedule::message(child.clone(), later(), "m") };
        handle.schedule(new).expect("there is room");
    }
    let lifetime = Some(Lifetime { max_runs: NonZeroU32::new(2), ..Lifetime::PLAIN });
    let longer = Box::new(ScheduleChange { lifetime, ..ScheduleChange::default() });
    let which = || Which::any(Scope::Operator, id.clone());
    let moved =
        ScheduleChange { when: Some(later()), lifetime: Some(Lifetime::PLAIN), ..ScheduleChange::default() };
    let moved = Box::new(moved);
    for (way, command) in [
        ("created", Command::CreateSchedule(once(&alice))),
        (
            "superseded",
            Command::Supersede { new: NewSchedule { id: Some(id.clone()), ..once(&alice) }, of: None },
        ),
        ("moved", Command::ChangeSchedule { which: which(), change: moved }),
        ("given a longer life", Command::ChangeSchedule { which: which(), change: longer }),
    ] {
        let done = handle.submit(Input::Command(command)).map(drop);
        assert_eq!(done, Err(Refusal::SessionFull { max: most }), "{way}");
    }
}
