//! Transition: an operator approves or denies a run that waits for approval.
//!
//! An approval is for what was shown to the operator: if the run was changed in between, it is
//! refused. The digest is compared once more when the run is handed over.

use crate::domain::{Actor, Awaits, Checks, Digest, GuardFact, Hold, Reason, Refusal, RunFact, RunId, Scope};
use crate::engine::record::RunRecord;
use crate::engine::state::{Mode, State};
use crate::engine::step::run::authorize::refuse;
use crate::engine::step::run::dispatch::try_again_as;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step_builder::StepBuilder;
use crate::limits;

pub(in crate::engine) fn approve(
    step: &mut StepBuilder<'_>,
    run: RunId,
    digest: Digest,
    by: Actor,
) -> Result<(), Refusal> {
    // An approval hands the run over, which a stopping engine does not do. A denial only ends it, and needs no such check.
    if step.state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let (record, hold) = held(step.state, &run, &by)?;
    let Some(mut occurrence) = Occurrence::of(step.state, record) else {
        return Err(Refusal::UnknownRun { run });
    };
    // Computed now, and not when the run was held: its definition may have changed since.
    if occurrence.digest(step.state, &hold.rule) != digest {
        return Err(Refusal::ApprovalConflict { run, digest });
    }
    step.run_fact(&run, RunFact::Guard(GuardFact::Approved { digest, by: Box::new(by) }));
    // The fact is not applied yet, so the hand-over below has to find the approval here.
    approved(occurrence.checks.get_or_insert_default(), digest);
    try_again_as(step, &occurrence);
    Ok(())
}

pub(in crate::engine) fn deny(
    step: &mut StepBuilder<'_>,
    run: RunId,
    why: Option<Box<str>>,
    by: Actor,
) -> Result<(), Refusal> {
    let (record, hold) = held(step.state, &run, &by)?;
    let Some(occurrence) = Occurrence::of(step.state, record) else {
        return Err(Refusal::UnknownRun { run });
    };
    let detail = match &why {
        Some(why) => format!("denied by {by}: {why}"),
        None => format!("denied by {by}, under {}", hold.rule),
    };
    step.run_fact(&run, RunFact::Guard(GuardFact::Denied { by: Box::new(by), why }));
    refuse(step, &occurrence, Reason::ApprovalDenied, detail);
    Ok(())
}

/// Returns the run and its hold, if it waits for an operator and `by` is one.
fn held<'a>(state: &'a State, run: &RunId, by: &Actor) -> Result<(&'a RunRecord, &'a Hold), Refusal> {
    let unknown = || Refusal::UnknownRun { run: run.clone() };
    // To anyone else the run answers like one that does not exist.
    let record = state.run(run).filter(|_| by.scope == Scope::Operator).ok_or_else(unknown)?;
    let hold = record.run.checks.as_ref().and_then(|checks| checks.waits.as_ref());
    let hold = hold.filter(|hold| hold.awaits == Awaits::Operator);
    Ok((record, hold.ok_or_else(|| Refusal::NotHeld { run: run.clone() })?))
}

/// Records an approved digest; drops the oldest if there are too many.
pub(in crate::engine) fn approved(checks: &mut Checks, digest: Digest) {
    checks.waits = None;
    // Approved again, a digest counts as the newest.
    checks.approved.retain(|known| *known != digest);
    if checks.approved.len() as u64 >= limits::APPROVALS_KEPT.value {
        checks.approved.remove(0);
    }
    checks.approved.push(digest);
}
