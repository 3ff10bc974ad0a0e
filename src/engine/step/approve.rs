//! An operator's word on a run that waits for it: it goes its way again, or it fails.
//!
//! The word is about what was shown: an edit in between makes it a word about something else, and is refused. What was
//! approved is looked at once more when it is handed over.

use super::occurrence::Occurrence;
use super::pass::refuse;
use super::wake::try_again_as;
use crate::domain::{Actor, Awaits, Checks, Digest, Hold, Reason, Refusal, RunFact, RunId, Scope};
use crate::engine::draft::Draft;
use crate::engine::record::RunRecord;
use crate::engine::state::{Mode, State};
use crate::limits;

pub(in crate::engine) fn approve(
    draft: &mut Draft<'_>,
    run: RunId,
    digest: Digest,
    by: Actor,
) -> Result<(), Refusal> {
    if draft.state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let (record, hold) = held(draft.state, &run, &by)?;
    let Some(mut occurrence) = Occurrence::of(draft.state, record) else {
        return Err(Refusal::UnknownRun { run });
    };
    let present = occurrence.digest(&hold.rule);
    if present != digest {
        return Err(Refusal::ApprovalConflict { run, digest, present });
    }
    draft.run_fact(&run, RunFact::Approved { digest, by: Box::new(by) });
    approved(occurrence.checks.get_or_insert_default(), digest);
    try_again_as(draft, &occurrence);
    Ok(())
}

pub(in crate::engine) fn deny(
    draft: &mut Draft<'_>,
    run: RunId,
    why: Option<Box<str>>,
    by: Actor,
) -> Result<(), Refusal> {
    let (record, hold) = held(draft.state, &run, &by)?;
    let Some(occurrence) = Occurrence::of(draft.state, record) else {
        return Err(Refusal::UnknownRun { run });
    };
    let detail = match &why {
        Some(why) => format!("denied by {by}: {why}"),
        None => format!("denied by {by}, under {}", hold.rule),
    };
    draft.run_fact(&run, RunFact::Denied { by: Box::new(by), why });
    refuse(draft, &occurrence, Reason::ApprovalDenied, detail);
    Ok(())
}

/// The run, if it waits for an operator and this is one.
fn held<'a>(state: &'a State, run: &RunId, by: &Actor) -> Result<(&'a RunRecord, &'a Hold), Refusal> {
    let unknown = || Refusal::UnknownRun { run: run.clone() };
    let record = state.run(run).filter(|_| by.scope == Scope::Operator).ok_or_else(unknown)?;
    let hold = record.run.checks.as_ref().and_then(|checks| checks.waits.as_ref());
    let hold = hold.filter(|hold| hold.awaits == Awaits::Operator);
    Ok((record, hold.ok_or_else(|| Refusal::NotHeld { run: run.clone() })?))
}

/// Notes what was approved; the oldest goes where there is too much of it.
pub(in crate::engine) fn approved(checks: &mut Checks, digest: Digest) {
    checks.waits = None;
    checks.approved.retain(|known| *known != digest);
    if checks.approved.len() as u64 >= limits::APPROVALS_KEPT.value {
        checks.approved.remove(0);
    }
    checks.approved.push(digest);
}
