//! Converts a draft to a schedule.
//!
//! Calls are parsed in `call.rs`; the way back is in `action.rs`. Invariant: an action is durable and belongs to its
//! session. It runs however late it is, and is retried with growing backoff. Source: SEED-000.

use super::action::ActionKind;
use super::call::{ActionDraft, Due};
use crate::domain::{
    About, Dialect, Durability, EndsWith, Entropy, Envelope, Event, Lifetime, Notice, Payload, Policy,
    ScheduleId, SessionId, Settings, Span, Trigger, When,
};
use crate::engine::NewSchedule;
use crate::limits;

impl ActionDraft {
    /// Builds the new schedule with this id, owned by `owner`.
    pub fn into_new(self, id: ScheduleId, owner: SessionId) -> NewSchedule {
        let ActionDraft { kind, due, text, file, summary, cancel_on_user_activity, max_attempts, dedupe_key } =
            self;
        let notice = |about, text, file| Payload::Notice(Box::new(Notice { about, text, file }));
        let (payload, envelope, ends_with) = match kind {
            ActionKind::RemindLater => {
                (notice(About::Reminder, text, file), Envelope::Plain, EndsWith::Receipt)
            }
            ActionKind::NotifyJobReady => {
                (notice(About::JobReady, text, file), Envelope::Plain, EndsWith::Receipt)
            }
            ActionKind::RunLater => (Payload::Turn { text }, Envelope::DelayedAction, EndsWith::Turn),
        };
        // The first attempt has no backoff, so there is one wait less than attempts.
        let waits = (1..max_attempts).map(|attempt| Span::from_millis(wait_ms(attempt)));
        let settings = Settings {
            description: summary,
            // Only an explicit key replaces an action. The seed's code also merges actions of equal text, and loses reminders.
            key: dedupe_key,
            envelope,
            // The plain policy redelivers after a crash, because actions survive a restart of the runtime. Source: SEED-000.
            policy: Policy { ends_with, backoff: waits.collect(), ..Policy::PLAIN },
            lifetime: Lifetime { cancel_on_user_activity, ..Lifetime::PLAIN },
            ..Settings::PLAIN
        };
        NewSchedule {
            made_by: None,
            id: Some(id),
            dialect: Dialect::SessionAction,
            durability: Durability::Durable,
            // The seed's actions have no name.
            label: None,
            owner,
            when: when(due),
            payload,
            settings: Some(Box::new(settings)),
            session_live_max: u32::try_from(limits::SESSION_ACTIONS.value).unwrap_or(u32::MAX),
        }
    }
}

/// The id of an action: `delay-` and 8 hex digits. Source: SEED-000's code.
pub fn action_id(entropy: Entropy) -> ScheduleId {
    // 32 bits can collide. The service draws again if an id is in use.
    let [a, b, c, d, ..] = entropy.0;
    let id = format!("delay-{:08x}", u32::from_be_bytes([a, b, c, d]));
    ScheduleId::new(&id).expect("a prefix and 8 hex digits are an id")
}

fn when(due: Due) -> When {
    match due {
        Due::After(span) => When::After(span),
        Due::At(at) => When::At(at),
        Due::Ready(job, latest) => When::By(Trigger::Event(Box::new(Event { job, latest }))),
    }
}

/// The backoff after this many failed attempts, in milliseconds.
const fn wait_ms(failed: u64) -> u64 {
    // Source: SEED-000's code.
    match failed {
        0 | 1 => 30_000,
        2 => 120_000,
        3 => 600_000,
        _ => 3_600_000,
    }
}
