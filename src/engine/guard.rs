//! Whether a run may be handed over, by grants and policy. Checked at each hand-over, and by the
//! forecast for runs to come.
//!
//! Lives here: the rules' verdict, and the digest that identifies what an approval is about. What
//! lives elsewhere: what a verdict means for the run (`step/run/authorize.rs`), and the outside guard
//! (`port`). Cost: two comparisons without a policy and grants.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::guard_call::is_named;
use super::record::{RunRecord, SessionRecord};
use super::state::State;
use crate::calendar::Zones;
use crate::domain::{
    Actor, Awaits, Dialect, Digest, Gate, GuardPolicy, Moment, PayloadKind, Reason, Rule, RuleScope, Ruling,
    RunId, Schedule, SessionConfig, Target, TimeWindow,
};

/// The verdict of the grants and the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PolicyDecision<'a> {
    /// The run may be handed over.
    Allowed,
    /// This rule requires an operator's approval.
    NeedsApproval(&'a Rule),
    /// The run may not be handed over, for this reason, and by this rule if a rule refused it.
    Refused(Reason, Option<&'a Rule>),
}

impl State {
    /// Checks a run of this schedule at this moment. The first grant or rule that applies decides.
    pub(super) fn guard_decision(
        &self,
        zones: &Zones,
        schedule: &Schedule,
        at: Moment,
    ) -> PolicyDecision<'_> {
        if !self.is_granted(schedule) {
            return PolicyDecision::Refused(Reason::NotGranted, None);
        }
        let Some(policy) = &self.guard else { return PolicyDecision::Allowed };
        let Some(rule) = self.rule_of_run(schedule, zones, at) else { return PolicyDecision::Allowed };
        match (rule.then, policy.approval) {
            (Ruling::Allow, _) => PolicyDecision::Allowed,
            (Ruling::Refuse, _) => PolicyDecision::Refused(Reason::RefusedByRule, Some(rule)),
            // The policy gives operators no time to approve, so holding the run would be
            // pointless.
            (Ruling::Hold, None) => PolicyDecision::Refused(Reason::NobodyApproves, Some(rule)),
            (Ruling::Hold, Some(_)) => PolicyDecision::NeedsApproval(rule),
        }
    }

    /// Returns whether the grants of its owner, its maker and its editors cover a run of this schedule: all have a say in what
    /// it delivers.
    fn is_granted(&self, schedule: &Schedule) -> bool {
        if !self.is_switched_on(schedule.dialect) {
            return false;
        }
        // The common case: nothing is restricted, and only the owner has a say.
        if self.grants.is_empty() && schedule.creation.is_none() {
            return true;
        }
        let is_across = schedule.target().is_beyond(&schedule.owner);
        let is_closed = self.is_closed_to_agents(schedule.target());
        let is_covered = |author: &Actor| {
            let Some(session) = author.scope.session() else { return true };
            // Who is bound to a session needs its grant to reach another session, and channels that are open to agents.
            let reaches = author.is_bound() && (is_across || *session != schedule.owner);
            let grant = self.grant_in(schedule, session);
            grant.covers(schedule.dialect)
                && !(author.is_bound() && is_closed)
                && (!reaches || grant.cron_others)
        };
        self.grant_in(schedule, &schedule.owner).covers(schedule.dialect)
            && schedule.created_by().is_none_or(is_covered)
            && schedule.editors().all(is_covered)
    }

    /// Returns whether the family of tools is switched on that made a schedule: what was made before it was switched off
    /// does not run.
    pub(in crate::engine) fn is_switched_on(&self, dialect: Dialect) -> bool {
        match dialect.gate() {
            Some(Gate::Watchers) => self.primitives.watchers,
            Some(Gate::Scheduler) => self.primitives.scheduler,
            // Channels are checked by their name, and memory runs nothing.
            Some(Gate::Channels | Gate::Memory) | None => true,
        }
    }

    /// Returns whether what a call of this schedule came to may be told to a channel now: the channel is enabled, and open to
    /// those who answer for the schedule.
    pub(in crate::engine) fn may_tell(&self, schedule: &Schedule, channel: &str) -> bool {
        let Some(record) = self.channel(channel).filter(|record| record.disabled_at.is_none()) else {
            return false;
        };
        let is_bound = schedule.author().is_bound() || schedule.editors().any(Actor::is_bound);
        record.channel.agents || !is_bound
    }

    /// Returns whether the target is a channel that only operators may use.
    fn is_closed_to_agents(&self, target: &Target) -> bool {
        let Target::Route(route) = target else { return false };
        self.channel(&route.channel).is_some_and(|channel| !channel.channel.agents)
    }

    /// Returns the rule of the policy that decides on a run of this schedule at this moment: the first that matches.
    pub(crate) fn rule_of_run(&self, schedule: &Schedule, zones: &Zones, at: Moment) -> Option<&Rule> {
        self.guard.as_ref()?.rules.iter().find(|rule| self.matches(rule, zones, schedule, at))
    }

    fn matches(&self, rule: &Rule, zones: &Zones, schedule: &Schedule, at: Moment) -> bool {
        let of = &rule.of;
        is_about(of, (schedule.dialect, schedule.payload.kind()))
            && (of.sessions.is_empty() || self.is_by(rule, schedule))
            && (of.tools.is_empty() || self.has_tools(rule, schedule))
            && of.window.as_ref().is_none_or(|window| is_within(window, zones, at))
    }

    /// Returns whether a rule is about the sessions of a run. One that restricts is, if any of them has a hand in it or is its
    /// target: it would be avoided through a fresh session, an edit or another session otherwise. One that allows is only if
    /// all who have a hand in it are named.
    fn is_by(&self, rule: &Rule, schedule: &Schedule) -> bool {
        let named = &rule.of.sessions;
        let others = schedule.created_by().into_iter().chain(schedule.editors());
        let mut authors = others.filter_map(|author| author.scope.session()).chain([&schedule.owner]);
        match rule.then {
            Ruling::Allow => authors.all(|author| self.is_of_in(schedule, author, named)),
            Ruling::Hold | Ruling::Refuse => {
                let is_target = match schedule.target() {
                    Target::Session(into) => self.is_of(into, named),
                    Target::Owner | Target::Fresh | Target::Route(_) => false,
                };
                is_target || authors.any(|author| self.is_of_in(schedule, author, named))
            }
        }
    }

    /// Returns whether a rule is about the tools of a run: the one that it calls, or those that its fresh session may have, its
    /// own or inherited. One that restricts is, if the session may have one of them; one that allows, if it has no other.
    fn has_tools(&self, rule: &Rule, schedule: &Schedule) -> bool {
        let tools = &rule.of.tools;
        if let Some(call) = schedule.payload.call() {
            return tools.iter().any(|pattern| is_named(pattern, &call.tool));
        }
        let Some(config) = self.effective_config(schedule) else { return false };
        let (ids, selection) = (config.tool_ids, config.prompt_component_selection);
        let selected = selection.and_then(|selection| selection.tool_names);
        let any = |names: &Vec<Box<str>>| names.iter().any(|name| tools.contains(name));
        let all = |names: &Vec<Box<str>>| names.iter().all(|name| tools.contains(name));
        // Where no configuration says which tools there are, its host decides, and may give it any.
        match rule.then {
            Ruling::Allow => ids.as_ref().is_some_and(all) && selected.as_ref().is_none_or(all),
            Ruling::Hold | Ruling::Refuse => {
                ids.as_ref().is_none_or(any) || selected.as_ref().is_some_and(any)
            }
        }
    }

    /// Returns the configuration that a fresh session of the schedule would have now, with what it inherits; `None` if the
    /// schedule opens no session.
    pub(crate) fn effective_config(&self, schedule: &Schedule) -> Option<SessionConfig> {
        let asked = schedule.payload.config()?;
        let origin = self.session(&schedule.owner).map(SessionRecord::config);
        Some(origin.map_or_else(|| asked.over(&SessionConfig::default()), |origin| asked.over(origin)))
    }

    /// Returns the digest that an approval of this run has to name; `None` unless the run waits for
    /// approval.
    pub fn approval_digest(&self, record: &RunRecord) -> Option<Digest> {
        let hold =
            record.run.checks.as_ref()?.waits.as_ref().filter(|hold| hold.awaits == Awaits::Operator)?;
        let revision = self.schedules.get(record.schedule)?.progress().revision;
        Some(self.digest(&self.run_id(record)?, revision, &hold.rule, self.definition_of(record)?))
    }

    /// Returns the digest of everything that an approval covers: what is delivered and where, with what a fresh session
    /// inherits and what the session's memory adds, the revision, and the rule.
    pub(super) fn digest(&self, run: &RunId, revision: u32, rule: &str, asked: &Schedule) -> Digest {
        digest_of(run, revision, rule, asked, &self.additions(asked))
    }

    /// Returns what a run of the schedule would deliver now beyond its definition.
    pub(crate) fn additions(&self, schedule: &Schedule) -> Additions {
        Additions { config: self.effective_config(schedule), memory: self.memory_below(schedule) }
    }

    /// Returns the block of memory that would stand below the prompt.
    fn memory_below(&self, schedule: &Schedule) -> Option<Box<str>> {
        let into = match schedule.target() {
            Target::Owner => &schedule.owner,
            Target::Session(into) => into,
            // A fresh session remembers nothing yet, and a channel has no model.
            Target::Fresh | Target::Route(_) => return None,
        };
        let into = self.session(into).filter(|_| schedule.payload.begins_turn())?;
        Some(self.recalled(into)?.into())
    }

    /// Returns the policy that runs are checked by before they are handed over.
    pub fn guard(&self) -> Option<&GuardPolicy> {
        self.guard.as_deref()
    }
}

/// What a run delivers beyond its definition: it belongs to the session, which may change it at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Additions {
    /// The configuration of the fresh session, with what it inherits; `None` if none is opened.
    pub(crate) config: Option<SessionConfig>,
    /// The block of memory below the prompt; `None` if nothing is remembered.
    pub(crate) memory: Option<Box<str>>,
}

/// Returns the digest of a run of a definition, with what it delivers beyond that.
///
/// The definition is included as its debug output. If a later release prints it differently, earlier approvals become void and
/// the run is held again, which is the safe direction.
pub(crate) fn digest_of(
    run: &RunId,
    revision: u32,
    rule: &str,
    asked: &Schedule,
    more: &Additions,
) -> Digest {
    let mut text = String::new();
    // Writing to a string cannot fail. Debug output quotes texts, so different runs have different texts.
    let _ = write!(text, "{run} {revision} {rule:?} {asked:?}");
    if let Some(config) = more.config.as_ref() {
        let _ = write!(text, " {config:?}");
    }
    if let Some(memory) = &more.memory {
        let _ = write!(text, " memory {memory:?}");
    }
    Digest(Sha256::digest(text.as_bytes()).into())
}

/// Returns whether a rule is about schedules of this dialect and kind. An empty list does not restrict the rule.
pub(super) fn is_about(of: &RuleScope, (dialect, kind): (Dialect, PayloadKind)) -> bool {
    (of.dialects.is_empty() || of.dialects.contains(&dialect))
        && (of.kinds.is_empty() || of.kinds.contains(&kind))
}

pub(super) fn is_within(window: &TimeWindow, zones: &Zones, at: Moment) -> bool {
    let (day, time) = zones.reading(&window.zone, at);
    if window.from < window.until {
        return window.days.contains(day) && window.from <= time && time < window.until;
    }
    // The window spans midnight: it goes on into the day after the one on which it begins.
    window.days.contains(day) && window.from <= time
        || window.days.contains(day.before()) && time < window.until
}
