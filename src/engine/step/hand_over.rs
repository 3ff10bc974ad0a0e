//! Handing a run to its host: what several transitions end with.
//!
//! One lane per session: at most one delivery is out, and a lane that becomes free takes the waiting run that was due
//! first, then created first, then by id. A run for a fresh session needs no lane, only a host.

use std::sync::Arc;

use crate::domain::{
    Content, Failure, HandOver, HostId, Message, MessageProvenance, Payload, Phase, Reason, Role, RunFact,
    SessionConfig, SessionFact, SessionId, SessionProvenance, Target,
};
use crate::engine::draft::Draft;
use crate::engine::effect::{Delivery, Effect, Opening};
use crate::engine::record::{ScheduleRecord, SessionRecord};
use crate::engine::state::{Mode, State};
use crate::limits;

/// Hands the waiting run that comes first to a lane that has just become free.
pub(super) fn hand_over_next(draft: &mut Draft<'_>, session: &SessionRecord) {
    if draft.state.mode != Mode::Running {
        return;
    }
    let waiting = session.waiting.iter().filter_map(|key| draft.state.schedules.get(*key));
    let next = waiting
        .filter(|record| record.schedule.target() == Target::Owner)
        .min_by(|one, two| one.schedule.order().cmp(&two.schedule.order()));
    if let Some(record) = next {
        hand_over(draft, record, session, session.host);
    }
}

/// Hands one run to the host: the prompt to its session, or the fresh session to be created first.
pub(super) fn hand_over(draft: &mut Draft<'_>, record: &ScheduleRecord, owner: &SessionRecord, host: HostId) {
    match &record.schedule.payload {
        Payload::Turn { .. } => submit(draft, record, host, owner.id.clone()),
        Payload::NewSession { .. } if !draft.state.has_room(draft.creating) => {
            let text = format!("limit reached: {} is {}", limits::SESSIONS.name, limits::SESSIONS.value);
            let failure = Failure::new(Phase::CreateSession, Reason::LimitReached, text);
            draft.run_fact(&record.schedule.id, RunFact::Failed(Box::new(failure)));
        }
        Payload::NewSession { config, .. } => {
            draft.creating += 1;
            let fresh = FreshSession::new(SessionId::random(draft.draw()), host, config, record, owner);
            let (phase, session, overdue) = (Phase::CreateSession, fresh.id.clone(), draft.overdue());
            let to = HandOver { host, phase, session, overdue };
            draft.run_fact(&record.schedule.id, RunFact::Dispatched(to));
            draft.effect(Effect::CreateSession(Box::new(Opening {
                run: record.run_id(),
                host,
                session: fresh.id,
                config: fresh.config,
                provenance: fresh.provenance,
            })));
        }
    }
}

/// Submits the prompt of a run to a session, stamped with the moment of delivery and where it comes from.
pub(super) fn submit(draft: &mut Draft<'_>, record: &ScheduleRecord, host: HostId, session: SessionId) {
    let schedule = &record.schedule;
    let to =
        HandOver { host, phase: Phase::PromptSubmit, session: session.clone(), overdue: draft.overdue() };
    draft.run_fact(&schedule.id, RunFact::Dispatched(to));
    let message = Arc::new(Message {
        role: Role::User,
        content: vec![Content::Text(schedule.payload.text().into())],
        timestamp: Some(draft.now.wall),
        provenance: Some(MessageProvenance { schedule: schedule.id.clone(), label: schedule.label.clone() }),
    });
    draft.effect(Effect::Deliver(Delivery { run: record.run_id(), host, session, message }));
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
        record: &ScheduleRecord,
        origin: &SessionRecord,
    ) -> FreshSession {
        let schedule = &record.schedule;
        FreshSession {
            id,
            host,
            config: Arc::new(config.over(&origin.config)),
            provenance: SessionProvenance {
                origin: origin.id.clone(),
                schedule: schedule.id.clone(),
                label: schedule.label.clone(),
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
pub(super) fn fresh_session(state: &State, record: &ScheduleRecord) -> Option<FreshSession> {
    let run = record.run().filter(|run| run.phase == Some(Phase::CreateSession))?;
    let origin = state.sessions.get(record.owner)?;
    let config = record.schedule.payload.config()?;
    Some(FreshSession::new(run.session.clone()?, run.host?, config, record, origin))
}
