//! Handing a run over to its host: the last part of several transitions.
//!
//! One lane per session: at most one delivery is outstanding. A lane that becomes free takes the
//! waiting run with the earliest slot, then the earliest creation, then the smallest id. A run for
//! a fresh session needs a host, but no lane.

use std::sync::Arc;

use crate::domain::{
    Actor, Cause, Content, Dispatch, Envelope, Failure, HostId, Message, MessageProvenance, Next, Payload,
    Phase, Reason, Refusal, Role, RunFact, RunId, Schedule, SessionConfig, SessionFact, SessionId,
    SessionProvenance,
};
use crate::engine::destination::Destination;
use crate::engine::effect::{Delivery, Effect, Opening};
use crate::engine::envelope;
use crate::engine::record::{RunRecord, SessionRecord};
use crate::engine::state::State;
use crate::engine::step::run::authorize::authorize;
use crate::engine::step::run::bulletin::{join_others, may_wake};
use crate::engine::step::run::call_tool::call_tool;
use crate::engine::step::run::channel_delivery::send_to_channel;
use crate::engine::step::run::check::tell_of_end;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::run::retry::fail;
use crate::engine::step::session::make_room::make_room;
use crate::engine::step_builder::StepBuilder;
use crate::engine::written::bytes_written;
use crate::limits;

/// Hands over the first waiting run to a lane that has just become free.
pub(in crate::engine::step) fn dispatch_next(step: &mut StepBuilder<'_>, session: &SessionRecord) {
    dispatch_waiting(step, session, session.host, &mut false);
}

/// Hands over the runs that wait for a session, to this host: all that need no lane, and the first
/// of the others unless the lane is taken.
pub(in crate::engine::step) fn dispatch_waiting(
    step: &mut StepBuilder<'_>,
    session: &SessionRecord,
    host: HostId,
    lane_taken: &mut bool,
) {
    // Sorting needs look-ups, and most lanes have one run or none waiting.
    let waiting = match session.waiting.as_slice() {
        [] => return,
        [only] => step.state.runs.get(*only).into_iter().collect(),
        _ => step.state.waiting(session),
    };
    dispatch_runs(step, session, host, waiting, lane_taken);
}

/// Hands over these runs of a session, which are in delivery order, as [`dispatch_waiting`] does.
pub(in crate::engine::step) fn dispatch_runs(
    step: &mut StepBuilder<'_>,
    session: &SessionRecord,
    host: HostId,
    runs: Vec<&RunRecord>,
    lane_taken: &mut bool,
) {
    let state = step.state;
    if step.held {
        return;
    }
    for run in runs {
        let needs_lane = state.needs_lane(run);
        // A bulletin that is over its session's budget stays in the queue until its time.
        if *lane_taken && needs_lane || run.run.retry_at.is_some_and(|at| at > step.now.wall) {
            continue;
        }
        let Some(occurrence) = Occurrence::of(state, run) else { continue };
        // It stays queued, and must not keep later runs from the lane.
        if occurrence.is_paused() || occurrence.is_frozen(state) {
            continue;
        }
        if cancel_stale(step, &occurrence) {
            continue;
        }
        let went = dispatch_to_host(step, &occurrence, session, host);
        *lane_taken |= went && needs_lane;
    }
}

/// Hands over the runs that wait for no session, in order: for a channel, or to call a tool.
pub(in crate::engine::step) fn dispatch_outside(step: &mut StepBuilder<'_>) {
    let state = step.state;
    if step.held {
        return;
    }
    for run in state.waiting_outside() {
        let Some(occurrence) = Occurrence::of(state, run) else { continue };
        // It keeps waiting, and holds nothing up: there is no lane.
        let is_closed = occurrence.destination(state).blocks().is_some();
        let stands = is_closed || occurrence.is_paused() || occurrence.is_frozen(state);
        if !stands && !cancel_stale(step, &occurrence) {
            dispatch(step, &occurrence);
        }
    }
}

/// Hands over the runs that wait for a channel, in order, because the step has resumed it.
pub(in crate::engine::step) fn dispatch_channel(step: &mut StepBuilder<'_>, channel: &str) {
    let state = step.state;
    if step.held {
        return;
    }
    for run in state.waiting_outside() {
        let Some(occurrence) = Occurrence::of(state, run) else { continue };
        // By its definition and not by its destination: one for a channel that was disabled meanwhile fails here.
        let stands = occurrence.is_paused() || occurrence.is_frozen(state);
        if occurrence.is_for(channel) && !stands && !cancel_stale(step, &occurrence) {
            dispatch(step, &occurrence);
        }
    }
}

/// Cancels a run that is too late or has expired, and returns whether it did. A waiting run is
/// checked again when it is handed over.
pub(in crate::engine::step) fn cancel_stale(step: &mut StepBuilder<'_>, occurrence: &Occurrence<'_>) -> bool {
    let (schedule, now) = (occurrence.schedule, step.now.wall);
    // A bulletin has no lifetime: it tells of what came before the end.
    let is_expired = schedule.lifetime().expires_at.is_some_and(|end| end <= now);
    let late = now.since(occurrence.slot);
    let is_late = schedule.policy().max_late.is_some_and(|most| late > most);
    let reason = if is_expired {
        Reason::Expired
    // A manual run has no slot that it could be late for.
    } else if is_late && !occurrence.cause.is_beside_slots() {
        Reason::TooLate
    } else {
        return false;
    };
    if is_expired && occurrence.arms {
        tell_of_end(step, occurrence, Next::Never { reason });
    }
    occurrence.finish(step, RunFact::Cancelled { reason });
    true
}

/// Makes the next attempt at a run, because the wait before it is over.
pub(in crate::engine::step) fn try_again(step: &mut StepBuilder<'_>, record: &RunRecord) {
    if let Some(occurrence) = Occurrence::of(step.state, record) {
        try_again_as(step, &occurrence);
    }
}

/// Makes the next attempt at a run before its time, because somebody asked for it.
pub(in crate::engine::step) fn try_again_for(step: &mut StepBuilder<'_>, record: &RunRecord, by: &Actor) {
    if let Some(mut occurrence) = Occurrence::of(step.state, record) {
        // Later attempts come at times of the engine's, and are whose the run is.
        occurrence.by_session |= by.is_of_session();
        try_again_as(step, &occurrence);
    }
}

/// Hands a run over that was in no lane and no queue, or queues it.
pub(in crate::engine::step) fn try_again_as(step: &mut StepBuilder<'_>, occurrence: &Occurrence<'_>) {
    match occurrence.blocked(step) {
        Some(reason) => step.run_fact(&occurrence.id, RunFact::Queued { reason }),
        None => {
            // A run whose target is missing fails with that reason, even if it is too late as well.
            let goes = !matches!(occurrence.destination(step.state), Destination::Unreachable(_));
            if !(goes && cancel_stale(step, occurrence)) {
                dispatch(step, occurrence);
            }
        }
    }
}

/// Hands one run over to its place; returns whether it was handed over.
pub(in crate::engine::step) fn dispatch(step: &mut StepBuilder<'_>, occurrence: &Occurrence<'_>) -> bool {
    match occurrence.destination(step.state) {
        Destination::Session(_, session)
        | Destination::Fresh(_, session)
        | Destination::Tool(Some((_, session))) => dispatch_to_host(step, occurrence, session, session.host),
        Destination::Tool(None) => {
            let passes = authorize(step, occurrence);
            if let Some(call) = occurrence.schedule.payload.call().filter(|_| passes) {
                // Executors belong to this process, so their calls are the built-in host's.
                call_tool(step, occurrence, call, HostId::LOCAL);
            }
            passes
        }
        Destination::Channel(route, _) => {
            let passes = authorize(step, occurrence);
            if passes {
                send_to_channel(step, occurrence, route);
            }
            passes
        }
        Destination::Unreachable(reason) => {
            let phase = match occurrence.schedule.payload.first_phase() {
                Phase::Call => Phase::Call,
                Phase::PromptSubmit | Phase::CreateSession | Phase::Outside => Phase::PromptSubmit,
            };
            // A bulletin has waited for its session as long as it may.
            let is_absent = occurrence.cause == Cause::Bulletin && reason == Reason::TargetMissing;
            let reason = if is_absent { Reason::SessionAbsent } else { reason };
            fail(step, occurrence, Failure::new(phase, reason, reason.doc()));
            false
        }
    }
}

/// Returns whether the family of a run may have more written now. If not, the run is tried again when it may: what else waits
/// for the disk must not wait for one session.
fn may_write(step: &mut StepBuilder<'_>, occurrence: &Occurrence<'_>) -> bool {
    let (schedule, now) = (occurrence.schedule, step.now);
    let begins_with = schedule.payload.first_phase();
    let bytes = bytes_written(schedule, begins_with);
    if bytes == 0 {
        return true;
    }
    let root = step.state.root_in(schedule);
    let paces = step.paces.get_or_insert_default();
    let pace = paces.entry(root.clone()).or_insert_with(|| step.state.pace(root));
    if schedule.is_by_operators() && !occurrence.by_session {
        // It waits for no pace, but what it writes counts, also for what else goes out in this step.
        pace.write(bytes, now.boot);
        return true;
    }
    let Err(due) = pace.take(bytes, now.boot) else { return true };
    let text = Refusal::LimitReached { limit: limits::RUN_BYTES_PER_SECOND }.to_string();
    let failure = Box::new(Failure::new(begins_with, Reason::OverBudget, text));
    let at = now.wall.checked_add(due.since(now.boot)).unwrap_or(now.wall);
    step.run_fact(&occurrence.id, RunFact::Retrying { failure, at, due });
    false
}

/// Hands one run over to a host, unless the guard objects: submits the prompt, or asks for the
/// fresh session first. Returns whether it was handed over.
fn dispatch_to_host(
    step: &mut StepBuilder<'_>,
    occurrence: &Occurrence<'_>,
    session: &SessionRecord,
    host: HostId,
) -> bool {
    // The guard comes first, so that a run that it stops uses up nothing of the pace.
    if !authorize(step, occurrence) || !may_write(step, occurrence) {
        return false;
    }
    if occurrence.cause == Cause::Bulletin && !may_wake(step, occurrence, session) {
        return false;
    }
    match &occurrence.schedule.payload {
        // An earlier hand-over of this run has created the session, and its prompt was left there.
        Payload::NewSession(_) if occurrence.back.is_some() => {
            submit_prompt(step, occurrence, host, session.id.clone());
        }
        Payload::Turn { .. } | Payload::Notice(_) => {
            submit_prompt(step, occurrence, host, session.id.clone());
        }
        Payload::Call(call) => call_tool(step, occurrence, call, host),
        Payload::NewSession(asked) => {
            if let Err(limit) = make_room(step, session) {
                // A retry may succeed: sessions may be closed before the next attempt.
                let text = Refusal::LimitReached { limit }.to_string();
                fail(step, occurrence, Failure::new(Phase::CreateSession, Reason::LimitReached, text));
                return false;
            }
            // The state does not count this session yet, and the step may create more.
            step.creating.push(session.root().clone());
            let fresh =
                FreshSession::new(SessionId::random(step.draw()), host, &asked.config, occurrence, session);
            let (phase, session, overdue) = (Phase::CreateSession, fresh.id.clone(), step.overdue());
            let to = Dispatch { host, phase, session, overdue };
            step.run_fact(&occurrence.id, RunFact::Dispatched(to));
            step.effect(Effect::CreateSession(Box::new(Opening {
                run: occurrence.id.clone(),
                host,
                session: fresh.id,
                config: fresh.config,
                provenance: fresh.provenance,
            })));
        }
    }
    true
}

/// Submits a run's prompt or notice to a session, with the moment of delivery and the schedule it
/// comes from.
pub(in crate::engine::step) fn submit_prompt(
    step: &mut StepBuilder<'_>,
    occurrence: &Occurrence<'_>,
    host: HostId,
    session: SessionId,
) {
    let schedule = occurrence.schedule;
    let overdue = step.overdue_of(host);
    let to = Dispatch { host, phase: Phase::PromptSubmit, session: session.clone(), overdue };
    debug_assert!(
        step.in_flight(&session).is_none(),
        "{} goes into {session} while {:?} is out",
        occurrence.id,
        step.in_flight(&session)
    );
    step.run_fact(&occurrence.id, RunFact::Dispatched(to));
    // After the lead's own fact, from which the fold copies host and session for the others.
    let into = step.state.session(&session);
    let joined = into.map(|into| join_others(step, occurrence, into, host)).unwrap_or_default();
    let (with, more): (Vec<RunId>, Vec<Box<str>>) = joined.into_iter().unzip();
    let folded = occurrence.folded;
    let late = step.now.wall.since(occurrence.slot);
    let occasion = envelope::Occasion { run: &occurrence.id, late, folded, cause: occurrence.cause };
    let begins_turn = schedule.payload.begins_turn();
    let text = envelope::put(schedule, &occasion);
    let file = schedule.payload.file().cloned();
    // A notice may consist of a file alone.
    let text = Some(text).filter(|text| begins_turn || !text.is_empty());
    // A notice begins no turn, so no model would read what is recalled.
    let recalled = into.filter(|_| begins_turn).and_then(|into| step.state.recalled(into));
    let mut content = Vec::with_capacity(1 + more.len());
    content.extend(text.map(Content::Text));
    content.extend(more.into_iter().map(Content::Text));
    content.extend(file.map(Content::File));
    content.extend(recalled.map(|block| Content::Text(block.into())));
    let message = Arc::new(Message {
        role: if occurrence.cause == Cause::Bulletin { Role::System } else { role_of(schedule) },
        content,
        timestamp: Some(step.now.wall),
        provenance: Some(MessageProvenance {
            run: occurrence.id.clone(),
            label: schedule.label.clone(),
            late,
            folded,
            begins_turn,
        }),
    });
    step.effect(Effect::Deliver(Delivery { run: occurrence.id.clone(), host, session, message, with }));
}

/// Returns the role of what a schedule says. A notice, which the model does not answer, must not appear as the user's words; and
/// only an operator's words bear the role that a model obeys most.
fn role_of(schedule: &Schedule) -> Role {
    // A session speaks to itself: no other one has had a hand in it. Source: SEED-001.
    let is_own_reminder = schedule.envelope() == Envelope::Reminder
        && schedule.edited_by().is_none()
        && !schedule.target().is_beyond(&schedule.owner);
    if is_own_reminder {
        Role::System
    } else if schedule.payload.begins_turn() {
        Role::User
    } else if schedule.is_by_operators() {
        Role::System
    } else {
        Role::Assistant
    }
}

/// A session that a run opens: its configuration and its origin.
pub(in crate::engine::step) struct FreshSession {
    pub(in crate::engine::step) id: SessionId,
    pub(in crate::engine::step) host: HostId,
    config: Arc<SessionConfig>,
    provenance: SessionProvenance,
}

impl FreshSession {
    fn new(
        id: SessionId,
        host: HostId,
        config: &SessionConfig,
        occurrence: &Occurrence<'_>,
        origin: &SessionRecord,
    ) -> FreshSession {
        let schedule = occurrence.schedule;
        FreshSession {
            id,
            host,
            // Values that the schedule does not set are inherited from its session.
            config: Arc::new(config.over(&origin.config)),
            provenance: SessionProvenance {
                origin: origin.id.clone(),
                root: origin.root().clone(),
                schedule: schedule.id.clone(),
                label: schedule.label.clone(),
                chain: Some(schedule.lineage_of_turn(occurrence.id.clone())),
            },
        }
    }

    /// Returns the fact that the session is open.
    pub(in crate::engine::step) fn opened(&self) -> SessionFact {
        let provenance = Some(Box::new(self.provenance.clone()));
        SessionFact::Opened { host: self.host, config: self.config.clone(), provenance }
    }
}

/// Returns the fresh session of a run in flight that is still being created.
pub(in crate::engine::step) fn fresh_session(state: &State, run: &RunRecord) -> Option<FreshSession> {
    let it = Some(&run.run).filter(|run| run.phase == Some(Phase::CreateSession))?;
    let occurrence = Occurrence::of(state, run)?;
    let origin = state.sessions.get(occurrence.owner?)?;
    let config = occurrence.schedule.payload.config()?;
    Some(FreshSession::new(it.session.clone()?, it.host?, config, &occurrence, origin))
}
