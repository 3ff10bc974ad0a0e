//! Copies what a command is about to change of what is stored.
//!
//! What lives elsewhere: what the copies are for (`undo`).

use std::collections::BTreeSet;

use super::state::State;
use super::undo::{Touched, Undo};
use crate::domain::{ChannelFact, EngineFact, Fact, RunId, ScheduleId, SessionFact};

impl State {
    /// Returns what these facts are about to change of what is stored, each thing once. Sessions are left out: their
    /// changes are not taken back, but written later.
    pub(crate) fn before(&self, facts: &[Fact]) -> Vec<Undo> {
        let touched: BTreeSet<Touched<'_>> = facts.iter().filter_map(|fact| self.touched_by(fact)).collect();
        touched.into_iter().filter_map(|touched| self.copy_of(touched)).collect()
    }

    fn touched_by<'a>(&self, fact: &'a Fact) -> Option<Touched<'a>> {
        match fact {
            Fact::Created { schedule, .. } => {
                // Nothing of a volatile schedule is stored, so a failed write takes nothing of it back.
                schedule.is_durable().then_some(Touched::Schedule(&schedule.id))
            }
            Fact::Schedule(id, _) | Fact::Run(RunId { schedule: id, .. }, _, _) => {
                self.is_stored(id).then_some(Touched::Schedule(id))
            }
            Fact::Session(id, SessionFact::Memory(_) | SessionFact::Pinged { .. }, _) => {
                Some(Touched::Memory(id))
            }
            Fact::Session(_, SessionFact::Granted { .. }, _)
            | Fact::Engine(EngineFact::GuardPolicySet { .. }) => Some(Touched::Guard),
            Fact::Engine(EngineFact::AllHeld { .. } | EngineFact::AllReleased { .. }) => Some(Touched::Holds),
            Fact::Channel(_, ChannelFact::Paused { .. } | ChannelFact::Resumed { .. }) => {
                Some(Touched::ChannelPauses)
            }
            Fact::Session(
                _,
                SessionFact::Opened { .. }
                | SessionFact::Closed
                | SessionFact::HostAttached { .. }
                | SessionFact::HostDetached { .. }
                | SessionFact::Addressed { .. }
                | SessionFact::JobReady { .. }
                | SessionFact::Busy
                | SessionFact::Idle
                | SessionFact::UserMessage
                | SessionFact::ToolsCalled { .. }
                | SessionFact::TurnUnreported,
                _,
            )
            | Fact::Host(..)
            | Fact::Channel(_, ChannelFact::Opened(_) | ChannelFact::Disabled)
            | Fact::Engine(
                EngineFact::Refused { .. } | EngineFact::Restarted { .. } | EngineFact::Stopping { .. },
            ) => None,
        }
    }

    fn is_stored(&self, id: &ScheduleId) -> bool {
        self.schedule(id).is_some_and(|record| record.schedule().is_durable())
    }

    fn copy_of(&self, touched: Touched<'_>) -> Option<Undo> {
        Some(match touched {
            Touched::Schedule(id) => {
                Undo::Schedule { id: id.clone(), row: self.schedule_row(id).map(Box::new) }
            }
            Touched::Holds => Undo::Holds(self.holds.clone()),
            Touched::ChannelPauses => Undo::ChannelPauses(self.channel_pauses.clone()),
            Touched::Guard => Undo::Guard { policy: self.guard.clone(), grants: self.grants.clone() },
            Touched::Memory(id) => {
                let record = self.session(id)?;
                let (memory, pings) = (record.memory.clone(), record.pings.clone());
                Undo::Memory { session: id.clone(), opened: record.opened(), memory, pings }
            }
        })
    }
}
