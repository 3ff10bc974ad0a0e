//! A schedule that has ended and lives again by a change counts like a new one: in the chain of the turn that changes it.

use std::num::NonZeroU32;

use reveille::domain::{Durability, Lifetime, ScheduleId, SessionId, Settings, Span, When};
use reveille::engine::NewSchedule;
use reveille::runtime::Handle;

use crate::simulated::{ask, session, token};
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
    scene.pass(61);
    assert!(scene.told().len() == 2 && has_ended(scene.handle(), &id), "{:?}", scene.told());
    scene.busy(true);
    let answer = longer(3);
    assert!(answer.contains("at depth 2") && has_ended(scene.handle(), &id), "{answer}");
}
