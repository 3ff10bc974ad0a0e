//! Which rule of the guard's policy is about a call of a tool that no schedule makes.

use super::guard::{is_about, is_within};
use super::state::State;
use crate::calendar::Zones;
use crate::domain::{Dialect, Moment, PayloadKind, Rule, RuleScope, SessionId, ToolName};

impl State {
    /// Returns the first rule that matches a call of this tool, which a session makes by a tool of this dialect now.
    pub fn rule_of_call(
        &self,
        session: &SessionId,
        (dialect, tool): (Dialect, &ToolName),
        zones: &Zones,
        at: Moment,
    ) -> Option<&Rule> {
        // A call that is made at once has no author but its session, so rules that allow and rules that restrict match alike.
        let matches = |of: &RuleScope| {
            is_about(of, (dialect, PayloadKind::Call))
                && (of.sessions.is_empty() || self.is_of(session, &of.sessions))
                && (of.tools.is_empty() || of.tools.iter().any(|pattern| is_named(pattern, tool)))
                && of.window.as_ref().is_none_or(|window| is_within(window, zones, at))
        };
        self.guard()?.rules.iter().find(|rule| matches(&rule.of))
    }
}

/// Whether a tool has this name, or begins with what stands before its `*`.
pub(super) fn is_named(pattern: &str, tool: &ToolName) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => tool.as_str().starts_with(beginning),
        None => tool.as_str() == pattern,
    }
}
