//! Lineages: how far schedules may go on scheduling by themselves.
//!
//! A schedule's run begins a turn, the turn makes more schedules, and so on; all of them form one
//! chain. This module finds the chain of a session's current turn, checks its depth and its size, and
//! counts its schedules. What lives elsewhere: the lineage of one schedule, and grants (`domain`).
//! Invariant: whether a schedule began a turn is known from the receipts and reports of the host,
//! never from what a caller claims.

use super::record::SessionRecord;
use super::slab::Key;
use super::state::State;
use crate::domain::{Actor, Lineage, Refusal, RunId, Schedule, Scope};
use crate::limits;

impl SessionRecord {
    /// Returns the chain of the current turn, if a schedule's run began it; or the chain of a fresh
    /// session, as long as no person has written in it.
    pub(crate) fn chain(&self) -> Option<&Lineage> {
        let from = || self.provenance.as_ref()?.chain.as_ref().filter(|_| self.last_user_activity.is_none());
        self.turn().or_else(from)
    }

    /// Returns the run that began the current turn, if a schedule's run did.
    pub(crate) fn turn_run(&self) -> Option<&RunId> {
        self.turn().map(|chain| &chain.run)
    }

    /// Returns the chain of the current turn. The chain of the last delivery applies only while a turn is going on.
    fn turn(&self) -> Option<&Lineage> {
        self.woken.as_deref().filter(|_| self.busy)
    }
}

impl State {
    /// Returns the chain that a new schedule of a session joins. Only requests by the session itself
    /// join its chain; `by` is `None` for these.
    ///
    /// # Errors
    /// Returns [`Refusal::TooDeep`] if the session's grant does not allow this depth.
    pub(super) fn chain_of_caller(
        &self,
        by: Option<&Actor>,
        session: &SessionRecord,
    ) -> Result<Option<Lineage>, Refusal> {
        let id = session.id();
        let is_itself = || by.is_none_or(|by| matches!(&by.scope, Scope::Session(who) if who == id));
        let Some(lineage) = session.chain().filter(|_| is_itself()) else { return Ok(None) };
        let max = self.effective_grant(id).depth;
        if lineage.depth > max {
            return Err(Refusal::TooDeep { depth: lineage.depth, max });
        }
        Ok(Some(lineage.clone()))
    }

    /// Refuses manual runs from a turn that a schedule began. A manual run has no chain, so such a
    /// chain could go on forever.
    pub(super) fn check_manual(&self, by: &Actor) -> Result<(), Refusal> {
        // An operator acts for no session, so its manual runs are always allowed.
        let session = by.scope.session().and_then(|session| self.session(session));
        match session.and_then(SessionRecord::chain) {
            None => Ok(()),
            Some(_) => Err(Refusal::WokenTurn),
        }
    }

    /// Refuses one more schedule in a chain that is full.
    pub(super) fn check_chain(&self, lineage: &Lineage) -> Result<(), Refusal> {
        let there_are = self.chains.get(&lineage.root).copied().unwrap_or(0);
        if u64::from(there_are) >= limits::LINE_SCHEDULES.value {
            return Err(Refusal::LimitReached { limit: limits::LINE_SCHEDULES });
        }
        Ok(())
    }

    /// Returns how many slots per minute a session has, with the sessions that it shares a budget with.
    pub(crate) fn slots_per_minute(&self, session: &SessionRecord) -> u64 {
        let of = |member: &SessionRecord| self.slots.get(member.id()).copied().unwrap_or_default();
        if self.slots.is_empty() { 0 } else { self.family_of(session).map(of).sum() }
    }

    /// Returns the same of the family that has most.
    #[cfg(feature = "embed")]
    pub(crate) fn slots_per_minute_of_largest(&self) -> u64 {
        let mut families = std::collections::BTreeMap::<&crate::domain::SessionId, u64>::new();
        for (owner, slots) in &self.slots {
            *families.entry(self.root_of(owner)).or_default() += slots;
        }
        families.into_values().max().unwrap_or_default()
    }

    /// Refuses more slots per minute than a session may have, with the sessions that it shares a budget with. `before` is how
    /// many of them the schedule has already.
    pub(super) fn check_slots(&self, schedule: &Schedule, before: u64) -> Result<(), Refusal> {
        let more = schedule.slots_per_minute().saturating_sub(before);
        if more == 0 {
            return Ok(());
        }
        // A session that is not open shares a budget with nobody.
        let Some(session) = self.session(&schedule.owner) else { return Ok(()) };
        if self.slots_per_minute(session) + more > limits::SLOTS_PER_MINUTE.value {
            return Err(Refusal::LimitReached { limit: limits::SLOTS_PER_MINUTE });
        }
        Ok(())
    }

    /// Adds an unfinished schedule to the counts of its dialect, of its owner and of its chain, or removes it.
    pub(super) fn count_unfinished(&mut self, key: Key, is_there: bool) {
        let Some(record) = self.schedules.get(key) else { return };
        let live = &mut self.live[record.schedule.dialect as usize];
        // A count below zero would mean that a schedule ended twice. The counts would stay wrong, so a release stops too.
        assert!(is_there || *live > 0, "a schedule ends, and none of its dialect is counted as unfinished");
        *live = if is_there { *live + 1 } else { *live - 1 };
        let slots = record.schedule.slots_per_minute();
        if slots > 0 {
            let all = self.slots.entry(record.schedule.owner.clone()).or_default();
            assert!(is_there || *all >= slots, "a schedule ends whose slots are not counted");
            *all = if is_there { *all + slots } else { *all - slots };
            if *all == 0 {
                self.slots.remove(&record.schedule.owner);
            }
        }
        let Some(root) = record.schedule.lineage().map(|it| &it.root) else { return };
        if is_there {
            *self.chains.entry(root.clone()).or_default() += 1;
        } else if let Some(count) = self.chains.get_mut(root) {
            assert!(*count > 0, "the chain of {root} has no schedule left to leave it");
            *count -= 1;
            if *count == 0 {
                // Lines end without a fact of their own. An empty entry would stay forever.
                self.chains.remove(root);
            }
        }
    }
}
