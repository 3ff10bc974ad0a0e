//! The calls that wait, in a line for each session; the sessions take turns.

use std::collections::{BTreeMap, VecDeque};

use crate::domain::SessionId;

/// The lines. What waits is named by the id of its call.
#[derive(Default)]
pub(super) struct Lines {
    lines: BTreeMap<SessionId, VecDeque<Box<str>>>,
    /// The sessions with a line, in the order of their turns.
    turns: VecDeque<SessionId>,
    length: u64,
}

impl Lines {
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn push(&mut self, session: &SessionId, id: &str) {
        self.length += 1;
        if let Some(line) = self.lines.get_mut(session) {
            line.push_back(id.into());
            return;
        }
        self.lines.insert(session.clone(), VecDeque::from([id.into()]));
        self.turns.push_back(session.clone());
    }

    /// Takes a call out of its line.
    pub(super) fn remove(&mut self, session: &SessionId, id: &str) {
        let Some(line) = self.lines.get_mut(session) else { return };
        let Some(place) = line.iter().position(|waiting| **waiting == *id) else { return };
        line.remove(place);
        self.length -= 1;
        if line.is_empty() {
            self.lines.remove(session);
            self.turns.retain(|other| other != session);
        }
    }

    /// Takes the next call that can go on: of the session whose turn it is, the first of its line that can. A session that has
    /// none lets the others pass and keeps its turn.
    pub(super) fn take(
        &mut self,
        session_has_room: impl Fn(&SessionId) -> bool,
        can_go_on: impl Fn(&str) -> bool,
    ) -> Option<Box<str>> {
        let (turn, session, id) = self.turns.iter().enumerate().find_map(|(turn, session)| {
            if !session_has_room(session) {
                return None;
            }
            let id = self.lines.get(session)?.iter().find(|id| can_go_on(id))?;
            Some((turn, session.clone(), id.clone()))
        })?;
        self.remove(&session, &id);
        // Its turn is over, also if the rest of its line waits on.
        if self.lines.contains_key(&session) {
            self.turns.remove(turn);
            self.turns.push_back(session);
        }
        Some(id)
    }
}
