//! The guard has answered, or has not: whether a run that waited for it goes its way.

use super::occurrence::Occurrence;
use super::pass::{GUARD, allowance_ends, hold, refuse};
use super::wake::try_again_as;
use crate::domain::{Awaits, Digest, GuardAnswer, Reason, Refusal, RunFact, RunId};
use crate::engine::draft::Draft;
use crate::engine::record::RunRecord;
use crate::engine::state::Mode;

pub(in crate::engine) fn answered(
    draft: &mut Draft<'_>,
    run: &RunId,
    digest: Digest,
    answer: GuardAnswer,
) -> Result<(), Refusal> {
    if draft.state.mode != Mode::Running {
        return Err(Refusal::Stopping);
    }
    let unasked = || Refusal::NotAsked { run: run.clone() };
    let record = draft.state.run(run).ok_or_else(unasked)?;
    let waits = record.run.checks.as_ref().and_then(|checks| checks.waits.as_ref());
    // An answer to an earlier question is none to this one.
    waits.filter(|hold| hold.awaits == Awaits::Guard && hold.digest == digest).ok_or_else(unasked)?;
    let mut occurrence = Occurrence::of(draft.state, record).ok_or_else(unasked)?;
    let text = |why: Option<Box<str>>| why.map_or_else(|| "the guard refused it".to_owned(), String::from);
    match answer {
        GuardAnswer::Refuse { why } => {
            refuse(draft, &occurrence, Reason::RefusedByGuard, text(why));
            return Ok(());
        }
        GuardAnswer::Failed { detail } => {
            refuse(draft, &occurrence, Reason::GuardFailed, detail.into());
            return Ok(());
        }
        GuardAnswer::Hold { why } if !occurrence.is_approved(GUARD) => {
            hold(draft, &occurrence, GUARD.into(), why);
            return Ok(());
        }
        // An operator has said yes to just that already.
        GuardAnswer::Hold { .. } | GuardAnswer::Allow => {}
    }
    let until = allowance_ends(draft);
    draft.run_fact(run, RunFact::Allowed { digest, until });
    let checks = occurrence.checks.get_or_insert_default();
    checks.waits = None;
    // Of what was edited meanwhile this says nothing: it is asked about again.
    checks.allowed = Some((digest, until));
    try_again_as(draft, &occurrence);
    Ok(())
}

/// Nobody has said a word in time.
pub(super) fn unanswered(draft: &mut Draft<'_>, record: &RunRecord) {
    let Some(hold) = record.run.checks.as_ref().and_then(|checks| checks.waits.clone()) else { return };
    let Some(occurrence) = Occurrence::of(draft.state, record) else { return };
    let (reason, detail) = match hold.awaits {
        Awaits::Guard => (Reason::GuardTimedOut, "the guard did not answer in time".to_owned()),
        Awaits::Operator => {
            (Reason::ApprovalExpired, format!("nobody approved it in time; held by {}", hold.detail()))
        }
    };
    refuse(draft, &occurrence, reason, detail);
}
