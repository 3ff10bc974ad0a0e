//! A run is about to be handed over: the grants, the rules and the guard outside are asked, in this order, and the first
//! that does not let it pass decides what becomes of it instead. It fails, or it waits for somebody's word in nobody's way.

use super::failed::fail;
use super::occurrence::Occurrence;
use crate::domain::{Awaits, Digest, Failure, Hold, Moment, Payload, Phase, Reason, Rule, RunFact, Span};
use crate::engine::draft::Draft;
use crate::engine::effect::{Effect, GuardQuestion};
use crate::engine::guard::{Said, digest};
use crate::limits;

/// Whether a run may be handed over in this step. If not, what becomes of it has been decided.
pub(super) fn passes(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>) -> bool {
    let state = draft.state;
    if state.guard.is_none() && state.grants.is_empty() {
        return true;
    }
    match state.guard_says(draft.zones, occurrence.schedule, draft.now.wall) {
        Said::Allowed => {}
        Said::Held(rule) if occurrence.is_approved(&rule.name) => {}
        Said::Held(rule) => {
            hold(draft, occurrence, rule.name.clone(), rule.why.clone());
            return false;
        }
        Said::Refused(reason, rule) => {
            refuse(draft, occurrence, reason, detail_of(reason, rule));
            return false;
        }
    }
    match state.guard.as_ref().and_then(|policy| policy.asks) {
        Some(patience) if !occurrence.is_allowed(draft.now.boot) => {
            ask(draft, occurrence, patience);
            false
        }
        Some(_) | None => true,
    }
}

/// Whether a run whose fresh session has been created goes on with its prompt: its host may have taken a while, and what was
/// revoked or forbidden meanwhile ends here. What was approved or allowed was so for the whole of it.
pub(super) fn goes_on(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>) -> bool {
    let said = draft.state.guard_says(draft.zones, occurrence.schedule, draft.now.wall);
    let Said::Refused(reason, rule) = said else { return true };
    let failure = Failure::new(Phase::PromptSubmit, reason, detail_of(reason, rule)).with_session();
    fail(draft, occurrence, failure);
    false
}

fn detail_of(reason: Reason, rule: Option<&Rule>) -> String {
    let Some(rule) = rule else { return reason.doc().to_owned() };
    match &rule.why {
        Some(why) => format!("rule {}: {why}", rule.name),
        None => format!("rule {}", rule.name),
    }
}

/// Lets a run wait for an operator; where there is none it fails at once.
pub(super) fn hold(
    draft: &mut Draft<'_>,
    occurrence: &Occurrence<'_>,
    rule: Box<str>,
    why: Option<Box<str>>,
) {
    let Some(patience) = draft.state.guard.as_ref().and_then(|policy| policy.approval) else {
        let detail = why.as_deref().unwrap_or("the guard wants it approved").to_owned();
        refuse(draft, occurrence, Reason::NobodyApproves, detail);
        return;
    };
    let until = approval_ends(draft, occurrence, patience);
    let digest = occurrence.digest(&rule);
    let due = draft.now.boot.after(until.since(draft.now.wall));
    let hold = Hold { awaits: Awaits::Operator, rule, why, digest, until, due };
    draft.run_fact(&occurrence.id, RunFact::Held(Box::new(hold)));
}

/// Until when a word of an operator would be of use: not when the run is too late by then, its time is up, or its schedule has
/// ended.
fn approval_ends(draft: &Draft<'_>, occurrence: &Occurrence<'_>, patience: Span) -> Moment {
    let (schedule, now) = (occurrence.schedule, draft.now.wall);
    let claimed_at = draft.state.run(&occurrence.id).map_or(now, |record| record.run.claimed_at);
    let time_up = schedule.policy().timeout.and_then(|timeout| claimed_at.checked_add(timeout));
    let max_late = schedule.policy().max_late.filter(|_| !occurrence.is_by_hand());
    let too_late = max_late.and_then(|most| occurrence.slot.checked_add(most));
    let ends = [now.checked_add(patience), too_late, schedule.lifetime().expires_at, time_up];
    ends.into_iter().flatten().min().unwrap_or(now)
}

fn ask(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>, patience: Span) {
    let digest = occurrence.digest(GUARD);
    let now = draft.now;
    let due = now.boot.after(patience);
    let until = now.wall.checked_add(patience).unwrap_or(now.wall);
    draft.run_fact(&occurrence.id, RunFact::Asked { digest, due, until });
    let place = occurrence.place(draft.state).session();
    draft.effect(Effect::AskGuard(Box::new(GuardQuestion {
        run: occurrence.id.clone(),
        digest,
        schedule: occurrence.schedule.clone(),
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

pub(super) fn refuse(draft: &mut Draft<'_>, occurrence: &Occurrence<'_>, reason: Reason, detail: String) {
    let phase = match occurrence.schedule.payload {
        Payload::NewSession(_) => Phase::CreateSession,
        Payload::Turn { .. } | Payload::Say(_) => Phase::PromptSubmit,
    };
    fail(draft, occurrence, Failure::new(phase, reason, detail));
}

/// When what a guard outside has allowed has to be asked about again.
pub(super) fn allowance_ends(draft: &Draft<'_>) -> crate::domain::BootTime {
    draft.now.boot.after(Span::from_millis(limits::GUARD_ALLOWANCE_MS.value))
}

impl Occurrence<'_> {
    /// What a word under this rule would be about.
    pub(super) fn digest(&self, rule: &str) -> Digest {
        digest(&self.id, self.revision, rule, self.schedule)
    }

    /// Whether an operator has said yes to just this, under that rule.
    pub(super) fn is_approved(&self, rule: &str) -> bool {
        let approved = self.checks.as_ref().map(|checks| &checks.approved);
        approved.is_some_and(|approved| !approved.is_empty() && approved.contains(&self.digest(rule)))
    }

    fn is_allowed(&self, now: crate::domain::BootTime) -> bool {
        let allowed = self.checks.as_ref().and_then(|checks| checks.allowed);
        allowed.is_some_and(|(digest, until)| now < until && digest == self.digest(GUARD))
    }
}

/// What stands for the rule where it is a guard outside that wants something.
pub(super) const GUARD: &str = "guard";
