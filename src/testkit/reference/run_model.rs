//! Runs in the model: what is known of one, from its claim to its end.
//!
//! What lives elsewhere: how a fact changes it (`run_facts.rs`).

use std::collections::BTreeSet;

use crate::domain::{BootTime, Cause, Cursor, HostId, Moment, Phase, RunState, Schedule, SessionId};
use crate::testkit::reference::run_key::{Order, RunKey};

/// Whether a session caused something; `None` if that is not certain.
pub(in crate::testkit) type BySession = Option<bool>;

/// One run of a schedule.
#[derive(Clone, Debug)]
pub(in crate::testkit) struct RunModel {
    /// What its schedule said when it was claimed, which is what goes out.
    pub(in crate::testkit) definition: Box<Schedule>,
    /// The earliest boot time at which anything may happen for it.
    pub(in crate::testkit) earliest: BootTime,
    pub(in crate::testkit) order: Order,
    /// The target session at the time of the claim; `None` for a fresh session or a channel.
    pub(in crate::testkit) into: Option<SessionId>,
    /// The channel that it is sent by, if any.
    pub(in crate::testkit) channel: Option<Box<str>>,
    /// Whether it calls a tool that needs no host.
    pub(in crate::testkit) calls_freely: bool,
    /// The run in whose delivery it is, if it is a bulletin that was joined to another one.
    pub(in crate::testkit) lead: Option<RunKey>,
    pub(in crate::testkit) cause: Cause,
    /// Whether a session caused it.
    pub(in crate::testkit) by_session: BySession,
    /// Whether the payload makes the host begin a turn.
    pub(in crate::testkit) begins_turn: bool,
    pub(in crate::testkit) attempt: u32,
    pub(in crate::testkit) retrying: bool,
    /// The guard has been asked and has not answered.
    pub(in crate::testkit) asked: bool,
    /// The guard has allowed the present attempt.
    pub(in crate::testkit) allowed: bool,
    /// An operator has approved it, and its schedule has not changed since.
    pub(in crate::testkit) approved: bool,
    /// Its host had it when the process crashed: it keeps its place, whatever waits there.
    pub(in crate::testkit) keeps_lane: bool,
    pub(in crate::testkit) dispatched: Option<(Phase, SessionId)>,
    /// When it was last dispatched.
    pub(in crate::testkit) called_at: Option<Moment>,
    /// The cursor of the dispatch.
    pub(in crate::testkit) dispatched_at: Cursor,
    /// What was sent by the channel since the schedule last changed.
    pub(in crate::testkit) sent: Option<Box<str>>,
    /// The host that received it last.
    pub(in crate::testkit) with: Option<HostId>,
    pub(in crate::testkit) received: BTreeSet<(u32, Phase)>,
    /// Who received what in the last attempt, if that ended without an answer. The answer may still come while the present
    /// attempt waits for the disk.
    pub(in crate::testkit) unanswered: Option<(HostId, Phase)>,
    pub(in crate::testkit) state: RunState,
}

impl RunModel {
    /// Drops the guard's questions and answers: they do not survive a crash or a reload.
    pub(in crate::testkit) fn forget_the_guard(&mut self) {
        self.retrying &= !std::mem::take(&mut self.asked);
        self.allowed = false;
    }

    /// The host whose receipt for the prompt ends it: the one that has it, or else the one that has not answered yet.
    pub(in crate::testkit) fn receipt_by(&self, phase: Phase) -> Option<HostId> {
        let late = self.unanswered.filter(|(_, unanswered)| *unanswered == phase).map(|(host, _)| host);
        self.with.filter(|_| self.received.contains(&(self.attempt, phase))).or(late)
    }

    /// Whether it waits in no session's lane: to be sent by a channel, or to call a tool that needs no host.
    pub(in crate::testkit) fn is_outside(&self) -> bool {
        self.channel.is_some() || self.calls_freely
    }

    /// Whether it waits there.
    pub(in crate::testkit) fn waits_outside(&self) -> bool {
        self.is_outside() && self.state == RunState::Queued && !self.retrying
    }

    pub(in crate::testkit) fn is_live(&self) -> bool {
        !self.state.is_terminal()
    }
}
