//! Families: a session that a caller opened, its root, and the fresh sessions that its schedules opened, and theirs.
//!
//! A family shares grants and budgets, so that a fresh session is no way around either. Here are the members of a family
//! and what they may do together. What lives elsewhere: making room for one more (`step/session/make_room.rs`).

use std::borrow::Cow;

use super::record::SessionRecord;
use super::slab::Key;
use super::state::State;
use crate::domain::{Descent, Grant, Schedule, SessionId};
use crate::limits;

/// Longest line of openers that is followed: longer than any that fits into a family.
const LINE_MAX: usize = 1_024;
const _: () = assert!(limits::FRESH_SESSIONS.value < LINE_MAX as u64);

impl SessionRecord {
    /// Returns the root of the session's family: the session itself, unless a schedule opened it.
    pub(crate) fn root(&self) -> &SessionId {
        self.provenance.as_ref().map_or(&self.id, |provenance| &provenance.root)
    }

    /// Returns whether a turn goes on in the session that a run has begun.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.turn_of.is_some()
    }

    /// Returns whether nothing is left to do in a fresh session: its run has ended, no turn goes on, nothing waits, it has
    /// no unfinished schedules, and no person has written in it.
    fn is_spent(&self) -> bool {
        let is_at_work = self.busy || self.turn_starting || self.in_flight.is_some() || self.is_in_turn();
        // A person who writes in the session keeps it on purpose.
        !is_at_work && self.waiting.is_empty() && self.live.is_empty() && self.last_user_activity.is_none()
    }
}

impl State {
    /// Returns the root of a session's family; the session itself if it is not open.
    pub(crate) fn root_of<'a>(&'a self, session: &'a SessionId) -> &'a SessionId {
        self.session(session).map_or(session, SessionRecord::root)
    }

    /// Returns the root of the family whose budgets a schedule is counted in. One that a fresh session made stays in its family's
    /// after that session was closed.
    pub(crate) fn root_in<'a>(&'a self, schedule: &'a Schedule) -> &'a SessionId {
        let noted = schedule.descent_of(&schedule.owner);
        noted.map_or_else(|| self.root_of(&schedule.owner), |descent| &descent.root)
    }

    /// Returns what a session may do: what its own grant allows, and the grants of the sessions that it comes from.
    pub(crate) fn effective_grant(&self, session: &SessionId) -> Cow<'_, Grant> {
        self.narrowed(session, || self.openers(session))
    }

    /// Returns what a session may do that has a hand in a schedule, also after it was closed.
    pub(super) fn grant_in(&self, schedule: &Schedule, session: &SessionId) -> Cow<'_, Grant> {
        self.narrowed(session, || self.openers_in(schedule, session))
    }

    fn narrowed<'a, I: Iterator<Item = &'a SessionId>>(
        &self,
        session: &SessionId,
        openers: impl FnOnce() -> I,
    ) -> Cow<'_, Grant> {
        let own = Cow::Borrowed(self.grant(session));
        // The common case: nothing is restricted.
        if self.grants.is_empty() {
            return own;
        }
        openers().fold(own, |grant, opener| Cow::Owned(grant.and(self.grant(opener))))
    }

    /// Returns the sessions that a fresh session comes from: the root of its family, and the line of its openers. None for a
    /// session that a caller opened.
    pub(super) fn openers(&self, session: &SessionId) -> impl Iterator<Item = &SessionId> {
        let provenance = self.session(session).and_then(SessionRecord::provenance);
        let origin_of = |id: &&SessionId| Some(&self.session(id)?.provenance()?.origin);
        // Fresh sessions have random ids, so the line has no circle. The bound holds for a damaged store as well.
        let line = std::iter::successors(provenance.map(|provenance| &provenance.origin), origin_of);
        // The root is named apart from the line, which ends early where an opener has been closed.
        provenance.map(|provenance| &provenance.root).into_iter().chain(line.take(LINE_MAX))
    }

    /// Returns the sessions that one with a hand in a schedule comes from, also after it was closed.
    fn openers_in<'a>(
        &'a self,
        schedule: &'a Schedule,
        session: &'a SessionId,
    ) -> impl Iterator<Item = &'a SessionId> {
        // What the schedule has noted stays true if somebody opens the id of the fresh session again.
        let noted = schedule.descent_of(session).into_iter();
        let line =
            |from: &'a Descent| [&from.root, &from.origin].into_iter().chain(self.openers(&from.origin));
        self.openers(session).chain(noted.flat_map(line))
    }

    /// Returns where a fresh session comes from that is open.
    pub(super) fn descent(&self, session: &SessionId) -> Option<Descent> {
        let from = self.session(session)?.provenance()?;
        let (origin, root) = (from.origin.clone(), from.root.clone());
        Some(Descent { session: session.clone(), origin, root })
    }

    /// Returns whether a session with a hand in a schedule is one of these, or comes from one of them, also after it was closed.
    pub(super) fn is_of_in(&self, schedule: &Schedule, session: &SessionId, named: &[SessionId]) -> bool {
        named.contains(session) || self.openers_in(schedule, session).any(|opener| named.contains(opener))
    }

    /// Returns whether a session is one of these, or comes from one of them.
    pub(super) fn is_of(&self, session: &SessionId, sessions: &[SessionId]) -> bool {
        sessions.contains(session) || self.openers(session).any(|opener| sessions.contains(opener))
    }

    /// Returns the sessions that share a budget with this one, itself included.
    pub(crate) fn family_of<'a>(
        &'a self,
        session: &'a SessionRecord,
    ) -> impl Iterator<Item = &'a SessionRecord> + 'a {
        let family = self.families.get(session.root());
        // Without fresh sessions, the session is its family.
        let alone = Some(session).filter(|_| family.is_none());
        let root = family.and_then(|_| self.session(session.root()));
        let fresh = family.into_iter().flat_map(|family| &family.open).filter_map(|(_, id)| self.session(id));
        alone.into_iter().chain(root).chain(fresh)
    }

    /// Returns the number of fresh sessions of a root, open or being created, without those that a person keeps.
    pub(crate) fn fresh_count(&self, root: &SessionId) -> usize {
        let Some(family) = self.families.get(root) else { return 0 };
        let is_kept = |id: &SessionId| self.session(id).is_some_and(|it| it.last_user_activity.is_some());
        family.open.iter().filter(|(_, id)| !is_kept(id)).count() + family.creating
    }

    /// Returns the fresh sessions of a root in which nothing is left to do, oldest first.
    pub(super) fn spent_sessions(&self, root: &SessionId) -> impl Iterator<Item = &SessionRecord> {
        let open = self.families.get(root).into_iter().flat_map(|family| &family.open);
        open.filter_map(|(_, id)| self.session(id)).filter(|session| session.is_spent())
    }

    pub(super) fn enter_family(&mut self, session: Key) {
        let Some(record) = self.sessions.get(session) else { return };
        let Some(provenance) = &record.provenance else { return };
        let member = (record.opened_at, record.id.clone());
        self.families.entry(provenance.root.clone()).or_default().open.insert(member);
    }

    pub(super) fn leave_family(&mut self, record: &SessionRecord) {
        let Some(provenance) = &record.provenance else { return };
        if let Some(family) = self.families.get_mut(&provenance.root) {
            family.open.remove(&(record.opened_at, record.id.clone()));
        }
        self.drop_empty_family(&provenance.root);
    }

    /// Counts a session that a host begins to create for a schedule of `owner`.
    pub(super) fn begin_creating(&mut self, session: &SessionId, owner: Option<Key>) {
        let root = owner.and_then(|owner| self.sessions.get(owner)).map(|owner| owner.root().clone());
        let Some(root) = root else { return };
        if self.creating.insert(session.clone(), root.clone()).is_none() {
            self.families.entry(root).or_default().creating += 1;
        }
    }

    /// The session exists, or is not created any more.
    pub(super) fn end_creating(&mut self, session: &SessionId) {
        let Some(root) = self.creating.remove(session) else { return };
        if let Some(family) = self.families.get_mut(&root) {
            debug_assert!(family.creating > 0, "{session} was not counted for {root}");
            family.creating -= 1;
        }
        self.drop_empty_family(&root);
    }

    fn drop_empty_family(&mut self, root: &SessionId) {
        if self.families.get(root).is_some_and(|family| family.open.is_empty() && family.creating == 0) {
            self.families.remove(root);
        }
    }
}
