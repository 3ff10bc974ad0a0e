//! How much the runs of each family have had written to disk in the present ten seconds.
//!
//! All sessions share one disk, and a run can cause far more to be written than the call that scheduled it: its schedule comes
//! again and again. The count is in memory only, and begins anew with the process.

use std::collections::BTreeMap;

use super::record::{SessionRecord, Written};
use super::state::State;
use crate::domain::{Now, Phase, Schedule, SessionId, Span};

/// The length of a window: short, so that what one session may write at once keeps nobody waiting for long.
const WINDOW_NS: u64 = 10_000_000_000;

/// Returns the number of the present window of the boot clock.
fn window(now: Now) -> u64 {
    now.boot.nanos() / WINDOW_NS
}

/// Returns the time until the next window begins.
pub(super) fn until_next_window(now: Now) -> Span {
    Span::from_nanos(WINDOW_NS - now.boot.nanos() % WINDOW_NS)
}

/// Returns how many bytes are written when a run of this schedule is handed over in this phase: the prompt of a durable
/// schedule, and everything of a fresh session.
pub(super) fn bytes_written(schedule: &Schedule, phase: Phase) -> u64 {
    match phase {
        Phase::CreateSession => schedule.bytes(),
        Phase::PromptSubmit if schedule.is_durable() => schedule.payload.text().len() as u64,
        Phase::PromptSubmit | Phase::Outside => 0,
    }
}

impl State {
    /// Returns the root of a session's family; the session itself if it is not open.
    pub(super) fn root_of<'a>(&'a self, session: &'a SessionId) -> &'a SessionId {
        self.session(session).map_or(session, SessionRecord::root)
    }

    /// Returns what the family of this root has had written in the present window.
    pub(super) fn written_by(&self, root: &SessionId, now: Now) -> u64 {
        if self.written.window != window(now) {
            return 0;
        }
        self.written.of.get(root).copied().unwrap_or(0)
    }

    /// Counts bytes that a run of this session's schedule has written.
    pub(super) fn note_written(&mut self, owner: &SessionId, bytes: u64, now: Now) {
        if bytes == 0 {
            return;
        }
        let root = self.root_of(owner).clone();
        let window = window(now);
        if self.written.window != window {
            self.written = Written { window, of: BTreeMap::new() };
        }
        *self.written.of.entry(root).or_default() += bytes;
    }
}
