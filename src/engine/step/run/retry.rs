//! The end of an attempt that failed: another attempt after a wait, or the end of the run.

use crate::domain::{Cause, Failure, Reason, Recovery, RunFact, Schedule, Span, Status, Target};
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;
use crate::limits;

/// Ends an attempt with a failure. Returns the wait before the next attempt; `None` if the run has
/// failed for good.
pub(in crate::engine::step) fn fail(
    step: &mut StepBuilder<'_>,
    occurrence: &Occurrence<'_>,
    failure: Failure,
) -> Option<Span> {
    let wait = wait_before_next(occurrence, &failure);
    match wait {
        Some(wait) => retry(step, occurrence, failure, wait),
        None => occurrence.finish(step, RunFact::Failed(Box::new(failure))),
    }
    wait
}

/// Records that there is another attempt after this wait.
pub(in crate::engine::step) fn retry(
    step: &mut StepBuilder<'_>,
    occurrence: &Occurrence<'_>,
    failure: Failure,
    wait: Span,
) {
    let (at, due) = (step.now.wall.checked_add(wait), step.now.boot.after(wait));
    let at = at.unwrap_or(step.now.wall);
    let again = RunFact::Retrying { failure: Box::new(failure), at, due };
    step.run_fact_by(&occurrence.id, again, occurrence.by.clone());
}

/// Returns the wait before the next attempt; `None` if there is none.
pub(in crate::engine::step) fn wait_before_next(
    occurrence: &Occurrence<'_>,
    failure: &Failure,
) -> Option<Span> {
    let (schedule, attempt) = (occurrence.schedule, occurrence.attempt);
    debug_assert!(attempt > 0, "{}: attempts count from one", occurrence.id);
    // An existing fresh session is not created a second time.
    if occurrence.record.status == Status::Cancelled || failure.session_exists {
        return None;
    }
    if let Target::Route(_) = schedule.target() {
        return retry_delay(schedule, attempt, failure);
    }
    let lost = matches!(failure.reason, Reason::HostLost | Reason::Crashed);
    if occurrence.cause == Cause::Bulletin {
        return wait_of_bulletin(attempt, failure.reason, lost);
    }
    let policy = schedule.policy();
    let redelivers = schedule.is_durable() && policy.recovery == Recovery::Redeliver;
    let not_taken = matches!(
        failure.reason,
        Reason::HostRefused | Reason::TargetMissing | Reason::LimitReached | Reason::TooManyCalls
    );
    // Without a receipt, the prompt may have arrived. Only a durable schedule that asks for
    // redelivery repeats it.
    let unknown = lost || failure.reason == Reason::ReceiptOverdue;
    if !(not_taken || unknown && redelivers) {
        return None;
    }
    // The wait after the n-th attempt is the n-th entry.
    let left = policy.backoff.get(usize::from(attempt) - 1).copied();
    // A lost host says nothing about the prompt, so such an attempt is repeated beyond the backoff
    // list, within the bound on attempts.
    let again = lost && redelivers && u64::from(attempt) < limits::ATTEMPTS.value;
    left.or(again.then_some(Span::ZERO))
}

/// Returns the wait before a bulletin is told again; `None` if it is not. The policy of the schedule is about its calls: a call
/// is made once or not at all, and how it ended is told until a host has it, under one id, by which a host knows it again.
fn wait_of_bulletin(attempt: u16, reason: Reason, lost: bool) -> Option<Span> {
    if lost {
        return (u64::from(attempt) < limits::ATTEMPTS.value).then_some(Span::ZERO);
    }
    // A host that has it and says nothing is not woken again and again.
    let tried = usize::from(attempt).saturating_sub(1);
    TABLE.get(tried).filter(|_| reason == Reason::HostRefused).map(|wait| Span::from_millis(*wait))
}

/// Returns the waits before further attempts of a schedule's runs: those of its policy, or the table of Standard Webhooks for a
/// channel if the policy has none.
pub(crate) fn retry_waits(schedule: &Schedule) -> Vec<Span> {
    let own = schedule.policy().backoff.as_slice();
    match schedule.target() {
        Target::Route(_) if own.is_empty() => TABLE.iter().copied().map(Span::from_millis).collect(),
        Target::Route(_) | Target::Owner | Target::Session(_) | Target::Fresh => own.to_vec(),
    }
}

/// Returns the wait before the next attempt to send a message; `None` if there is none: after the last of the waits there is no
/// further attempt. It is no less than the receiver asks for.
fn retry_delay(schedule: &Schedule, attempt: u16, failure: &Failure) -> Option<Span> {
    let asked = failure.again_after.unwrap_or(Span::ZERO);
    // The pace of the channel is our own: nothing was tried, and nothing of the table is used up.
    if failure.reason == Reason::OverBudget {
        return Some(asked);
    }
    let not_taken = failure.reason == Reason::HostRefused;
    // Without an answer, the message may have arrived. A volatile one is not sent twice.
    let unknown = matches!(failure.reason, Reason::ReceiptOverdue | Reason::Crashed) && schedule.is_durable();
    if !(not_taken || unknown) {
        return None;
    }
    let tried = usize::from(attempt).saturating_sub(1);
    let wait = retry_waits(schedule).get(tried).copied()?;
    // The receiver may ask for a longer wait, within a bound.
    Some(wait.max(asked.min(Span::from_millis(limits::RETRY_AFTER_MS.value))))
}

/// The waits after the first attempts: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h.
/// Source: Standard Webhooks 1.0.
const TABLE: [u64; 9] =
    [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000];

const _: () = assert!((TABLE.len() as u64) < limits::ATTEMPTS.value);
const _: () = assert!(TABLE[TABLE.len() - 1] <= limits::RETRY_AFTER_MS.value);
