//! Whether a run may be handed over: asked at each hand-over, and by the forecast for those to come.
//!
//! Lives here: what the policy and the grants say, and what exactly was asked about. Does not live here: what then becomes of
//! the run (`step/pass.rs`), and the guard outside (`port`). Cost: two comparisons where there is neither policy nor grant.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::record::RunRecord;
use super::state::State;
use crate::calendar::Zones;
use crate::domain::{
    Awaits, Digest, GuardPolicy, Moment, Reason, Rule, RuleScope, Ruling, RunId, Schedule, TimeWindow,
};

/// What is said of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// Nothing stands against it.
    Allowed,
    /// A rule wants an operator's word.
    Held(&'a Rule),
    /// It may not be, for this reason, and by this rule if it was one.
    Refused(Reason, Option<&'a Rule>),
}

impl State {
    /// What the grants and the policy say of a run of this schedule at this moment. The first that fails decides.
    pub(super) fn guard_says(&self, zones: &Zones, schedule: &Schedule, at: Moment) -> Said<'_> {
        if let Some(grant) = self.grants.get(&schedule.owner)
            && !grant.covers(schedule.dialect)
        {
            return Said::Refused(Reason::NotGranted, None);
        }
        let Some(policy) = &self.guard else { return Said::Allowed };
        let Some(rule) = policy.rules.iter().find(|rule| matches(&rule.of, zones, schedule, at)) else {
            return Said::Allowed;
        };
        match (rule.then, policy.approval) {
            (Ruling::Allow, _) => Said::Allowed,
            (Ruling::Refuse, _) => Said::Refused(Reason::RefusedByRule, Some(rule)),
            (Ruling::Hold, None) => Said::Refused(Reason::NobodyApproves, Some(rule)),
            (Ruling::Hold, Some(_)) => Said::Held(rule),
        }
    }

    /// What a word of an operator on a run would be about, as it stands; `None` unless it waits for one.
    pub fn approval_digest(&self, record: &RunRecord) -> Option<Digest> {
        let hold =
            record.run.checks.as_ref()?.waits.as_ref().filter(|hold| hold.awaits == Awaits::Operator)?;
        let revision = self.schedules.get(record.schedule)?.course().revision;
        Some(digest(&self.run_id(record)?, revision, &hold.rule, self.asked(record)?))
    }

    /// What runs are measured by when they are about to be handed over; `None` for nothing.
    pub fn guard(&self) -> Option<&GuardPolicy> {
        self.guard.as_deref()
    }
}

fn matches(of: &RuleScope, zones: &Zones, schedule: &Schedule, at: Moment) -> bool {
    let has_tool = || {
        let given = schedule.payload.config().and_then(|config| config.tool_ids.as_ref());
        given.is_some_and(|given| given.iter().any(|tool| of.tools.contains(tool)))
    };
    (of.sessions.is_empty() || of.sessions.contains(&schedule.owner))
        && (of.dialects.is_empty() || of.dialects.contains(&schedule.dialect))
        && (of.kinds.is_empty() || of.kinds.contains(&schedule.payload.kind()))
        && (of.tools.is_empty() || has_tool())
        && of.window.as_ref().is_none_or(|window| is_within(window, zones, at))
}

fn is_within(window: &TimeWindow, zones: &Zones, at: Moment) -> bool {
    let (day, time) = zones.reading(&window.zone, at);
    if window.from < window.until {
        return window.days.contains(day) && window.from <= time && time < window.until;
    }
    // It goes on into the day after the one on which it begins.
    window.days.contains(day) && window.from <= time
        || window.days.contains(day.before()) && time < window.until
}

/// What a word about a run is about: all that is handed over, where to, by which revision, and under which rule.
///
/// The definition goes in as its debug output. A release that prints it otherwise voids what was approved before it, and the
/// run is held again: that errs on the safe side.
pub(super) fn digest(run: &RunId, revision: u32, rule: &str, asked: &Schedule) -> Digest {
    let mut text = String::new();
    // Writing to a string cannot fail. Debug output quotes texts, so that no two runs make one text.
    let _ = write!(text, "{run} {revision} {rule:?} {asked:?}");
    Digest(Sha256::digest(text.as_bytes()).into())
}
