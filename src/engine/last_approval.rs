//! The last approval of a run of a schedule, with what was approved: the next one shows what differs from it.
//!
//! It is folded from the log, whose facts do not repeat what the state has. What lives elsewhere: the fold
//! (`apply/guard.rs`), and what of it is shown (`graph/attr/last_approved.rs`). Invariant: a schedule has one at most, of at most
//! `limits::APPROVED_BYTES`, which count for its session.

use std::sync::Arc;

use crate::domain::{Actor, Moment, Run, Schedule, SessionConfig};

/// The last approval of a run of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastApproval {
    /// Under which trigger the run was claimed.
    pub(crate) incarnation: u32,
    /// The slot of the run.
    pub(crate) slot: Moment,
    /// When it was approved.
    pub(crate) at: Moment,
    /// Who approved it.
    pub(crate) by: Actor,
    /// The definition that was approved.
    pub(crate) what: Approved,
    /// The configuration of the fresh session, with what it inherited then; `None` if none was opened, or with
    /// [`Approved::TooLarge`].
    pub(crate) config: Option<Arc<SessionConfig>>,
}

/// The definition that was approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approved {
    /// The one that the schedule still has.
    Present,
    /// One that the schedule has no more.
    Former(Arc<Schedule>),
    /// It is not retained, because it was too large.
    TooLarge,
}

impl LastApproval {
    /// Returns whether it is the approval of this run.
    pub(super) fn is_of(&self, run: &Run) -> bool {
        (self.incarnation, self.slot) == (run.incarnation, run.slot)
    }

    /// Returns the size of what is retained for it alone.
    pub(super) fn bytes(&self) -> u64 {
        let config = self.config.as_ref().map_or(0, |config| config.bytes() as u64);
        match &self.what {
            Approved::Former(schedule) => config + schedule.bytes(),
            Approved::Present | Approved::TooLarge => config,
        }
    }

    /// Retains the present definition, which is about to be replaced, if it is the one that was approved.
    pub(super) fn outlive(&mut self, present: &Schedule) {
        if self.what == Approved::Present {
            self.what = Approved::Former(Arc::new(present.clone()));
        }
    }
}
