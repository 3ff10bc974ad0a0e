//! The schedules that an agent holds itself for its conversation, as the agent said at the end of a turn.
//!
//! They are shown, and nothing here fires them. Invariant: their number and each of their texts are within bounds. What is beyond
//! the bound of the number is counted; a text that was cut is marked.

use crate::limits;

/// The schedules that an agent holds itself for one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSchedules {
    first: Box<[AgentSchedule]>,
    count: u32,
}

/// A schedule that an agent holds itself, in the agent's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSchedule {
    /// The id that the agent gave it.
    pub(crate) id: Box<str>,
    /// When it is due, as a cron expression in the local time of the agent's machine.
    pub(crate) cron: Box<str>,
    /// Whether it is due at every match of the expression, and not only at the first.
    pub(crate) recurring: bool,
    /// What the agent will be prompted with.
    pub(crate) prompt: Box<str>,
    /// Whether one of the texts was cut at [`limits::AGENT_SCHEDULE_TEXT_BYTES`].
    pub(crate) truncated: bool,
}

impl AgentSchedules {
    /// Retains the first of `count` schedules, at most [`limits::AGENT_SCHEDULES`]. A count below the number of the retained
    /// ones is raised to it.
    pub fn new(first: impl IntoIterator<Item = AgentSchedule>, count: u32) -> AgentSchedules {
        let most = usize::try_from(limits::AGENT_SCHEDULES.value).unwrap_or(usize::MAX);
        let first: Box<[AgentSchedule]> = first.into_iter().take(most).collect();
        let retained = u32::try_from(first.len()).unwrap_or(u32::MAX);
        AgentSchedules { first, count: count.max(retained) }
    }

    /// The ones that are retained, in the order in which the agent named them.
    pub(crate) fn first(&self) -> &[AgentSchedule] {
        &self.first
    }

    /// How many the agent named, including those that are not retained.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}

impl AgentSchedule {
    /// Cuts each text at its bound, [`limits::AGENT_SCHEDULE_TEXT_BYTES`].
    pub fn new(id: &str, cron: &str, recurring: bool, prompt: &str) -> AgentSchedule {
        // Before the texts are cut, because afterwards nothing tells.
        let truncated = [id, cron, prompt].into_iter().any(|text| beginning(text).len() < text.len());
        let [id, cron, prompt] = [id, cron, prompt].map(|text| Box::from(beginning(text)));
        AgentSchedule { id, cron, recurring, prompt, truncated }
    }
}

/// What is retained of a text: whole characters.
fn beginning(text: &str) -> &str {
    let most = usize::try_from(limits::AGENT_SCHEDULE_TEXT_BYTES.value).unwrap_or(usize::MAX);
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_prompt(prompt: &str) -> AgentSchedule {
        AgentSchedule::new("a", "* * * * *", true, prompt)
    }

    #[test]
    fn a_text_of_the_greatest_length_is_whole_and_a_longer_one_is_cut_and_marked() {
        let most = usize::try_from(limits::AGENT_SCHEDULE_TEXT_BYTES.value).expect("it is small");
        let whole = with_prompt(&"x".repeat(most));
        assert!(whole.prompt.len() == most && !whole.truncated);
        let cut = with_prompt(&"x".repeat(most + 1));
        assert!(cut.prompt.len() == most && cut.truncated);
        let between = with_prompt(&format!("{}ü", "x".repeat(most - 1)));
        assert!(between.prompt.len() == most - 1 && between.truncated, "no half of a character");
        let long_id = AgentSchedule::new(&"i".repeat(most + 1), "* * * * *", false, "p");
        assert!(long_id.id.len() == most && long_id.truncated);
    }

    #[test]
    fn as_many_as_the_bound_are_retained_and_all_are_counted() {
        let most = u32::try_from(limits::AGENT_SCHEDULES.value).expect("it is small");
        for (given, count) in [(0, 0), (most, most), (most + 1, most + 1), (most, most + 40)] {
            let said = AgentSchedules::new((0..given).map(|_| with_prompt("p")), count);
            assert_eq!((said.first().len(), said.count()), (given.min(most) as usize, count), "{given}");
        }
        assert_eq!(AgentSchedules::new([with_prompt("p")], 0).count(), 1);
    }
}
