//! Laws about budgets: nothing is dispatched, and no run begins, that a bound of that moment forbids.
//!
//! Each is a second reading of its bound, from the facts alone.

use crate::domain::{
    Actor, BootTime, Cause, Dispatch, Missed, Overlap, Phase, RunFact, Schedule, Scope, SessionId, Span,
};
use crate::limits;
use crate::runtime::CallsInUse;
use crate::testkit::checks::law::{LawResult, hold};
use crate::testkit::history::Observation;
use crate::testkit::reference::family_model::bytes_written;
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::{RunKey, key_of};
use crate::testkit::reference::run_model::RunModel;

/// A family has no more fresh sessions than it has places for, those included that a host is creating. Those in which a person
/// wrote do not count.
pub(in crate::testkit) fn no_family_outgrows_its_places(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Dispatched(Dispatch { phase: Phase::CreateSession, .. }))) = seen.run_fact()
    else {
        return Ok(());
    };
    let Some(plan) = model.schedules.get(&run.schedule) else { return Ok(()) };
    let root = model.root_of(&plan.schedule.owner);
    let open = model.sessions.values().filter(|lane| {
        let is_of_it = lane.provenance.as_ref().is_some_and(|it| it.root == root);
        is_of_it && !lane.has_person
    });
    let begun = model.creating.values().filter(|of| **of == root);
    let count = (open.count() + begun.count()) as u64;
    hold(count < limits::FRESH_SESSIONS.value, || {
        format!("{run} opens one more of {root}, which has {count}")
    })
}

/// The runs of a family have no more written than its pace allows, with one second's worth ahead, whatever the instant from which
/// one counts. Runs of operators wait for no pace, but what they have written counts.
pub(in crate::testkit) fn no_family_writes_faster_than_its_pace(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Dispatched(to))) = seen.run_fact() else { return Ok(()) };
    let Some(life) = model.runs.get(&key_of(run)) else { return Ok(()) };
    // The prompt for a session that was created already still goes out.
    let begins = to.phase == life.definition.payload.first_phase();
    if !begins || bytes_written(&life.definition, to.phase) == 0 {
        return Ok(());
    }
    // What a session causes of an operator's schedule waits like its own.
    if is_operators(&life.definition) && life.by_session != Some(true) {
        return Ok(());
    }
    // After 584 years the boot clock stands still, and nothing has a pace any more.
    if seen.now.boot.nanos() == u64::MAX {
        return Ok(());
    }
    let root = model.root_in(&life.definition);
    let before = model.written.get(&root).map(Vec::as_slice).unwrap_or_default();
    let most = |at: BootTime, count: u128| {
        // The engine rounds the time of each run down to a nanosecond.
        let nanos = u128::from(seen.now.boot.since(at).nanos()) + u128::from(AHEAD.nanos()) + count;
        nanos * u128::from(limits::RUN_BYTES_PER_SECOND.value)
    };
    let (mut sum, mut count) = (0, 0);
    for (at, bytes) in before.iter().rev() {
        sum += u128::from(*bytes);
        count += 1;
        hold(sum * NANOS_PER_SECOND <= most(*at, count), || {
            format!("{run} went out, and {root} has had {sum} bytes written since {}", at.nanos())
        })?;
    }
    Ok(())
}

/// Whether all that a schedule says is an operator's.
fn is_operators(schedule: &Schedule) -> bool {
    let creation = schedule.creation.as_deref();
    let is_operator = |by: &Actor| by.scope == Scope::Operator;
    creation.is_some_and(|creation| {
        let edited = creation.edited_by.iter().chain(&creation.editors);
        creation.by.as_ref().is_some_and(is_operator) && edited.into_iter().all(is_operator)
    })
}

/// A run begins only if its schedule has fewer runs than its policy allows that have not ended. Slots that are made up for come
/// in quick succession, and bulletins are no runs of the schedule's own.
pub(in crate::testkit) fn no_schedule_has_too_many_live_runs(
    model: &ReferenceModel,
    seen: &Observation,
) -> LawResult {
    let Some((run, RunFact::Claimed(claim))) = seen.run_fact() else { return Ok(()) };
    let Some(plan) = model.schedules.get(&run.schedule) else { return Ok(()) };
    let policy = plan.schedule.policy();
    let makes_up = claim.cause == Cause::Missed && policy.missed == Missed::All;
    if makes_up || claim.cause == Cause::Bulletin {
        return Ok(());
    }
    let most = match policy.overlap {
        Overlap::Skip => 1,
        Overlap::Parallel => limits::RUNS_LIVE.value,
    };
    // What a schedule that had its id before began ends by itself.
    let own = |key: &RunKey, life: &RunModel| life.cause != Cause::Bulletin && !plan.is_of_former(key);
    let live = model.live_runs(plan).filter(|(key, life)| own(key, life)).count() as u64;
    hold(live < most, || format!("{run} begins beside {live} others, and may beside fewer than {most}"))
}

/// A parcel that is on its way outside, or is to go there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::testkit) struct Sent {
    /// The family that it is of; `None` if it is an operator's.
    pub(in crate::testkit) family: Option<SessionId>,
    /// The channel by which it goes.
    pub(in crate::testkit) channel: Box<str>,
}

/// A parcel has a place outside exactly while no bound that it is counted in is reached, by a count of those that are out: of its
/// family, of its channel, and of all. Of the last two a part is for operators, whom families together cannot keep out.
pub(in crate::testkit) fn a_parcel_waits_while_a_bound_is_reached(
    out: &[&Sent],
    parcel: &Sent,
    has_place: bool,
) -> LawResult {
    let count = |is: &dyn Fn(&Sent) -> bool| out.iter().filter(|it| is(it)).count() as u64;
    let (all, channel) = (limits::OUTSIDE_IN_FLIGHT.value, limits::OUTSIDE_OF_CHANNEL.value);
    let is_here = |it: &Sent| it.channel == parcel.channel;
    let mut is_free = count(&|_| true) < all && count(&is_here) < channel;
    if parcel.family.is_some() {
        is_free &= count(&|it| it.family.is_some()) < all - limits::OUTSIDE_RESERVE.value
            && count(&|it| it.family.is_some() && is_here(it))
                < channel - limits::OUTSIDE_CHANNEL_RESERVE.value
            && count(&|it| it.family == parcel.family) < limits::OUTSIDE_OF_SESSION.value;
    }
    hold(has_place == is_free, || {
        let words = if has_place { "has a place" } else { "has no place" };
        format!("{parcel:?} {words}, and out are {out:?}")
    })
}

/// No more calls are with executors than may be, of a family and in all, and families together leave operators their part.
pub(in crate::testkit) fn no_more_calls_are_out_than_may_be(calls: &CallsInUse) -> LawResult {
    let of_families: u64 = calls.of_families.values().sum();
    let may_be = calls.in_flight <= limits::CALLS_IN_FLIGHT.value
        && of_families <= limits::CALLS_IN_FLIGHT.value - limits::CALLS_RESERVE.value
        && calls.of_families.values().all(|count| *count <= limits::CALLS_OF_SESSION.value);
    hold(may_be, || format!("{} calls are out, of families {:?}", calls.in_flight, calls.of_families))
}

/// How far a family may be ahead of its pace.
const AHEAD: Span = Span::from_millis(1_000);
const NANOS_PER_SECOND: u128 = 1_000_000_000;
