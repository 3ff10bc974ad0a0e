//! The text that a model is shown of what its session remembers: a block below a delivery that begins a turn.
//!
//! Composed at hand-over, so it is what holds then. Invariant: the block has at most [`limits::MEMORY_BLOCK`] characters, and no
//! text of a session can pose as a line of ours: each stands on one line, behind a mark.

use super::record::SessionRecord;
use super::state::State;
use crate::domain::{Memory, Primitives, TaskStatus};
use crate::edn::is_hidden;
use crate::limits;

impl State {
    /// Returns the switches of the families of tools.
    pub fn primitives(&self) -> &Primitives {
        &self.primitives
    }

    /// Returns what a model in this session is shown of its memory; `None` if there is nothing, or memory is switched off.
    pub(crate) fn recalled(&self, session: &SessionRecord) -> Option<String> {
        let memory = session.memory.as_deref()?;
        recall_block(memory).filter(|_| self.primitives.memory)
    }
}

/// Returns the block; `None` if nothing is remembered.
pub(crate) fn recall_block(memory: &Memory) -> Option<String> {
    if memory.is_empty() {
        return None;
    }
    let mut block = Block::new();
    block.line(&standing(memory));
    if let Some(goal) = &memory.goal {
        block.item("Goal: ", &goal.content, ITEM_CHARS);
    }
    // Tasks that are not done come first, because the others may find no room.
    let (open, done): (Vec<_>, Vec<_>) =
        memory.tasks.iter().enumerate().partition(|(_, task)| task.status != TaskStatus::Done);
    if !memory.tasks.is_empty() {
        block.line("Tasks:");
    }
    let facts = memory.facts.iter().enumerate().rev().take(RECALLED);
    let newest: Vec<(usize, &str)> = facts.map(|(at, fact)| (at, &*fact.content)).collect();
    // What is to be done comes first, but must not keep all facts out.
    let reserved = newest.len().min(FACTS_RESERVED) * FACT_RESERVED;
    for (at, task) in open.iter().chain(&done) {
        let head = format!("- [{}] t{}: ", mark(task.status), at + 1);
        if !block.fits(&head, reserved) {
            block.line("- …");
            break;
        }
        block.item(&head, &task.subject, ITEM_CHARS);
    }
    if !newest.is_empty() {
        block.line("Facts, newest first:");
    }
    for (at, content) in newest {
        block.item(&format!("- f{}: ", at + 1), content, ITEM_CHARS);
    }
    Some(block.end())
}

fn standing(memory: &Memory) -> String {
    let count = |status| memory.tasks.iter().filter(|task| task.status == status).count();
    let some = |count: usize, what| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mut line = format!("{}, {}", some(memory.facts.len(), "fact"), some(memory.tasks.len(), "task"));
    for (status, word) in [
        (TaskStatus::Done, "done"),
        (TaskStatus::InProgress, "in progress"),
        (TaskStatus::Blocked, "blocked"),
    ] {
        let number = count(status);
        if number > 0 {
            line.push_str(&format!(", {number} {word}"));
        }
    }
    line
}

const fn mark(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => " ",
        TaskStatus::InProgress => "~",
        TaskStatus::Done => "x",
        TaskStatus::Blocked => "!",
    }
}

/// A block that is being written.
struct Block {
    text: String,
    /// Characters that are left for lines.
    left: usize,
}

impl Block {
    fn new() -> Block {
        let room = usize::try_from(limits::MEMORY_BLOCK.value).unwrap_or(usize::MAX);
        // Room for head and foot, and for the line break behind the head, is set aside first.
        let frame = HEAD.chars().count() + FOOT.chars().count() + 1;
        Block { text: format!("{HEAD}\n"), left: room.saturating_sub(frame) }
    }

    /// Whether a line that begins like this has room for a little text, with so many characters left for others.
    fn fits(&self, head: &str, reserved: usize) -> bool {
        self.left >= head.chars().count() + LEAST_CHARS + reserved
    }

    /// Adds a line, if there is room for it.
    fn line(&mut self, text: &str) {
        let length = text.chars().count() + 1;
        if length <= self.left {
            self.text.push_str(text);
            self.text.push('\n');
            self.left -= length;
        }
    }

    /// Adds a text behind a mark, on one line, cut to the room that there is.
    fn item(&mut self, head: &str, text: &str, most: usize) {
        let room = self.left.saturating_sub(head.chars().count() + 1).min(most);
        if room < LEAST_CHARS {
            return;
        }
        let shown = one_line(text);
        let line = if shown.chars().count() <= room {
            shown
        } else {
            // One character is for the ellipsis.
            shown.chars().take(room - 1).chain(['…']).collect()
        };
        self.line(&format!("{head}{line}"));
    }

    fn end(mut self) -> String {
        self.text.push_str(FOOT);
        self.text
    }
}

/// A text without line breaks and characters that a reader does not see.
fn one_line(text: &str) -> String {
    let shown = |found: char| if found.is_control() || is_hidden(found) { ' ' } else { found };
    text.chars()
        .map(shown)
        .collect::<String>()
        .split(' ')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

const HEAD: &str = "═══ MEMORY ═══";
const FOOT: &str = "═══════════════";
#[expect(clippy::cast_possible_truncation, reason = "a few")]
const RECALLED: usize = limits::MEMORY_RECALLED.value as usize;
/// Longest part of one text that is shown.
const ITEM_CHARS: usize = 240;
/// A shorter part tells nothing.
const LEAST_CHARS: usize = 16;
/// How many facts tasks leave room for, and how much room each.
const FACTS_RESERVED: usize = 3;
const FACT_RESERVED: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{MemoryChange, Moment};

    fn memory(changes: impl IntoIterator<Item = MemoryChange>) -> Memory {
        let mut memory = Memory::default();
        changes.into_iter().for_each(|change| memory.apply(change, Moment::EPOCH));
        memory
    }

    fn fact(content: impl Into<Box<str>>) -> MemoryChange {
        MemoryChange::Remembered { content: content.into() }
    }

    fn task(subject: impl Into<Box<str>>) -> MemoryChange {
        MemoryChange::TaskCreated { subject: subject.into(), description: None }
    }

    #[test]
    fn a_block_has_the_goal_then_open_tasks_then_the_newest_facts() {
        let changes = [
            MemoryChange::GoalSet { goal: "Ship the release".into() },
            task("Write the notes"),
            task("Build"),
            task("Sign\nand\u{202e} upload"),
            MemoryChange::TaskUpdated { task: 1, status: TaskStatus::Done },
            MemoryChange::TaskUpdated { task: 3, status: TaskStatus::Blocked },
        ];
        let facts = (1..=9).map(|at| fact(format!("fact number {at}")));
        let block = recall_block(&memory(changes.into_iter().chain(facts))).expect("there is something");
        let expected = "═══ MEMORY ═══\n9 facts, 3 tasks, 1 done, 1 blocked\nGoal: Ship the release\nTasks:\n\
                        - [ ] t2: Build\n- [!] t3: Sign and upload\n- [x] t1: Write the notes\n\
                        Facts, newest first:\n- f9: fact number 9\n- f8: fact number 8\n- f7: fact number 7\n\
                        - f6: fact number 6\n- f5: fact number 5\n- f4: fact number 4\n- f3: fact number 3\n\
                        ═══════════════";
        assert_eq!(block, expected);
    }

    #[test]
    fn nothing_remembered_is_no_block() {
        assert_eq!(recall_block(&Memory::default()), None);
    }

    #[test]
    fn a_block_is_bounded_and_has_facts_beside_many_tasks() {
        let long = "ü".repeat(2_000);
        let tasks = (0..200).map(|at| task(format!("{at} {}", "task ".repeat(60))));
        let facts = (0..500).map(|at| fact(format!("{at} {long}")));
        let goal = MemoryChange::GoalSet { goal: long.clone().into() };
        let block = recall_block(&memory(tasks.chain(facts).chain([goal]))).expect("there is something");
        let most = usize::try_from(limits::MEMORY_BLOCK.value).expect("small");
        assert!(
            block.chars().count() <= most && block.chars().count() > most - 200,
            "{}",
            block.chars().count()
        );
        assert!(block.contains("- f500: 499 ü") && block.ends_with(FOOT), "{block}");
    }
}
