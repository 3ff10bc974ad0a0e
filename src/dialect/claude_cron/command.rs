//! Converts drafts to schedules.
//!
//! Calls are parsed in `call.rs`; the way back is in `view.rs`. Invariant: a job belongs to its session and ends with it, is
//! delivered verbatim, and waits for a busy session. A job has a cron trigger, and a wake-up an instant: that tells them apart.

use std::num::NonZeroU32;

use super::call::{JobDraft, WakeupDraft};
use crate::domain::{
    Dialect, Durability, Lifetime, Moment, Policy, ScheduleId, SessionId, Settings, Span, Trigger, When,
    WhenBusy, Zone,
};

use crate::engine::NewSchedule;
use crate::limits;

impl JobDraft {
    /// Builds the new schedule with this id, owned by `owner`, on the clock of `zone`.
    pub fn into_new(
        self,
        (id, durability): (ScheduleId, Durability),
        owner: SessionId,
        zone: Zone,
        now: Moment,
    ) -> NewSchedule {
        let JobDraft { cron, prompt, recurring, .. } = self;
        let lifetime = if recurring {
            Lifetime {
                expires_at: now.checked_add(Span::from_millis(limits::CRON_JOB_MS.value)),
                ..Lifetime::PLAIN
            }
        } else {
            Lifetime { max_runs: NonZeroU32::new(1), ..Lifetime::PLAIN }
        };
        // If a job is due again while its prompt still waits, one prompt is enough.
        let policy = Policy { when_busy: WhenBusy::Coalesce, ..Policy::PLAIN };
        NewSchedule {
            when: When::By(Trigger::Cron(cron.into(), zone.into())),
            settings: Some(Box::new(Settings { lifetime, policy, ..Settings::PLAIN })),
            ..new((id, durability), owner, prompt)
        }
    }
}

impl WakeupDraft {
    /// Builds the new schedule with this id, owned by `owner`. It takes the place of an earlier one.
    pub fn into_new(self, made: (ScheduleId, Durability), owner: SessionId) -> NewSchedule {
        let WakeupDraft { delay, reason, prompt, .. } = self;
        NewSchedule {
            when: When::After(delay),
            label: Some(reason),
            settings: Some(Box::new(Settings { key: Some(LOOP.into()), ..Settings::PLAIN })),
            ..new(made, owner, prompt)
        }
    }
}

fn new((id, durability): (ScheduleId, Durability), owner: SessionId, prompt: Box<str>) -> NewSchedule {
    let plain = NewSchedule::message(owner, When::After(Span::ZERO), prompt);
    NewSchedule { id: Some(id), dialect: Dialect::ClaudeCron, durability, ..plain }
}

/// The key of a session's wake-up: there is one at most.
const LOOP: &str = "loop";
