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
                let seen = self.said.len();
                self.said.push_str(text);
                // A mark that ends before this part was seen with it, and what stands before it may be gone.
                self.has_prompt |= marks(&self.said, mark).any(|end| end > seen);
                // As many bytes as the mark has stay, and the character before: it may begin in this part and end in the next.
                let mut from = self.said.len().saturating_sub(mark.len() + CHAR_BYTES);
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

/// Where the mark of a run ends in a text. The id of a run may be the end, or the beginning, of another one's: that is no mark.
pub(super) fn marks(text: &str, mark: &str) -> impl Iterator<Item = usize> {
    text.match_indices(mark).filter_map(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + mark.len()..]);
        // Behind a dot there may be more of an id, or the next sentence.
        let after = after.strip_prefix('.').unwrap_or(after);
        (!before.ends_with(is_of_id) && !after.starts_with(is_of_id)).then_some(at + mark.len())
    })
}

fn is_of_id(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '-' | '_' | '.' | '~' | ':' | '/')
}

/// The longest character.
const CHAR_BYTES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// What a replay shows of a run whose prompt is looked for, after these parts of what was said to the agent.
    #[track_caller]
    fn check(parts: &[&str], expected: Found) {
        let run = RunId::parse("report~1~2026-06-01T00:00:00Z").unwrap();
        let mut replay = Replay::of(Some(&run));
        let parts = parts.iter().map(|part| part.replace('*', &run.brief()));
        parts.for_each(|part| replay.note(&Update::User(part.into())));
        assert_eq!(replay.found(), expected);
    }

    #[test]
    fn the_id_of_a_run_is_no_part_of_another() {
        check(&["Look.\n\n[Scheduled in Reveille. Run *.]"], Found::Unanswered);
        check(&["*"], Found::Unanswered);
        check(&["Run *, or", " not"], Found::Unanswered);
        for other in ["daily-*.]", "a *7", "a *.7", "*-b", "x:*"] {
            check(&[other], Found::Nothing);
        }
    }

    #[test]
    fn a_mark_is_found_across_parts_and_only_where_it_stands_alone() {
        let run = RunId::parse("report~1~2026-06-01T00:00:00Z").unwrap().brief();
        for at in 1..run.len() {
            let (begin, end) = run.split_at(at);
            check(&[&format!("Run {begin}"), end, ".]"], Found::Unanswered);
            check(&[&format!("Run daily-{begin}"), end, ".]", " and so on"], Found::Nothing);
        }
    }
}
