//! The sessions' shares of the log: when its bytes run out, sessions over their share lose their own facts first.
//!
//! A share is an even part of the byte cap. A session over it loses its oldest facts; if more than a part of a share are
//! edits, its oldest edits go first, so that rewriting a schedule does not remove the facts that say who created it and
//! what it has delivered. Every fact that a session can cause counts in the share of its family's root, whichever session
//! or schedule it is about. Grants count as nobody's: only operators cause them.
//!
//! Shape: for each session, the cursors of its facts and of the edits among them; the sessions by their bytes. Costs: an
//! append is two lookups, and a plan looks at the `LARGEST` sessions only. Invariant: of the facts that a plan names, all
//! are in the log.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use crate::limits;
use crate::port::{EDITS_PART, is_edit, is_shared_by_nobody};

/// The facts of each session.
#[derive(Default)]
pub(super) struct Shares {
    // By the digest of the session's id.
    sessions: HashMap<u64, Share>,
    // The bytes of each share and its session, so that the largest share is found without a search.
    by_bytes: BTreeSet<(u64, u64)>,
}

#[derive(Default)]
struct Share {
    bytes: u64,
    facts: BTreeSet<u64>,
    edit_bytes: u64,
    edits: BTreeSet<u64>,
}

/// Whose share a fact counts in, and whether it is an edit.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) session: u64,
    pub(super) is_edit: bool,
}

impl Part {
    /// The part of a fact that counts for this session; `None` if it counts in nobody's share.
    pub(super) fn of(session: Option<u64>, kind: &str) -> Option<Part> {
        let session = session.filter(|_| !is_shared_by_nobody(kind))?;
        Some(Part { session, is_edit: is_edit(kind) })
    }
}

impl Shares {
    pub(super) fn add(&mut self, part: Part, cursor: u64, bytes: u64) {
        let share = self.sessions.entry(part.session).or_default();
        self.by_bytes.remove(&(share.bytes, part.session));
        share.bytes += bytes;
        share.facts.insert(cursor);
        if part.is_edit {
            share.edit_bytes += bytes;
            share.edits.insert(cursor);
        }
        self.by_bytes.insert((share.bytes, part.session));
    }

    pub(super) fn remove(&mut self, part: Part, cursor: u64, bytes: u64) {
        let Some(share) = self.sessions.get_mut(&part.session) else { return };
        self.by_bytes.remove(&(share.bytes, part.session));
        if share.facts.remove(&cursor) {
            share.bytes = share.bytes.saturating_sub(bytes);
        }
        if share.edits.remove(&cursor) {
            share.edit_bytes = share.edit_bytes.saturating_sub(bytes);
        }
        if share.facts.is_empty() {
            self.sessions.remove(&part.session);
        } else {
            self.by_bytes.insert((share.bytes, part.session));
        }
    }

    /// Returns whether a fact counts in the share of this session.
    pub(super) fn has(&self, session: u64, cursor: u64) -> bool {
        self.sessions.get(&session).is_some_and(|share| share.facts.contains(&cursor))
    }

    /// Returns how many bytes the share of this session has.
    pub(super) fn of(&self, session: u64) -> u64 {
        self.sessions.get(&session).map_or(0, |share| share.bytes)
    }

    /// Returns how many bytes the largest share has.
    pub(super) fn largest(&self) -> u64 {
        self.by_bytes.last().map_or(0, |(bytes, _)| *bytes)
    }

    /// Adds to `plan` facts of sessions over their share, about `excess` bytes of them and at most `max`. Returns how
    /// many bytes these have.
    pub(super) fn plan(&self, cap: u64, excess: u64, max: u64, plan: &mut BTreeSet<u64>) -> u64 {
        let sessions = (self.sessions.len() as u64).clamp(1, limits::HISTORY_SHARES.value);
        let (share, mut freed) = (cap / sessions, 0);
        for (bytes, session) in self.by_bytes.iter().rev().take(LARGEST) {
            let left = excess.saturating_sub(freed).min(bytes.saturating_sub(share));
            // The largest come first, so no later session is over its share either.
            let Some(of) = self.sessions.get(session).filter(|_| left > 0) else { break };
            // First the edits that are beyond their part of the share, then the oldest facts of any kind.
            let edits = of.edit_bytes.saturating_sub(share / EDITS_PART).min(left);
            freed += take(&of.edits, of.edit_bytes, edits, max, plan);
            freed += take(&of.facts, of.bytes, left - edits, max, plan);
        }
        freed
    }
}

/// Plans the oldest of these facts, enough for `wanted` bytes by their average. Returns about how many bytes they have.
fn take(from: &BTreeSet<u64>, bytes: u64, wanted: u64, max: u64, plan: &mut BTreeSet<u64>) -> u64 {
    let each = (bytes / (from.len() as u64).max(1)).max(1);
    let room = max.saturating_sub(plan.len() as u64);
    let count = wanted.div_ceil(each).min(room);
    let before = plan.len();
    let fresh: Vec<u64> = from
        .iter()
        .copied()
        .filter(|cursor| !plan.contains(cursor))
        .take(usize::try_from(count).unwrap_or(usize::MAX))
        .collect();
    plan.extend(fresh);
    (plan.len() - before) as u64 * each
}

/// How many sessions a plan looks at, largest first, so that many sessions over their share do not make it slow.
const LARGEST: usize = 16;
