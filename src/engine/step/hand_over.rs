//! Handing a run to its host: what several transitions end with.
//!
//! One lane per session: at most one delivery is out, and a lane that becomes free takes the waiting run that was due
//! first, then created first, then by id. A run for a fresh session needs no lane, only a host.

use std::sync::Arc;

use super::failed::fail;
use super::finish_run::finish_run;
use super::occurrence::Occurrence;
use super::outside::send_outside;
use super::pass::passes;
use crate::domain::{
    Cause, Content, Failure, HandOver, HostId, Lineage, Message, MessageProvenance, Payload, Phase, Reason,
    Role, RunFact, SessionConfig, SessionFact, SessionId, SessionProvenance, Target,
};
use crate::engine::draft::Draft;
use crate::engine::effect::{Delivery, Effect, Opening};
use crate::engine::envelope;
use crate::engine::place::Place;
use crate::engine::record::{RunRecord, SessionRecord};
use crate::engine::state::State;
use crate::limits;

/// Hands the waiting run that comes first to a lane that has just become free.
pub(super) fn hand_over_next(draft: &mut Draft<'_>, session: &SessionRecord) {
    hand_over_waiting(draft, session, session.host, &mut false);
}

/// Hands over what waits for a session and can go to this host: every run for a fresh session, and of the others the
/// first, unless the lane is taken.
pub(super) fn hand_over_waiting(
    draft: &mut Draft<'_>,
    session: &SessionRecord,
    host: HostId,
    lane_taken: &mut bool,
) {
    let state = draft.state;
    if draft.held {
        return;
    }
    let waiting = match session.waiting.as_slice() {
        [] => return,
        [only] => state.runs.get(*only).into_iter().collect(),
        _ => state.waiting(session),
    };
    for run in waiting {
        let fresh = state.asked(run).is_some_and(|asked| *asked.target() == Target::Fresh);
        if *lane_taken && !fresh {
            continue;
        }
        let Some(occurrence) = Occurrence::of(state, run) else { continue };
        if occurrence.is_paused() || occurrence.is_frozen(state) {
            continue;
        }
        if call_off_stale(draft, &occurrence) {
            continue;
        }
        let went = hand_over_to(draft, &occurrence, session, host);
        *lane_taken |= went && !fresh;
    }
}

/// Calls a run off that has waited too long: what waits is looked at again when it is handed over. Whether it was.
pub(super) fn call_off_stale(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>) -> bool {
    let (schedule, now) = (occurrence.schedule, draft.now.wall);
    let is_expired = schedule.lifetime().expires_at.is_some_and(|end| end <= now);
    let late = now.since(occurrence.slot);
    let is_late = schedule.policy().max_late.is_some_and(|most| late > most);
    let reason = if is_expired {
        Reason::Expired
    } else if is_late && occurrence.cause != Cause::Manual {
        Reason::TooLate
    } else {
        return false;
    };
    finish_run(draft, occurrence, RunFact::Cancelled { reason });
    true
}

/// Hands one run over to where it goes; whether it went.
pub(super) fn hand_over(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>) -> bool {
    match occurrence.place(draft.state) {
        Place::Lane(_, session) | Place::Fresh(_, session) => {
            hand_over_to(draft, occurrence, session, session.host)
        }
        Place::Outside(route) => {
            let passes = passes(draft, occurrence);
            if passes {
                send_outside(draft, occurrence, route);
            }
            passes
        }
        Place::Nowhere(reason) => {
            fail(draft, occurrence, Failure::new(Phase::PromptSubmit, reason, reason.doc()));
            false
        }
    }
}

/// Hands one run to the host, if nothing stands against it: the prompt to its session, or the fresh session to be created
/// first. Whether it went.
fn hand_over_to(
    draft: &mut Draft<'_>,
    occurrence: &Occurrence<'_>,
    session: &SessionRecord,
    host: HostId,
) -> bool {
    if !passes(draft, occurrence) {
        return false;
    }
    match &occurrence.schedule.payload {
        Payload::Turn { .. } | Payload::Say(_) => submit(draft, occurrence, host, session.id.clone()),
        Payload::NewSession(_) if !draft.state.has_room(draft.creating) => {
            let text = format!("limit reached: {} is {}", limits::SESSIONS.name, limits::SESSIONS.value);
            fail(draft, occurrence, Failure::new(Phase::CreateSession, Reason::LimitReached, text));
            return false;
        }
        Payload::NewSession(asked) => {
            draft.creating += 1;
            let fresh =
                FreshSession::new(SessionId::random(draft.draw()), host, &asked.config, occurrence, session);
            let (phase, session, overdue) = (Phase::CreateSession, fresh.id.clone(), draft.overdue());
            let to = HandOver { host, phase, session, overdue };
            draft.run_fact(&occurrence.id, RunFact::Dispatched(to));
            draft.effect(Effect::CreateSession(Box::new(Opening {
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

/// Submits the prompt of a run to a session, or what people are to be told there, stamped with the moment of delivery and
/// where it comes from.
pub(super) fn submit(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>, host: HostId, session: SessionId) {
    let schedule = occurrence.schedule;
    let to =
        HandOver { host, phase: Phase::PromptSubmit, session: session.clone(), overdue: draft.overdue() };
    debug_assert!(
        draft.is_out(&session).is_none(),
        "{} goes into {session} while {:?} is out",
        occurrence.id,
        draft.is_out(&session)
    );
    draft.run_fact(&occurrence.id, RunFact::Dispatched(to));
    let folded = occurrence.folded;
    let late = draft.now.wall.since(occurrence.slot);
    let occasion = envelope::Occasion { run: &occurrence.id, late, folded, cause: occurrence.cause };
    let begins_turn = schedule.payload.begins_turn();
    let text = envelope::put(schedule, &occasion);
    let file = schedule.payload.file().cloned();
    let text = Some(text).filter(|text| begins_turn || !text.is_empty());
    let message = Arc::new(Message {
        // What the model does not answer must not stand there as the user's words.
        role: if begins_turn { Role::User } else { Role::System },
        content: text.map(Content::Text).into_iter().chain(file.map(Content::File)).collect(),
        timestamp: Some(draft.now.wall),
        provenance: Some(MessageProvenance {
            run: occurrence.id.clone(),
            label: schedule.label.clone(),
            late,
            folded,
            begins_turn,
        }),
    });
    draft.effect(Effect::Deliver(Delivery { run: occurrence.id.clone(), host, session, message }));
}

/// A session that a run opens: what it is, and where it comes from.
pub(super) struct FreshSession {
    pub(super) id: SessionId,
    pub(super) host: HostId,
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
            config: Arc::new(config.over(&origin.config)),
            provenance: SessionProvenance {
                origin: origin.id.clone(),
                schedule: schedule.id.clone(),
                label: schedule.label.clone(),
                line: Some(Lineage::of_turn(occurrence.id.clone(), schedule)),
            },
        }
    }

    /// The fact that it now exists.
    pub(super) fn opened(&self) -> SessionFact {
        let provenance = Some(Box::new(self.provenance.clone()));
        SessionFact::Opened { host: self.host, config: self.config.clone(), provenance }
    }
}

/// The fresh session of a run in flight that is still being created.
pub(super) fn fresh_session(state: &State, run: &RunRecord) -> Option<FreshSession> {
    let it = Some(&run.run).filter(|run| run.phase == Some(Phase::CreateSession))?;
    let occurrence = Occurrence::of(state, run)?;
    let origin = state.sessions.get(occurrence.owner?)?;
    let config = occurrence.schedule.payload.config()?;
    Some(FreshSession::new(it.session.clone()?, it.host?, config, &occurrence, origin))
}
