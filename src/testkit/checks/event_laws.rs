//! Laws about each observation, judged against everything observed before it.

use crate::dialect::REQUEST_CAPS;
use crate::domain::{
    Cause, Dispatch, Fact, Grant, HostId, Next, Phase, Reason, RunFact, RunId, RunState, ScheduleFact,
    SessionFact, SessionId, Status,
};
use crate::edn::{Caps, read};
use crate::limits;
use crate::runtime::codec;
use crate::testkit::checks::authority_laws::{
    nothing_refused_or_unapproved_goes_out, nothing_switched_off_goes_out, nothing_ungranted_goes_out,
};
use crate::testkit::checks::budget_laws::{
    no_family_outgrows_its_places, no_family_writes_faster_than_its_pace, no_schedule_has_too_many_live_runs,
};
use crate::testkit::checks::call_laws::{
    a_bulletin_that_waits_keeps_its_place, nothing_of_a_former_job_begins, what_a_call_came_to_is_told,
};
use crate::testkit::checks::channel_laws::{
    a_channel_is_left_alone_as_it_asks, a_parcel_is_the_same_at_each_attempt,
    nothing_goes_where_nothing_is_wanted,
};
use crate::testkit::checks::durability_laws::{
    nothing_unkept_is_handed_over, only_what_is_not_kept_is_retracted, only_what_is_not_kept_is_taken_back,
    what_is_stored_is_loaded,
};
use crate::testkit::checks::law::{EventLaw, LawResult, hold};
use crate::testkit::checks::watch_laws::{
    a_check_is_told_as_its_past_says, a_watch_looks_again_in_time, silence_is_told_once_and_only_in_silence,
};
use crate::testkit::history::{Observation, Reception, Seen};
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::{RunKey, key_of};
use crate::testkit::reference::run_model::RunModel;
use crate::testkit::reference::schedule_model::ScheduleModel;

macro_rules! named {
    ($($law:ident),+ $(,)?) => { &[$((stringify!($law), $law as EventLaw)),+] };
}

/// All laws about observations, in the order of evaluation.
pub(in crate::testkit) const ALL: &[(&str, EventLaw)] = named![
    a_session_opens_once,
    a_schedule_is_created_once,
    terminal_is_final,
    a_slot_is_consumed_once,
    slots_go_forward,
    never_early,
    held_is_held,
    nothing_switched_off_goes_out,
    nothing_ungranted_goes_out,
    nothing_refused_or_unapproved_goes_out,
    no_family_outgrows_its_places,
    no_family_writes_faster_than_its_pace,
    no_schedule_has_too_many_live_runs,
    cancel_holds,
    a_line_ends,
    a_session_cancels_its_own,
    a_word_calls_off_what_it_may,
    at_most_once,
    volatile_is_tried_once,
    nothing_unasked,
    delivered_means_received,
    left_is_not_delivered,
    first_due_first_served,
    one_in_flight,
    one_delivery_per_idle_transition,
    delivered_where_it_lives,
    a_lost_host_holds_nothing,
    stopping_starts_nothing,
    nothing_after_shutdown,
    a_fact_can_be_kept,
    nothing_unkept_is_handed_over,
    only_what_is_not_kept_is_retracted,
    only_what_is_not_kept_is_taken_back,
    what_is_stored_is_loaded,
    a_parcel_is_the_same_at_each_attempt,
    nothing_goes_where_nothing_is_wanted,
    a_channel_is_left_alone_as_it_asks,
    what_a_call_came_to_is_told,
    nothing_of_a_former_job_begins,
    a_bulletin_that_waits_keeps_its_place,
    a_check_is_told_as_its_past_says,
    silence_is_told_once_and_only_in_silence,
    a_watch_looks_again_in_time,
];

/// A fact survives the log: its text parses back to an equal fact.
fn a_fact_can_be_kept(_: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::Fact(fact) = &seen.seen else { return Ok(()) };
    let text = codec::print(fact).into_text();
    let form = read(text.as_bytes(), &LOG_CAPS).map_err(|error| format!("{error}: {text}"))?;
    let again = form.as_map().ok_or("a fact is a map")?;
    let again = codec::parse(again).map_err(|error| format!("{error}: {text}"))?;
    hold(again == *fact, || format!("{fact:?} came back as {again:?}"))
}

/// A fact may contain a whole configuration, so it may be longer than a request.
const LOG_CAPS: Caps = Caps { bytes_max: 1 << 28, forms_max: u32::MAX, ..REQUEST_CAPS };

/// No session is opened under an id that is open already.
fn a_session_opens_once(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::Fact(Fact::Session(session, SessionFact::Opened { .. }, _)) = &seen.seen else { return Ok(()) };
    hold(!model.sessions.contains_key(session), || format!("{session} is open already"))
}

/// No schedule is created under an id whose schedule has not ended.
fn a_schedule_is_created_once(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::Fact(Fact::Created { schedule, .. }) = &seen.seen else { return Ok(()) };
    let former = model.schedules.get(&schedule.id);
    hold(former.is_none_or(|plan| plan.end.is_some()), || format!("{} lives already", schedule.id))
}

/// Nothing happens to a run or a volatile schedule after its end, or before its creation.
fn terminal_is_final(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::Fact(fact) = &seen.seen else { return Ok(()) };
    match fact {
        // A claim creates the run, so it is judged by its schedule.
        Fact::Run(run, RunFact::Claimed(_), _) => {
            let plan = model.schedules.get(&run.schedule);
            let plan = plan.ok_or_else(|| format!("{run} of a schedule never created"))?;
            hold(plan.end.is_none(), || {
                format!("{run} was claimed after its schedule ended as {:?}", plan.end)
            })
        }
        Fact::Run(run, fact, _) => {
            let life = model.runs.get(&key_of(run));
            let life = life.ok_or_else(|| format!("{run} was never claimed, and then {fact:?}"))?;
            // A message that was left may be taken, or go to a host that takes its session over.
            let goes_on = matches!(fact, RunFact::Taken { .. } | RunFact::Queued { .. });
            let may_follow = life.is_live() || life.state == RunState::Left && goes_on;
            hold(may_follow, || format!("{run} had ended as {:?}, and then {fact:?}", life.state))
        }
        Fact::Schedule(id, fact) => {
            let plan = model.schedules.get(id);
            let plan = plan.ok_or_else(|| format!("{id} was never created, and then {fact:?}"))?;
            let may_follow = plan.end.is_none() || may_live_again(plan, fact);
            hold(may_follow, || format!("{id} had ended as {:?}, and then {fact:?}", plan.end))
        }
        Fact::Session(..) | Fact::Created { .. } | Fact::Host(..) | Fact::Channel(..) | Fact::Engine(_) => {
            Ok(())
        }
    }
}

/// A durable schedule stays until somebody cancels it: it can be changed after its last slot, and get new ones.
fn may_live_again(plan: &ScheduleModel, fact: &ScheduleFact) -> bool {
    let is_asked_for = match fact {
        ScheduleFact::Changed(_) | ScheduleFact::Paused { .. } | ScheduleFact::Resumed { .. } => true,
        // Only an explicit cancel: nothing else may cancel what has ended.
        ScheduleFact::Cancelled { reason, .. } => *reason == Reason::Cancelled,
        ScheduleFact::Skipped(_) | ScheduleFact::Armed { .. } => false,
    };
    // Another one may be made under the id of a job that has ended.
    let made_at = plan.schedule.created_at;
    let is_anew = matches!(fact, ScheduleFact::Changed(change) if change.schedule.created_at != made_at);
    is_anew || is_asked_for && plan.is_durable() && !plan.called_off
}

/// A slot is consumed once: by a claim of it or of a later slot that is due too, or by a skip that
/// begins with it. A manual run consumes none.
fn a_slot_is_consumed_once(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::Fact(fact) = &seen.seen else { return Ok(()) };
    match fact {
        Fact::Run(run, RunFact::Claimed(claim), _) => {
            hold(!model.runs.contains_key(&key_of(run)), || format!("{run} was claimed twice"))?;
            let Some(plan) = model.schedules.get(&run.schedule) else { return Ok(()) };
            let right = match (claim.next, plan.next) {
                // A claim without a next slot is a manual run, which must not touch the slots.
                (None, _) => claim.cause.is_beside_slots() && claim.folded == 0,
                (Some(_), Some((slot, earliest))) => {
                    // The claim stands for missed slots too: it names the latest that is due, by the clock that they follow.
                    let by_boot = !plan.is_durable() && run.slot.since(slot) <= seen.now.boot.since(earliest);
                    let later = slot < run.slot && (by_boot || run.slot <= seen.now.wall) && claim.folded > 0;
                    run.incarnation == plan.incarnation && (run.slot == slot && claim.folded == 0 || later)
                }
                (Some(_), None) => false,
            };
            hold(right, || format!("{run} was claimed while {:?} was to come", plan.next))
        }
        Fact::Schedule(id, ScheduleFact::Skipped(skip)) => {
            let next = model.schedules.get(id).and_then(|plan| plan.next).map(|(slot, _)| slot);
            let right = next == Some(skip.from) && skip.until >= skip.from && skip.count > 0;
            hold(right, || format!("{id} skipped {skip:?} while {next:?} was to come"))
        }
        Fact::Run(..) | Fact::Schedule(..) | Fact::Session(..) => Ok(()),
        Fact::Created { .. } | Fact::Host(..) | Fact::Channel(..) | Fact::Engine(_) => Ok(()),
    }
}

/// The next slot is later than the one that was consumed.
fn slots_go_forward(_: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::Fact(fact) = &seen.seen else { return Ok(()) };
    let (consumed, next) = match fact {
        Fact::Run(run, RunFact::Claimed(claim), _) => (run.slot, claim.next),
        Fact::Schedule(_, ScheduleFact::Skipped(skip)) => (skip.until, Some(skip.next)),
        Fact::Run(..) | Fact::Schedule(..) | Fact::Session(..) => return Ok(()),
        Fact::Created { .. } | Fact::Host(..) | Fact::Channel(..) | Fact::Engine(_) => return Ok(()),
    };
    let next = next.and_then(Next::slot);
    hold(next.is_none_or(|next| next > consumed), || format!("after {consumed} comes {next:?}"))
}

/// No slot is claimed and no host is reached before its time: by the boot clock for volatile
/// schedules, by the wall clock for durable ones.
fn never_early(model: &ReferenceModel, seen: &Observation) -> LawResult {
    match &seen.seen {
        Seen::Fact(Fact::Run(run, RunFact::Claimed(claim), _)) => {
            let plan = model.schedules.get(&run.schedule);
            let Some((plan, (slot, earliest))) = plan.and_then(|plan| Some((plan, plan.next?))) else {
                return Ok(());
            };
            let come = if plan.is_durable() { slot <= seen.now.wall } else { earliest <= seen.now.boot };
            hold(come || claim.cause.is_beside_slots(), || format!("{run} is early: {slot}, {earliest:?}"))
        }
        Seen::Received(reception) => {
            let life = model.runs.get(&key_of(&reception.run));
            let plan = model.schedules.get(&reception.run.schedule);
            // A durable run is judged at its claim: the wall clock may have been set back since.
            let in_memory = plan.is_some_and(|plan| !plan.is_durable());
            let early = life.filter(|life| in_memory && life.earliest > seen.now.boot);
            hold(early.is_none(), || format!("{} reached a host early", reception.run))
        }
        Seen::Fact(_)
        | Seen::Local(_)
        | Seen::CancelAcknowledged { .. }
        | Seen::HostLost(_)
        | Seen::ShutDown
        | Seen::DiskFailed { .. } => Ok(()),
    }
}

/// Nothing is claimed or dispatched during a global pause, and nothing of a paused schedule except manual runs.
fn held_is_held(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Some((run, fact)) = seen.run_fact() else { return Ok(()) };
    let paused = model.schedules.get(&run.schedule).is_some_and(|plan| plan.paused);
    let by_hand = |life: &RunModel| life.cause.is_beside_slots();
    let right = match fact {
        RunFact::Claimed(claim) => claim.cause.is_beside_slots() || !model.held && !paused,
        // A session that was created before the pause still gets its prompt.
        RunFact::Dispatched(Dispatch { .. }) => {
            let life = model.runs.get(&key_of(run));
            let begun = life.is_some_and(|life| life.dispatched.is_some());
            begun || !model.held && (!paused || life.is_some_and(by_hand))
        }
        RunFact::Queued { .. }
        | RunFact::Guard(_)
        | RunFact::Accepted
        | RunFact::Delivered
        | RunFact::Returned { .. }
        | RunFact::Folded(_)
        | RunFact::Joined { .. }
        | RunFact::Postponed { .. }
        | RunFact::Left
        | RunFact::Taken { .. }
        | RunFact::Retrying { .. }
        | RunFact::Failed(_)
        | RunFact::Cancelled { .. } => true,
    };
    hold(right, || format!("{run} in a hold or a pause: {fact:?}"))
}

/// An acknowledged cancel is final: no host receives the schedule again, except for runs that it has begun.
fn cancel_holds(model: &ReferenceModel, seen: &Observation) -> LawResult {
    match &seen.seen {
        Seen::CancelAcknowledged { schedule, .. } => {
            let end = model.schedules.get(schedule).and_then(|plan| plan.end);
            hold(end == Some(Status::Cancelled), || {
                format!("{schedule} was acknowledged as cancelled, but is {end:?}")
            })
        }
        Seen::Received(Reception { run, .. }) => {
            let cancelled = model.schedules.get(&run.schedule).is_some_and(|plan| plan.cancel_acknowledged);
            let begun =
                model.runs.get(&key_of(run)).is_some_and(|life| life.is_live() && life.dispatched.is_some());
            hold(!cancelled || begun, || format!("{run} reached a host after its cancel was acknowledged"))
        }
        Seen::Fact(_) | Seen::Local(_) | Seen::HostLost(_) | Seen::ShutDown | Seen::DiskFailed { .. } => {
            Ok(())
        }
    }
}

/// Chains of schedules end: one created in a scheduled turn is at most one deeper than its parent,
/// no deeper than its grant allows, and one of a bounded number.
fn a_line_ends(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let schedule = match &seen.seen {
        Seen::Fact(Fact::Created { schedule, .. }) => schedule,
        Seen::Fact(Fact::Schedule(_, ScheduleFact::Changed(change))) => &change.schedule,
        Seen::Fact(_) | Seen::Received(_) | Seen::CancelAcknowledged { .. } => return Ok(()),
        Seen::Local(_) | Seen::HostLost(_) | Seen::ShutDown | Seen::DiskFailed { .. } => return Ok(()),
    };
    // An unchanged lineage was checked when it was created.
    let known = model.schedules.get(&schedule.id).and_then(|plan| plan.schedule.lineage());
    let Some(line) = schedule.lineage().filter(|line| known != Some(*line)) else { return Ok(()) };
    let may = model.grants.get(&schedule.owner).map_or(Grant::FULL.depth, |grant| grant.depth);
    hold(line.depth <= may, || format!("{} is {} deep, and may be {may}", schedule.id, line.depth))?;
    let depth = |plan: &ScheduleModel| plan.schedule.lineage().map_or(0, |line| line.depth);
    let parent = model.schedules.get(&line.run.schedule).map_or(line.depth, depth);
    let follows = 0 < line.depth && line.depth <= parent + 1;
    hold(follows, || format!("{} is {} deep, and comes of {parent}", schedule.id, line.depth))?;
    let is_in_line = |plan: &&ScheduleModel| {
        let root = plan.schedule.lineage().map(|line| &line.root);
        plan.end.is_none() && root == Some(&line.root) && plan.schedule.id != schedule.id
    };
    let others = model.schedules.values().filter(is_in_line).count() as u64;
    let is_new = !model.schedules.contains_key(&schedule.id);
    hold(!is_new || others < limits::LINE_SCHEDULES.value, || format!("{others} others of {}", line.root))
}

/// A session can cancel only its own schedules.
fn a_session_cancels_its_own(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::CancelAcknowledged { scope, schedule } = &seen.seen else { return Ok(()) };
    let covered = model.schedules.get(schedule).is_none_or(|plan| plan.schedule.is_in(scope));
    hold(covered, || format!("{scope:?} cancelled {schedule}"))
}

/// A user message cancels only schedules with `cancel-on-user-activity`, and none that is due
/// already.
fn a_word_calls_off_what_it_may(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::Fact(Fact::Schedule(id, ScheduleFact::Cancelled { reason: Reason::UserActivity, .. })) =
        &seen.seen
    else {
        return Ok(());
    };
    let Some(plan) = model.schedules.get(id) else { return Ok(()) };
    let may = plan.schedule.lifetime().cancel_on_user_activity;
    let due = model.has_due_run(plan) || plan.next.is_some() && !plan.paused && !plan.is_to_come(seen.now);
    hold(may && !due, || format!("{id} was called off by a word in its session: {plan:?}"))
}

/// A host receives a run at most once per phase of each attempt.
fn at_most_once(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Some((reception, life)) = received(model, seen) else { return Ok(()) };
    let first = !life.received.contains(&(life.attempt, reception.phase));
    hold(first, || format!("{} came twice to {}", reception.run, reception.phase.name()))
}

/// A volatile run is retried only if its host said that it did not take it. A bulletin, which is told until somebody has it, is
/// retried also if its host was lost.
fn volatile_is_tried_once(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Some((run, RunFact::Retrying { failure, .. })) = seen.run_fact() else { return Ok(()) };
    let durable = model.schedules.get(&run.schedule).is_some_and(ScheduleModel::is_durable);
    // In these cases the host refused before doing anything. Otherwise it may have done it.
    let not_taken = matches!(
        failure.reason,
        Reason::HostRefused
            | Reason::LimitReached
            | Reason::TargetMissing
            | Reason::TooManyCalls
            | Reason::OverBudget
    );
    let is_bulletin = model.runs.get(&key_of(run)).is_some_and(|life| life.cause == Cause::Bulletin);
    let lost = is_bulletin && matches!(failure.reason, Reason::HostLost | Reason::Crashed);
    hold(durable || not_taken || lost, || format!("{run} is tried again after {failure:?}"))
}

/// A host receives only what the engine dispatched: that run, that phase, that session.
fn nothing_unasked(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::Received(reception) = &seen.seen else { return Ok(()) };
    let asked = model.runs.get(&key_of(&reception.run)).and_then(|life| life.dispatched.as_ref());
    let right =
        asked.is_some_and(|(phase, session)| *phase == reception.phase && *session == reception.session);
    hold(right, || format!("a host received {reception:?}, dispatched was {asked:?}"))
}

/// What a session gets in which nobody listens is left there, and is delivered only when somebody takes it; each message is
/// taken at most once. All other receipts are deliveries.
fn left_is_not_delivered(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Some((run, fact)) = seen.run_fact() else { return Ok(()) };
    let life = model.runs.get(&key_of(run));
    let with = life.and_then(|life| life.with.or(life.receipt_by(Phase::PromptSubmit)));
    let state = life.map(|life| life.state);
    let right = match fact {
        RunFact::Delivered | RunFact::Accepted | RunFact::Returned { .. } => with != Some(HostId::INBOX),
        RunFact::Left => with == Some(HostId::INBOX),
        RunFact::Taken { .. } => state == Some(RunState::Left),
        RunFact::Claimed(_)
        | RunFact::Queued { .. }
        | RunFact::Guard(_)
        | RunFact::Dispatched(_)
        | RunFact::Folded(_)
        | RunFact::Joined { .. }
        | RunFact::Postponed { .. }
        | RunFact::Retrying { .. }
        | RunFact::Failed(_)
        | RunFact::Cancelled { .. } => true,
    };
    hold(right, || format!("{run}, which {with:?} got and which is {state:?}: {fact:?}"))
}

/// A delivered run was received by its host as a prompt, or by its channel: in this attempt, or in the one before it, whose
/// answer came late.
fn delivered_means_received(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Some((run, RunFact::Delivered | RunFact::Accepted | RunFact::Left)) = seen.run_fact() else {
        return Ok(());
    };
    let life = model.runs.get(&key_of(run));
    let received = life.is_some_and(|life| {
        let phase = if life.channel.is_some() { Phase::Outside } else { Phase::PromptSubmit };
        life.receipt_by(phase).is_some()
    });
    hold(received, || format!("{run} counts as delivered, but nobody received it"))
}

/// Runs of one session are dispatched by (slot, created-at, id). Exception: a run interrupted by a
/// crash keeps its place.
fn first_due_first_served(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Some((run, session)) = submitted(seen) else { return Ok(()) };
    let (Some(life), Some(lane)) = (model.runs.get(&key_of(run)), model.sessions.get(session)) else {
        return Ok(());
    };
    let may_go = |key: &RunKey| {
        let plan = model.schedules.get(&key.0);
        let stands = model.is_frozen() && plan.is_some_and(ScheduleModel::is_durable);
        let paused = plan.is_some_and(|plan| plan.paused);
        !stands && (!paused || model.runs.get(key).is_some_and(|life| life.cause.is_beside_slots()))
    };
    let first = lane.waiting.iter().find(|(_, key)| may_go(key));
    let in_order = life.into.is_some() && !life.keeps_lane;
    let before = first.filter(|(order, _)| **order < life.order && in_order);
    hold(before.is_none(), || format!("{run} went into {session} although {before:?} waited before it"))
}

/// At most one delivery per session is without its receipt.
fn one_in_flight(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Some((run, session)) = submitted(seen) else { return Ok(()) };
    let other = model.sessions.get(session).and_then(|lane| lane.in_flight.as_ref());
    hold(other.is_none(), || format!("{run} went into {session} while {other:?} was out"))
}

/// After a connected host accepted a prompt, the next one waits until the session is idle.
fn one_delivery_per_idle_transition(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Some((id, session)) = submitted(seen) else { return Ok(()) };
    let owed = model.sessions.get(session).is_some_and(|lane| lane.attached && lane.turn_owed);
    hold(!owed, || format!("{id} went into {session} before the turn of the last delivery ended"))
}

/// A prompt goes to the host of its session: the one that opened it, created it, or took it over.
fn delivered_where_it_lives(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::Received(reception) = &seen.seen else { return Ok(()) };
    let home = model.homes.get(&reception.session);
    let right = reception.phase != Phase::PromptSubmit || home == Some(&reception.host);
    hold(right, || format!("{reception:?}, but the session is at {home:?}"))
}

/// A lost host has no runs in flight: their receipts can no longer come.
fn a_lost_host_holds_nothing(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::HostLost(host) = &seen.seen else { return Ok(()) };
    let held =
        model.runs.iter().find(|(_, life)| life.state == RunState::InFlight && life.with == Some(*host));
    hold(held.is_none(), || format!("{host} is lost, but {held:?} is out to it"))
}

/// After a request to stop, nothing is created and no run is dispatched that was not dispatched
/// before.
fn stopping_starts_nothing(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let Seen::Fact(fact) = &seen.seen else { return Ok(()) };
    let starts = match fact {
        // What is told of a call that was out is no new work. It waits, and is cancelled or goes with the next process.
        Fact::Run(_, RunFact::Claimed(claim), _) => claim.telling.is_none(),
        Fact::Created { .. } => true,
        Fact::Run(run, RunFact::Dispatched(_), _) => {
            model.runs.get(&key_of(run)).is_some_and(|life| life.dispatched.is_none())
        }
        Fact::Run(..) | Fact::Schedule(..) | Fact::Session(..) => false,
        Fact::Host(..) | Fact::Channel(..) | Fact::Engine(_) => false,
    };
    hold(!(model.stopping && starts), || format!("while the engine stops came {fact:?}"))
}

/// After an acknowledged shutdown the engine claims, dispatches and accepts nothing.
fn nothing_after_shutdown(model: &ReferenceModel, seen: &Observation) -> LawResult {
    let work = match &seen.seen {
        // The time of a run on disk may end after the shutdown. What there is to tell of it goes with the next process.
        Seen::Fact(Fact::Run(_, RunFact::Claimed(claim), _)) => claim.telling.is_none(),
        Seen::Received(_) | Seen::Fact(Fact::Run(_, RunFact::Dispatched(_), _)) => true,
        Seen::Fact(Fact::Created { .. }) => true,
        // A host may say that it has made the session that it was asked for before.
        Seen::Fact(Fact::Session(_, SessionFact::Opened { provenance: by, .. }, _)) => {
            !by.as_deref().is_some_and(|by| model.creates_for(&by.schedule))
        }
        Seen::Fact(_) | Seen::CancelAcknowledged { .. } | Seen::HostLost(_) => false,
        Seen::Local(_) | Seen::ShutDown | Seen::DiskFailed { .. } => false,
    };
    hold(!(model.stopped && work), || format!("after the shutdown came {:?}", seen.seen))
}

fn submitted(seen: &Observation) -> Option<(&RunId, &SessionId)> {
    let (id, fact) = seen.run_fact()?;
    let RunFact::Dispatched(Dispatch { phase: Phase::PromptSubmit, session, .. }) = fact else { return None };
    Some((id, session))
}

fn received<'a>(model: &'a ReferenceModel, seen: &'a Observation) -> Option<(&'a Reception, &'a RunModel)> {
    let Seen::Received(reception) = &seen.seen else { return None };
    Some((reception, model.runs.get(&key_of(&reception.run))?))
}
