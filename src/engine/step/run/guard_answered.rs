//! Transition: the guard answered, or its answer is overdue. The run goes on, waits for approval,
//! or fails.

use crate::domain::{Awaits, Digest, GuardAnswer, GuardFact, Reason, Refusal, RunFact, RunId};
use crate::engine::record::RunRecord;
use crate::engine::state::Mode;
use crate::engine::step::run::authorize::{GUARD, allowance_ends, hold, refuse};
use crate::engine::step::run::dispatch::try_again_as;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn guard_answered(
    step: &mut StepBuilder<'_>,
    run: &RunId,
    digest: Digest,
    answer: GuardAnswer,
) -> Result<(), Refusal> {
    if step.state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let unasked = || Refusal::NotAsked { run: run.clone() };
    let record = step.state.run(run).ok_or_else(unasked)?;
    let waits = record.run.checks.as_ref().and_then(|checks| checks.waits.as_ref());
    // An answer to an earlier question does not apply to the present one.
    waits.filter(|hold| hold.awaits == Awaits::Guard && hold.digest == digest).ok_or_else(unasked)?;
    let mut occurrence = Occurrence::of(step.state, record).ok_or_else(unasked)?;
    let text = |why: Option<Box<str>>| why.map_or_else(|| "the guard refused it".to_owned(), String::from);
    match answer {
        GuardAnswer::Refuse { why } => {
            refuse(step, &occurrence, Reason::RefusedByGuard, text(why));
            return Ok(());
        }
        GuardAnswer::Failed { detail } => {
            refuse(step, &occurrence, Reason::GuardFailed, detail.into());
            return Ok(());
        }
        GuardAnswer::Hold { why } if !occurrence.is_approved(step.state, GUARD) => {
            hold(step, &occurrence, GUARD.into(), why);
            return Ok(());
        }
        // An operator has already approved exactly this.
        GuardAnswer::Hold { .. } | GuardAnswer::Allow => {}
    }
    let until = allowance_ends(step);
    step.run_fact(run, RunFact::Guard(GuardFact::Allowed { digest, until }));
    let checks = occurrence.checks.get_or_insert_default();
    checks.waits = None;
    // Valid for this digest only: if the run was changed meanwhile, `try_again_as` asks the guard
    // anew.
    checks.allowed = Some((digest, until));
    try_again_as(step, &occurrence);
    Ok(())
}

/// Fails a run because the guard's answer or the operator's approval is overdue.
pub(in crate::engine::step) fn guard_timed_out(step: &mut StepBuilder<'_>, record: &RunRecord) {
    let Some(hold) = record.run.checks.as_ref().and_then(|checks| checks.waits.clone()) else { return };
    let Some(occurrence) = Occurrence::of(step.state, record) else { return };
    // A missing answer counts as a refusal.
    let (reason, detail) = match hold.awaits {
        Awaits::Guard => (Reason::GuardTimedOut, "the guard did not answer in time".to_owned()),
        Awaits::Operator => {
            (Reason::ApprovalExpired, format!("nobody approved it in time; held by {}", hold.detail()))
        }
    };
    refuse(step, &occurrence, reason, detail);
}
