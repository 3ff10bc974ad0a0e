//! What the replay of a conversation shows: whether there is anything, and whether the prompt of a run is in it.

use super::wire::Update;
use crate::domain::RunId;

use super::exchange::Found;

/// The replay of a conversation, as it is read.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// What the prompt of the run contains, if it is looked for.
    mark: Option<Box<str>>,
    /// The end of what was said so far: a prompt may come in parts.
    said: String,
    is_there: bool,
    has_prompt: bool,
    is_answered: bool,
}

impl Replay {
    /// Begins to read a replay, and to look for the prompt of this run.
    pub(super) fn of(run: Option<&RunId>) -> Replay {
        Replay { mark: run.map(|run| run.brief().into()), ..Replay::default() }
    }

    /// Takes one update of the replay.
    pub(super) fn note(&mut self, update: &Update) {
        match update {
            Update::User(text) => {
                self.is_there = true;
                let Some(mark) = &self.mark else { return };
                self.said.push_str(text);
                self.has_prompt |= self.said.contains(&**mark);
                // As many bytes as the mark has stay: the mark may begin in this part and end in the next.
                let mut from = self.said.len().saturating_sub(mark.len());
                while !self.said.is_char_boundary(from) {
                    from += 1;
                }
                self.said.drain(..from);
            }
            Update::Said(_) | Update::Thought | Update::Tool(..) => {
                self.is_there = true;
                // A prompt is not continued after the agent has answered.
                self.said.clear();
                self.is_answered |= self.has_prompt;
            }
            Update::Cost(..) | Update::Other => {}
        }
    }

    /// Returns whether the agent showed anything of the conversation.
    pub(super) fn is_there(&self) -> bool {
        self.is_there
    }

    /// Returns what it shows of the run.
    pub(super) fn found(&self) -> Found {
        match (self.mark.is_some() && self.is_there, self.has_prompt, self.is_answered) {
            (false, _, _) => Found::Unknown,
            (true, false, _) => Found::Nothing,
            (true, true, true) => Found::Answered,
            (true, true, false) => Found::Unanswered,
        }
    }
}
