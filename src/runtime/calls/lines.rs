//! The calls that wait, in a line for each family of sessions and one for operators; the lines take turns.

use std::collections::{BTreeMap, VecDeque};

use crate::domain::SessionId;

/// Who shares a line of calls, and a bound on those that are under way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Party {
    /// Operators, who also have what is reserved.
    Operators,
    /// A family of sessions, by its root.
    Family(SessionId),
}

/// The lines. What waits is named by the id of its call.
#[derive(Default)]
pub(super) struct Lines {
    lines: BTreeMap<Party, VecDeque<Box<str>>>,
    /// Those with a line, in the order of their turns.
    turns: VecDeque<Party>,
    length: u64,
}

impl Lines {
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// How many calls of operators wait.
    pub(super) fn length_of_operators(&self) -> u64 {
        self.lines.get(&Party::Operators).map_or(0, |line| u64::try_from(line.len()).unwrap_or(u64::MAX))
    }

    pub(super) fn push(&mut self, party: &Party, id: &str) {
        self.length += 1;
        if let Some(line) = self.lines.get_mut(party) {
            line.push_back(id.into());
            return;
        }
        self.lines.insert(party.clone(), VecDeque::from([id.into()]));
        self.turns.push_back(party.clone());
    }

    /// Takes a call out of its line.
    pub(super) fn remove(&mut self, party: &Party, id: &str) {
        let Some(line) = self.lines.get_mut(party) else { return };
        let Some(place) = line.iter().position(|waiting| **waiting == *id) else { return };
        line.remove(place);
        self.length -= 1;
        if line.is_empty() {
            self.lines.remove(party);
            // A party without waiting calls has no turn. If it comes back, it begins behind the others.
            self.turns.retain(|other| other != party);
        }
    }

    /// Takes the next call that can go on: of the party whose turn it is, the first of its line that can. A party that has
    /// none lets the others pass, and it is its turn again next time.
    pub(super) fn take(
        &mut self,
        has_room: impl Fn(&Party) -> bool,
        can_go_on: impl Fn(&str) -> bool,
    ) -> Option<Box<str>> {
        let (turn, party, id) = self.turns.iter().enumerate().find_map(|(turn, party)| {
            if !has_room(party) {
                return None;
            }
            let id = self.lines.get(party)?.iter().find(|id| can_go_on(id))?;
            Some((turn, party.clone(), id.clone()))
        })?;
        self.remove(&party, &id);
        // Its turn is over, also if the rest of its line waits on.
        if self.lines.contains_key(&party) {
            self.turns.remove(turn);
            self.turns.push_back(party);
        }
        Some(id)
    }
}
