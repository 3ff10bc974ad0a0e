//! The guard: checks a run that is about to be handed over.
//!
//! Grants, rules and the outside guard are asked in this order. The first objection decides: the
//! run fails, or it waits for an answer, in no lane, so that others can pass.

use crate::domain::{Awaits, Digest, Failure, GuardFact, Hold, Moment, Phase, Reason, Rule, RunFact, Span};
use crate::engine::effect::{Effect, GuardQuestion};
use crate::engine::guard::{Additions, PolicyDecision};
use crate::engine::state::State;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::run::retry::fail;
use crate::engine::step_builder::StepBuilder;
use crate::limits;

/// Returns whether a run may be handed over in this step. If not, this has recorded what becomes of
/// it.
pub(in crate::engine::step) fn authorize(step: &mut StepBuilder<'_>, occurrence: &Occurrence<'_>) -> bool {
    let state = step.state;
    // The common case: nothing is restricted, and only the owner has a say.
    let is_restricted = state.guard.is_some() || !state.grants.is_empty();
    let is_plain = !is_restricted && occurrence.schedule.creation.is_none();
    if is_plain && state.is_switched_on(occurrence.schedule.dialect) {
        return true;
    }
    match state.guard_decision(step.zones, occurrence.schedule, step.now.wall) {
        PolicyDecision::Allowed => {}
        // An approval satisfies the rule. The outside guard is asked as well.
        PolicyDecision::NeedsApproval(rule) if occurrence.is_approved(state, &rule.name) => {}
        PolicyDecision::NeedsApproval(rule) => {
            hold(step, occurrence, rule.name.clone(), rule.why.clone());
            return false;
        }
        PolicyDecision::Refused(reason, rule) => {
            refuse(step, occurrence, reason, detail_of(reason, rule));
            return false;
        }
    }
    match state.guard.as_ref().and_then(|policy| policy.asks) {
        Some(patience) if !occurrence.is_allowed(state, step.now.boot) => {
            ask(step, occurrence, patience);
            false
        }
        Some(_) | None => true,
    }
}

/// Returns whether a run whose fresh session was created may submit its prompt. Its host may have
/// taken a while, so grants and rules are checked again; approvals and the outside guard's
/// permission remain valid for the whole hand-over.
pub(in crate::engine::step) fn authorize_prompt(
    step: &mut StepBuilder<'_>,
    occurrence: &Occurrence<'_>,
) -> bool {
    let said = step.state.guard_decision(step.zones, occurrence.schedule, step.now.wall);
    let PolicyDecision::Refused(reason, rule) = said else { return true };
    let failure = Failure::new(Phase::PromptSubmit, reason, detail_of(reason, rule)).with_session();
    fail(step, occurrence, failure);
    false
}

fn detail_of(reason: Reason, rule: Option<&Rule>) -> String {
    let Some(rule) = rule else { return reason.doc().to_owned() };
    match &rule.why {
        Some(why) => format!("rule {}: {why}", rule.name),
        None => format!("rule {}", rule.name),
    }
}

/// Lets a run wait for an operator. If the policy has no approvals, the run fails at once.
pub(in crate::engine::step) fn hold(
    step: &mut StepBuilder<'_>,
    occurrence: &Occurrence<'_>,
    rule: Box<str>,
    why: Option<Box<str>>,
) {
    let Some(patience) = step.state.guard.as_ref().and_then(|policy| policy.approval) else {
        let detail = why.as_deref().unwrap_or("the guard wants it approved").to_owned();
        refuse(step, occurrence, Reason::NobodyApproves, detail);
        return;
    };
    let until = approval_ends(step, occurrence, patience);
    let digest = occurrence.digest(step.state, &rule);
    let due = step.now.boot.after(until.since(step.now.wall));
    let hold = Hold { awaits: Awaits::Operator, rule, why, digest, until, due };
    step.run_fact(&occurrence.id, RunFact::Guard(GuardFact::Held(Box::new(hold))));
}

/// Returns until when an approval would be of use: not after the run is too late, its timeout is
/// over or its schedule has expired. The timeout of a call begins with the approval.
fn approval_ends(step: &StepBuilder<'_>, occurrence: &Occurrence<'_>, patience: Span) -> Moment {
    let (schedule, now) = (occurrence.schedule, step.now.wall);
    // A run that is claimed in this step is not in the state yet.
    let claimed_at = step.state.run(&occurrence.id).map_or(now, |record| record.run.claimed_at);
    let timeout = schedule.policy().timeout.filter(|_| schedule.payload.call().is_none());
    let time_up = timeout.and_then(|timeout| claimed_at.checked_add(timeout));
    let max_late = schedule.policy().max_late.filter(|_| !occurrence.is_manual());
    let too_late = max_late.and_then(|most| occurrence.slot.checked_add(most));
    let ends = [now.checked_add(patience), too_late, schedule.lifetime().expires_at, time_up];
    ends.into_iter().flatten().min().unwrap_or(now)
}

fn ask(step: &mut StepBuilder<'_>, occurrence: &Occurrence<'_>, patience: Span) {
    let digest = occurrence.digest(step.state, GUARD);
    let now = step.now;
    let due = now.boot.after(patience);
    let until = now.wall.checked_add(patience).unwrap_or(now.wall);
    step.run_fact(&occurrence.id, RunFact::Guard(GuardFact::Asked { digest, due, until }));
    // The guard may judge by the session, which only the engine knows.
    let place = occurrence.destination(step.state).session();
    let Additions { config, memory } = step.state.additions(occurrence.schedule);
    step.effect(Effect::AskGuard(Box::new(GuardQuestion {
        run: occurrence.id.clone(),
        digest,
        schedule: occurrence.schedule.clone(),
        config,
        memory,
        revision: occurrence.revision,
        cause: occurrence.cause,
        late: now.wall.since(occurrence.slot),
        folded: occurrence.folded,
        attempt: occurrence.attempt,
        session: place.map(|session| session.id.clone()),
        provenance: place.and_then(|session| session.provenance.as_deref().cloned()),
        patience,
    })));
}

pub(in crate::engine::step) fn refuse(
    step: &mut StepBuilder<'_>,
    occurrence: &Occurrence<'_>,
    reason: Reason,
    detail: String,
) {
    // The phase that the hand-over would have begun with.
    let phase = occurrence.schedule.payload.first_phase();
    fail(step, occurrence, Failure::new(phase, reason, detail));
}

/// Returns until when a permission of the outside guard is valid.
pub(in crate::engine::step) fn allowance_ends(step: &StepBuilder<'_>) -> crate::domain::BootTime {
    step.now.boot.after(Span::from_millis(limits::GUARD_ALLOWANCE_MS.value))
}

impl Occurrence<'_> {
    /// Returns the digest that an approval under this rule has to name.
    pub(in crate::engine::step) fn digest(&self, state: &State, rule: &str) -> Digest {
        state.digest(&self.id, self.revision, rule, self.schedule)
    }

    /// Returns whether an operator has approved exactly this, under that rule.
    pub(in crate::engine::step) fn is_approved(&self, state: &State, rule: &str) -> bool {
        let approved = self.checks.as_ref().map(|checks| &checks.approved);
        // Computing the digest prints and hashes the definition: not for runs without approvals.
        approved.is_some_and(|approved| !approved.is_empty() && approved.contains(&self.digest(state, rule)))
    }

    fn is_allowed(&self, state: &State, now: crate::domain::BootTime) -> bool {
        let allowed = self.checks.as_ref().and_then(|checks| checks.allowed);
        allowed.is_some_and(|(digest, until)| now < until && digest == self.digest(state, GUARD))
    }
}

/// Stands in for a rule's name where the outside guard decides.
pub(in crate::engine::step) const GUARD: &str = "guard";
