//! Converts drafts to schedules.
//!
//! Calls are parsed in `call.rs`. Invariant: a job is durable, outlives its session and belongs to the app; what is missed of a
//! job that recurs is not made up for, and a single one runs however late.

use std::num::NonZeroU32;

use sha2::{Digest as _, Sha256};

use super::call::{JobDraft, RemindDraft, Timed};
use super::when::JobWhen;
use crate::domain::{
    Call, CallPurpose, Dialect, Durability, Entropy, Envelope, Lifetime, Missed, Payload, Policy, ScheduleId,
    SessionId, Settings, Sink, Span, Trigger, When,
};
use crate::engine::NewSchedule;
use crate::limits;

impl JobDraft {
    /// Builds the new schedule with this id, owned by `owner`.
    pub fn into_new(self, id: ScheduleId, owner: SessionId) -> NewSchedule {
        let JobDraft { timed, action, args, output_channel, max_runs, .. } = self;
        let label = timed.name.clone().unwrap_or_else(|| action.as_str().into());
        let sink = output_channel.map_or(Sink::Session, Sink::Channel);
        let call = Call { purpose: CallPurpose::Job, sink, ..Call::new(action, args) };
        let timeout = Some(Span::from_millis(limits::CALL_MS.value));
        let settings = Settings {
            policy: Policy { missed: missed(&timed.when), timeout, ..Policy::PLAIN },
            lifetime: Lifetime { max_runs: NonZeroU32::new(max_runs), ..LASTING },
            ..Settings::PLAIN
        };
        NewSchedule { payload: Payload::Call(Box::new(call)), ..new((id, label), owner, timed, settings) }
    }
}

impl RemindDraft {
    /// Builds the new schedule with this id, owned by `owner`.
    pub fn into_new(self, id: ScheduleId, owner: SessionId) -> NewSchedule {
        let RemindDraft { timed, message } = self;
        let label = timed.name.clone().unwrap_or_else(|| "reminder".into());
        let settings = Settings {
            policy: Policy { missed: missed(&timed.when), ..Policy::PLAIN },
            envelope: Envelope::Reminder,
            lifetime: LASTING,
            ..Settings::PLAIN
        };
        NewSchedule { payload: Payload::Turn { text: message }, ..new((id, label), owner, timed, settings) }
    }
}

/// The id of a job: by its name, or without one by chance. Source: SEED-001.
pub fn job_id(app: &str, name: Option<&str>, entropy: Entropy) -> Option<ScheduleId> {
    let begin = format!("cron_{app}_");
    let room = usize::try_from(limits::ID_BYTES.value).unwrap_or(usize::MAX).saturating_sub(begin.len());
    let name = name.map_or_else(|| entropy.short(), |name| fitted(name, room));
    ScheduleId::new(&(begin + &name)).ok()
}

/// A name as a part of an id, of at most so many bytes. A name is bounded in characters, of which some take four bytes, so a
/// digest stands for the end of a longer one: one name has one id, and two names have two.
fn fitted(name: &str, room: usize) -> String {
    if name.len() <= room {
        return name.to_owned();
    }
    let mut digest = [0; 16];
    digest.copy_from_slice(&Sha256::digest(name.as_bytes())[..16]);
    let end = format!("-{}", Entropy(digest).short());
    name[..name.floor_char_boundary(room.saturating_sub(end.len()))].to_owned() + &end
}

fn new(
    (id, label): (ScheduleId, Box<str>),
    owner: SessionId,
    timed: Timed,
    settings: Settings,
) -> NewSchedule {
    let when = match timed.when {
        JobWhen::After(span) => When::After(span),
        JobWhen::At(moment) => When::At(moment),
        JobWhen::Cron(cron) => When::By(Trigger::Cron(cron.into(), timed.zone.into())),
    };
    NewSchedule {
        id: Some(id),
        dialect: Dialect::Scheduler,
        durability: Durability::Durable,
        label: Some(label),
        settings: Some(Box::new(settings)),
        ..NewSchedule::message(owner, when, "")
    }
}

fn missed(when: &JobWhen) -> Missed {
    match when {
        JobWhen::After(_) | JobWhen::At(_) => Missed::RunOnce,
        JobWhen::Cron(_) => Missed::Skip,
    }
}

/// A job goes on when its session is closed.
const LASTING: Lifetime = Lifetime { dies_with_session: false, ..Lifetime::PLAIN };
