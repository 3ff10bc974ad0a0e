//! The law about durability: commit first, then act.

use super::books::{Books, Plan, RunKey, key_of};
use super::history::{Observation, Seen};
use super::illness::Loading;
use super::laws::Standing;
use super::life::Life;
use super::on_sight::{Verdict, hold};
use crate::domain::RunState;
use crate::engine::LocalFact;

/// A durable run reaches its host only after the fact that dispatches it is committed.
pub(super) fn nothing_unkept_is_handed_over(books: &Books, seen: &Observation) -> Verdict {
    let Seen::Received(reception) = &seen.seen else { return Ok(()) };
    let is_durable = books.plans.get(&reception.run.schedule).is_some_and(Plan::is_durable);
    let (Some(kept), Some(life)) =
        (books.kept.filter(|_| is_durable), books.lives.get(&key_of(&reception.run)))
    else {
        return Ok(());
    };
    let at = life.dispatched_at;
    hold(at <= kept, || {
        format!("{} was handed over by fact {at}, and {kept} is the last one kept", reception.run)
    })
}

/// A hand-over is retracted if it is not kept, and then nobody has heard of it; what is kept or received stays as it is.
pub(super) fn only_what_is_not_kept_is_retracted(books: &Books, seen: &Observation) -> Verdict {
    let Seen::Local(LocalFact::Retracted(run)) = &seen.seen else { return Ok(()) };
    let key = key_of(run);
    let (Some(plan), Some(life)) = (books.plans.get(&key.0), books.lives.get(&key)) else {
        return Err(format!("{run} was retracted, and nobody knows it"));
    };
    let reached = life.dispatched.as_ref().is_some_and(|it| life.received.contains(&(life.attempt, it.0)));
    let right = plan.is_durable() && life.state == RunState::InFlight && !reached && books.is_unkept(life);
    hold(right, || format!("{run} was retracted after {:?}: {life:?}", books.kept_at_failure))
}

/// What is loaded is what is stored, all of it, before anything else happens; and it is loaded by a process that begins, or
/// after a failure.
pub(super) fn what_is_stored_is_loaded(books: &Books, seen: &Observation) -> Verdict {
    match &seen.seen {
        Seen::Local(LocalFact::Restored(row)) => {
            let awaited = books.loading.as_ref().is_some_and(|loading| loading.awaits(row));
            hold(awaited, || format!("nobody was to load {row:?}"))
        }
        Seen::Local(LocalFact::DurableDropped) => {
            hold(books.returning.is_some(), || "nobody was to load the store again".to_owned())
        }
        Seen::Fact(fact) => {
            let left = books.loading.as_ref().and_then(Loading::left);
            hold(left.is_none(), || format!("{left:?} was not loaded before {fact:?}"))
        }
        Seen::Local(_)
        | Seen::Received(_)
        | Seen::CancelAcknowledged { .. }
        | Seen::HostLost(_)
        | Seen::ShutDown
        | Seen::DiskFailed { .. } => Ok(()),
    }
}

/// While nothing can be kept, no run counts as handed over whose hand-over waited for the store when it failed.
pub(super) fn nothing_is_out_that_is_not_kept(books: &Books, _: &Standing<'_>) -> Verdict {
    let durable = |key: &RunKey| books.plans.get(&key.0).is_some_and(Plan::is_durable);
    let out = books.lives.iter().filter(|(key, life)| life.state == RunState::InFlight && durable(key));
    // A host may say meanwhile that a fresh session is there: what follows from that is dropped when the store is loaded.
    let waited = |life: &Life| books.frozen_at.is_some_and(|at| life.dispatched_at <= at);
    let left = out.filter(|(_, life)| waited(life)).find(|(_, life)| books.is_unkept(life));
    hold(left.is_none(), || format!("after {:?} there is still {left:?}", books.kept_at_failure))
}
