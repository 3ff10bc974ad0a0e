//! The calls that wait, in a line for each family of sessions; the families take turns.

use std::collections::{BTreeMap, VecDeque};

use crate::domain::SessionId;

/// The lines. What waits is named by the id of its call.
#[derive(Default)]
pub(super) struct Lines {
    lines: BTreeMap<SessionId, VecDeque<Box<str>>>,
    /// The families with a line, by their roots, in the order of their turns.
    turns: VecDeque<SessionId>,
    length: u64,
}

impl Lines {
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn push(&mut self, family: &SessionId, id: &str) {
        self.length += 1;
        if let Some(line) = self.lines.get_mut(family) {
            line.push_back(id.into());
            return;
        }
        self.lines.insert(family.clone(), VecDeque::from([id.into()]));
        self.turns.push_back(family.clone());
    }

    /// Takes a call out of its line.
    pub(super) fn remove(&mut self, family: &SessionId, id: &str) {
        let Some(line) = self.lines.get_mut(family) else { return };
        let Some(place) = line.iter().position(|waiting| **waiting == *id) else { return };
        line.remove(place);
        self.length -= 1;
        if line.is_empty() {
            self.lines.remove(family);
            self.turns.retain(|other| other != family);
        }
    }

    /// Takes the next call that can go on: of the family whose turn it is, the first of its line that can. A family that has
    /// none lets the others pass and keeps its turn.
    pub(super) fn take(
        &mut self,
        has_room: impl Fn(&SessionId) -> bool,
        can_go_on: impl Fn(&str) -> bool,
    ) -> Option<Box<str>> {
        let (turn, family, id) = self.turns.iter().enumerate().find_map(|(turn, family)| {
            if !has_room(family) {
                return None;
            }
            let id = self.lines.get(family)?.iter().find(|id| can_go_on(id))?;
            Some((turn, family.clone(), id.clone()))
        })?;
        self.remove(&family, &id);
        // Its turn is over, also if the rest of its line waits on.
        if self.lines.contains_key(&family) {
            self.turns.remove(turn);
            self.turns.push_back(family);
        }
        Some(id)
    }
}
