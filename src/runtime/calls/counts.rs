//! What became of the calls of each tool, for as long as the process lives.
//!
//! Invariant: there are at most `limits::COUNTED_TOOLS` entries. Beyond it, the tool goes whose last call ended the longest
//! ago: a host or a server may offer other names again and again.

use std::collections::BTreeMap;

use crate::domain::{Outcome, ToolCounts, ToolName};
use crate::limits;

/// The counts by executor and tool.
#[derive(Default)]
pub(super) struct Counts {
    tools: BTreeMap<(u32, ToolName), Entry>,
    /// The order in which calls have ended.
    last: u64,
}

#[derive(Default)]
struct Entry {
    counts: ToolCounts,
    last: u64,
}

impl Counts {
    /// Counts a call that has ended.
    pub(super) fn count(&mut self, executor: u32, tool: &ToolName, outcome: &Outcome) {
        // A count and not a time, because several calls can end at one instant.
        self.last += 1;
        let key = (executor, tool.clone());
        if !self.tools.contains_key(&key) && self.tools.len() as u64 >= limits::COUNTED_TOOLS.value {
            self.drop_oldest();
        }
        let entry = self.tools.entry(key).or_default();
        entry.last = self.last;
        entry.counts.calls += 1;
        if !outcome.ok {
            entry.counts.failures += 1;
            entry.counts.last_error.clone_from(&outcome.error);
        }
    }

    /// What became of the calls of a tool; nothing if none has ended.
    pub(super) fn of(&self, executor: u32, tool: &ToolName) -> ToolCounts {
        self.tools.get(&(executor, tool.clone())).map(|entry| entry.counts.clone()).unwrap_or_default()
    }

    /// Drops what was counted for an executor that is gone.
    pub(super) fn forget(&mut self, executor: u32) {
        self.tools.retain(|(number, _), _| *number != executor);
    }

    fn drop_oldest(&mut self) {
        let oldest = self.tools.iter().min_by_key(|(_, entry)| entry.last).map(|(key, _)| key.clone());
        if let Some(oldest) = oldest {
            self.tools.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Span;
    use crate::edn::Value;

    #[test]
    fn the_tool_that_was_called_the_longest_ago_makes_room() {
        let tool = |number: u64| ToolName::new(&format!("t.a{number}")).expect("a name");
        let (mut counts, max) = (Counts::default(), limits::COUNTED_TOOLS.value);
        let (good, bad) = (Outcome::of_value(Value::Nil, 0, Span::ZERO), Outcome::of_error("no", Span::ZERO));
        for number in 0..max {
            counts.count(1, &tool(number), &good);
        }
        counts.count(1, &tool(0), &bad);
        counts.count(2, &tool(0), &good);
        assert_eq!(counts.tools.len() as u64, max);
        assert_eq!(counts.of(1, &tool(1)), ToolCounts::default());
        let first = ToolCounts { calls: 2, failures: 1, last_error: Some("no".into()) };
        assert_eq!(counts.of(1, &tool(0)), first);
        assert_eq!((counts.of(2, &tool(0)).calls, counts.of(2, &tool(0)).last_error), (1, None));
        counts.forget(1);
        assert_eq!((counts.tools.len(), counts.of(1, &tool(0))), (1, ToolCounts::default()));
    }
}
