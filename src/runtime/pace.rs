//! How fast each session token creates schedules.
//!
//! Shape: a token bucket as one instant per session: the time at which all that it has created would have been due had
//! it kept to the pace. Cost: 8 bytes and the id of each session that has created something through its token and is
//! still open.

use std::collections::BTreeMap;

use super::sync::{Mutex, UNPOISONED};
use crate::domain::{BootTime, SessionId, Span};
use crate::limits;

/// The pace of all sessions.
#[derive(Default)]
pub(super) struct Pace {
    paid_until: Mutex<BTreeMap<SessionId, BootTime>>,
}

impl Pace {
    /// Takes one create of a session into account, or says how long it has to wait for it.
    pub(super) fn take(&self, session: &SessionId, now: BootTime) -> Result<(), Span> {
        let mut table = self.paid_until.lock().expect(UNPOISONED);
        let until = table.get(session).copied().unwrap_or(now).max(now).after(STEP);
        let ahead = until.since(now);
        if ahead > MINUTE {
            return Err(Span::from_nanos(ahead.nanos() - MINUTE.nanos()));
        }
        table.insert(session.clone(), until);
        Ok(())
    }

    pub(super) fn forget(&self, session: &SessionId) {
        self.paid_until.lock().expect(UNPOISONED).remove(session);
    }
}

const MINUTE: Span = Span::from_millis(60_000);
const STEP: Span = Span::from_millis(60_000 / limits::CREATES_PER_MINUTE.value);

// The step is a whole number of milliseconds, so nobody gets more than the bound.
const _: () = assert!(60_000 % limits::CREATES_PER_MINUTE.value == 0);
