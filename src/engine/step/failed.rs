//! A host could not do what it was asked to: visible, with the phase, and with the fresh session if one exists; and tried
//! again where the schedule's policy says so.

use super::finish_run::finish_run;
use super::hand_over::{fresh_session, hand_over_next};
use super::occurrence::Occurrence;
use super::outside::{disable, wait_outside};
use crate::domain::{
    Failure, HostId, Phase, Reason, Recovery, Refusal, RunFact, RunId, Span, Status, Target,
};
use crate::engine::draft::Draft;
use crate::engine::effect::Effect;
use crate::engine::place::Place;
use crate::engine::record::RunRecord;
use crate::limits;

pub(in crate::engine) fn failed(draft: &mut Draft<'_>, run: &RunId, failure: Failure) -> Result<(), Refusal> {
    let record = draft.state.in_flight(run)?;
    fail_in_flight(draft, record, failure);
    Ok(())
}

/// Ends an attempt in flight with a failure, and lets the lane go on if its session is idle.
pub(super) fn fail_in_flight(draft: &mut Draft<'_>, record: &RunRecord, mut failure: Failure) {
    let state = draft.state;
    let Some(occurrence) = Occurrence::of(state, record) else { return };
    // Hosts may err about how far they came; the record does not.
    let run = &record.run;
    failure.phase = run.phase.unwrap_or(failure.phase);
    let fresh = fresh_session(state, record).filter(|fresh| state.session(&fresh.id).is_none());
    failure.session_exists = run.session_created || failure.session_exists && fresh.is_some();
    // A session that was created but not configured is a session all the same, and must not be an orphan.
    if failure.session_exists
        && let Some(fresh) = fresh
    {
        draft.session_fact(&fresh.id, fresh.opened());
    }
    if failure.reason == Reason::ChannelDisabled {
        disable(draft, &occurrence);
    }
    fail(draft, &occurrence, failure);
    if let Some(lane) = state.lane(record)
        && lane.hosted
        && !lane.busy
    {
        hand_over_next(draft, lane);
    }
}

/// Ends an attempt that nobody can answer any more. Where its session has no host, or is about to lose it, a run that is tried
/// again at once waits for one in its own place: what had queued behind it stays behind it.
pub(super) fn fail_unanswered(
    draft: &mut Draft<'_>,
    record: &RunRecord,
    failure: Failure,
    lost: Option<HostId>,
) {
    let Some(occurrence) = Occurrence::of(draft.state, record) else { return };
    let is_again_at_once = fail(draft, &occurrence, failure) == Some(Span::ZERO);
    let place = occurrence.place(draft.state);
    if let Place::Lane(_, session) | Place::Fresh(_, session) = place
        && is_again_at_once
        && (!session.hosted || lost == Some(session.host))
    {
        draft.run_fact(&occurrence.id, RunFact::Queued { reason: Reason::HostGone });
    }
}

/// Ends an attempt with a failure: there is another after the wait that is returned, or the run has failed.
pub(super) fn fail(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>, failure: Failure) -> Option<Span> {
    let failure = Box::new(failure);
    let wait = wait_before_next(occurrence, &failure);
    match wait {
        Some(wait) => {
            let (at, due) = (draft.now.wall.checked_add(wait), draft.now.boot.after(wait));
            let at = at.unwrap_or(draft.now.wall);
            draft.run_fact(&occurrence.id, RunFact::Retrying { failure, at, due });
        }
        None => finish_run(draft, occurrence, RunFact::Failed(failure)),
    }
    wait
}

/// How long to wait before the next attempt, if there is to be one.
fn wait_before_next(occurrence: &Occurrence<'_>, failure: &Failure) -> Option<Span> {
    let (schedule, attempt) = (occurrence.schedule, occurrence.attempt);
    // A fresh session that exists is not created a second time.
    if occurrence.record.status == Status::Cancelled || failure.session_exists {
        return None;
    }
    if let Target::Route(_) = schedule.target() {
        return wait_outside(schedule, attempt, failure);
    }
    let policy = schedule.policy();
    let redelivers = schedule.is_durable() && policy.recovery == Recovery::Redeliver;
    let not_taken =
        matches!(failure.reason, Reason::HostRefused | Reason::TargetMissing | Reason::LimitReached);
    let lost = matches!(failure.reason, Reason::HostLost | Reason::Crashed);
    // Without a receipt, it may have happened.
    let unknown = lost || failure.reason == Reason::ReceiptOverdue;
    if !(not_taken || unknown && redelivers) {
        return None;
    }
    let left = policy.backoff.get(usize::from(attempt) - 1).copied();
    let again = lost && redelivers && u64::from(attempt) < limits::ATTEMPTS.value;
    left.or(again.then_some(Span::ZERO))
}

/// Lets the host forget a session that it may be creating for a run nobody will ask about any more.
pub(super) fn forget_orphan(draft: &mut Draft<'_>, record: &RunRecord) {
    let run = Some(&record.run).filter(|run| run.phase == Some(Phase::CreateSession));
    if let Some((host, session)) = run.and_then(|run| run.host.zip(run.session.clone())) {
        draft.effect(Effect::ForgetSession { host, session });
    }
}

/// The failure of a run in flight, in the phase that it is in.
pub(super) fn failure_in_flight(record: &RunRecord, reason: Reason, message: &str) -> Failure {
    let failure = Failure::new(record.run.phase.unwrap_or(Phase::PromptSubmit), reason, message);
    Failure { session_exists: record.run.session_created, ..failure }
}
