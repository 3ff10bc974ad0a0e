//! Converts drafts to schedules.
//!
//! Calls are parsed in `call.rs`; the way back is in `view.rs`; whether a watch is on disk is decided in `service`. Invariant: a
//! watch belongs to its session and ends with it, is never late on purpose, and makes one check at a time.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::call::WatchDraft;
use crate::domain::{
    Call, CallPurpose, CountFrom, Dialect, Every, Lifetime, Missed, Moment, Payload, Policy, ScheduleId,
    SessionId, Settings, Sink, Span, When,
};
use crate::engine::NewSchedule;
use crate::limits;

impl WatchDraft {
    /// Builds the new schedule with this id, owned by `owner`; `None` if its first check or its end lies beyond the calendar.
    /// It makes no check once `lasts` is over, counted from `now`; `None` for a watch without such an end.
    pub fn into_new(
        self,
        id: ScheduleId,
        owner: SessionId,
        (now, lasts): (Moment, Option<Span>),
    ) -> Option<NewSchedule> {
        let WatchDraft { tool, params, interval, label, max_checks, filter, .. } = self;
        // Counted from the end of a check, so that a long one never meets the next one.
        let every = Every::new(interval, now.checked_add(interval)?, CountFrom::Finish)?;
        let label = label.unwrap_or_else(|| format!("Watch {tool}").into());
        let call = Call {
            purpose: CallPurpose::Watch,
            sink: Sink::Session,
            filter: Some(Arc::new(filter)),
            ..Call::new(tool, params)
        };
        let policy = Policy {
            // What was not seen in time is not looked at later.
            missed: Missed::Skip,
            timeout: Some(Span::from_millis(limits::CALL_MS.value)),
            ..Policy::PLAIN
        };
        let expires_at = match lasts {
            Some(lasts) => Some(now.checked_add(lasts)?),
            None => None,
        };
        let lifetime = Lifetime { max_runs: NonZeroU32::new(max_checks), expires_at, ..Lifetime::PLAIN };
        let plain = NewSchedule::message(owner, When::By(every.into()), "");
        Some(NewSchedule {
            id: Some(id),
            dialect: Dialect::Watch,
            label: Some(label),
            payload: Payload::Call(Box::new(call)),
            settings: Some(Box::new(Settings { policy, lifetime, ..Settings::PLAIN })),
            session_live_max: u32::try_from(limits::SESSION_WATCHES.value).unwrap_or(u32::MAX),
            ..plain
        })
    }
}
