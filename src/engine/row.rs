//! The rows that are stored beside the log: schedules, sessions, and the settings of the whole.
//!
//! A row holds everything about one schedule or session that outlives the process. Hosts, turns and
//! deadlines on the boot clock are left out; `apply/restored.rs` recomputes them. Invariant: a
//! state restored from rows behaves like the state that wrote them, except for runs that were with
//! a host, which `step/whole/restart.rs` decides on.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::channels::ChannelPauses;
use super::pause::Holds;
use super::progress::Progress;
use super::state::State;
use crate::domain::{
    Awaits, BootTime, Checks, Cursor, Grant, GuardPolicy, HostId, JobId, Memory, Moment, Pings, Reason, Run,
    Schedule, ScheduleId, SessionConfig, SessionId, SessionProvenance, Status, TokenName, Watch,
};

/// One row of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredRow {
    /// A session.
    Session(Box<SessionRow>),
    /// A schedule. The row of its session comes first.
    Schedule(Box<ScheduleRow>),
    /// The hold of everything, and the latest that are over.
    Holds(Holds),
    /// The channels that are paused, by name.
    ChannelPauses(BTreeMap<Box<str>, ChannelPauses>),
    /// The guard policy and the grants.
    Guard {
        /// The policy that runs are checked by; `None` for no policy.
        policy: Option<Arc<GuardPolicy>>,
        /// The restricted grants by session.
        grants: BTreeMap<SessionId, Grant>,
    },
}

/// A stored schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRow {
    /// Its definition.
    pub schedule: Schedule,
    /// Its status.
    pub status: Status,
    /// Why it ended other than by delivery.
    pub(crate) ended_for: Option<Reason>,
    /// Its next slot.
    pub next: Option<Moment>,
    /// Its history; `None` means [`Progress::default`].
    pub(crate) progress: Option<Box<Progress>>,
    /// What it remembers from check to check, if it is a watch. Rows from before this was stored have nothing.
    pub(crate) watch: Option<Box<Watch>>,
    /// Its retained runs, oldest first.
    pub(crate) runs: Vec<Run>,
}

/// A stored session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub(crate) id: SessionId,
    /// Its configuration.
    pub(crate) config: Arc<SessionConfig>,
    /// The schedule that opened it, if one did.
    pub(crate) provenance: Option<Box<SessionProvenance>>,
    /// The name of the host token whose sessions it belongs to.
    pub(crate) host_token: Option<TokenName>,
    /// When it was opened.
    pub(crate) opened_at: Moment,
    /// The cursor of its opening, which tells it from an earlier session of its id.
    pub(crate) opened: Cursor,
    /// Whether the built-in host runs its turns. Otherwise it has no host until one takes it over.
    pub(crate) built_in: bool,
    /// Whether somebody listens in it, if the built-in host has it.
    pub(crate) listens: bool,
    /// When a person last wrote in it.
    pub(crate) last_user_activity: Option<Moment>,
    /// The jobs that were recently reported as ready, each with the time of its last report, oldest first.
    pub(crate) ready_jobs: Vec<(JobId, Moment)>,
    /// What it remembers; `None` for nothing.
    pub(crate) memory: Option<Box<Memory>>,
    /// The last ping of each name.
    pub(crate) pings: Pings,
}

impl State {
    /// Returns the row of a schedule.
    pub fn schedule_row(&self, id: &ScheduleId) -> Option<ScheduleRow> {
        let record = self.schedule(id)?;
        let mut runs: Vec<Run> = self.runs_of(record).map(|(_, run)| stored(&run.run)).collect();
        // The state lists the newest run first, and rows list it last.
        runs.reverse();
        Some(ScheduleRow {
            schedule: record.schedule.clone(),
            status: record.status,
            ended_for: record.ended_for,
            next: record.next,
            progress: record.progress.clone(),
            watch: record.remembered.clone(),
            runs,
        })
    }

    /// Returns the row of a session.
    pub fn session_row(&self, id: &SessionId) -> Option<SessionRow> {
        let record = self.session(id)?;
        Some(SessionRow {
            id: record.id.clone(),
            config: record.config.clone(),
            provenance: record.provenance.clone(),
            host_token: record.host_token.clone(),
            opened_at: record.opened_at,
            opened: record.opened,
            built_in: !record.host.is_attached(),
            listens: record.host == HostId::LOCAL,
            last_user_activity: record.last_user_activity,
            ready_jobs: record.ready_jobs.to_row(),
            memory: record.memory.clone(),
            pings: record.pings.clone(),
        })
    }

    /// Returns the ids of all open sessions, by key.
    pub fn session_ids(&self) -> impl Iterator<Item = &SessionId> {
        self.sessions.iter().map(|(_, session)| &session.id)
    }
}

/// Returns the stored form of a run. Questions to the outside guard and its answers are left out:
/// it is asked again after a restart.
fn stored(run: &Run) -> Run {
    let mut run = run.clone();
    if let Some(checks) = &mut run.checks {
        checks.allowed = None;
        // A question to the guard dies with the process that asked; an operator can still approve.
        checks.waits = checks.waits.take().filter(|hold| hold.awaits == Awaits::Operator);
        if let Some(hold) = &mut checks.waits {
            // The boot clock of this process means nothing to the next one.
            hold.due = BootTime::ZERO;
        }
    }
    run.checks = run.checks.filter(|checks| **checks != Checks::default());
    run
}
