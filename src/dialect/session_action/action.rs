//! The engine's records as actions, in the seed's words.
//!
//! The other direction is in `command.rs`. Invariant: nothing is cached here; actions that have ended are listed for
//! seven days.

use crate::calendar;
use crate::dialect::brief;
use crate::domain::{
    About, Dialect, Moment, Payload, RunState, ScheduleId, SessionId, Span, Status, Trigger, names,
};
use crate::edn::{Map, Value};
use crate::engine::{ScheduleRecord, State};
use crate::limits;

names! {
    /// What an action does when it is due. Source: SEED-000, "The three kinds".
    ActionKind {
        /// Notify the user; no model runs.
        RemindLater = "remind_later",
        /// Run the agent with an instruction.
        RunLater = "run_later",
        /// Notify the user that a job is ready.
        NotifyJobReady = "notify_job_ready",
    }
}

names! {
    /// The state of an action.
    ActionStatus {
        /// It is due in the future, or will be retried.
        Scheduled = "scheduled",
        /// It is due: it waits for its session, or the session works on it.
        Leased = "leased",
        /// It succeeded.
        Completed = "completed",
        /// Nobody listens in the session: its message waits in the inbox. The seed has no such word.
        Left = "left",
        /// Every attempt failed.
        DeadLetter = "dead_letter",
        /// It was cancelled or replaced.
        Cancelled = "cancelled",
    }
}

/// An action and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The action's id.
    pub(crate) id: ScheduleId,
    /// What the action does.
    pub(crate) kind: ActionKind,
    /// The state of the action.
    pub(crate) status: ActionStatus,
    /// When the action is due; `None` while it waits for a job without a latest time.
    pub(crate) run_at: Option<Moment>,
    /// When the next attempt is due, if one is planned.
    pub(crate) next_attempt_at: Option<Moment>,
    /// The job that the action waits for, in words; `None` if it waits for an instant alone.
    pub(crate) waits_for: Option<String>,
    /// By how much its time had passed when the action was created; `None` if it lay ahead.
    pub(crate) late: Option<Span>,
    /// True if a file is attached.
    pub(crate) has_file: bool,
    /// The number of failed attempts.
    pub(crate) attempts: u64,
    /// The error of the last failed attempt.
    pub(crate) last_error: Option<Box<str>>,
    /// True if a message from the user in the session cancels the action.
    pub(crate) cancel_on_user_activity: bool,
    /// A summary for the user.
    pub(crate) human_summary: String,
    /// When it recurs, in words, if other means than these tools made it recur.
    recurs: Option<String>,
    /// What the model is to do, if the summary for the user does not say it.
    instruction: Option<String>,
}

impl Action {
    /// Converts a schedule to an action; `None` if it belongs to another dialect.
    pub(crate) fn of(state: &State, record: &ScheduleRecord) -> Option<Action> {
        let schedule = record.schedule();
        if schedule.dialect != Dialect::SessionAction {
            return None;
        }
        let settings = schedule.settings();
        let kind = kind(&schedule.payload);
        let run = state.newest_run(record).map(crate::engine::RunRecord::run);
        let failed = run.map_or(0, |run| {
            // Attempts count from 1. The current one has not failed unless the run ended as failed.
            u64::from(run.attempt) - u64::from(run.state != RunState::Failed)
        });
        let (run_at, waits_for) = due(record);
        Some(Action {
            id: schedule.id.clone(),
            kind,
            status: status(record, run.is_some_and(|run| run.retry_at.is_some())),
            run_at,
            recurs: brief::recurrence(&schedule.trigger),
            next_attempt_at: run.and_then(|run| run.retry_at),
            waits_for,
            late: run_at
                .filter(|at| *at < schedule.created_at)
                .map(|run_at| schedule.created_at.since(run_at)),
            has_file: schedule.payload.file().is_some(),
            attempts: failed,
            last_error: run.and_then(|run| run.failure.as_ref()).map(|failure| failure.message.clone()),
            cancel_on_user_activity: settings.lifetime.cancel_on_user_activity,
            human_summary: summary(kind, schedule.payload.text(), settings.description.as_deref()),
            instruction: (kind == ActionKind::RunLater).then(|| brief::text(schedule.payload.text())),
        })
    }

    /// Prints the action as a row of a list, under the seed's names. What the kind says is not said again.
    pub(super) fn to_map(&self) -> Map {
        let mut map = Map::new()
            .with("id", self.id.to_string())
            .with("kind", self.kind.name())
            .with("status", Value::keyword(self.status.name()));
        let mut maybe = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(Value::keyword(name), value);
            }
        };
        maybe("runAt", self.run_at.map(brief::instant));
        maybe("recurs", self.recurs.as_deref().map(Value::from));
        // While a job is awaited, an instant alone would hide what the action waits for.
        maybe("waitsFor", self.waits_for.as_deref().map(Value::from));
        maybe("nextAttemptAt", self.next_attempt_at.map(brief::instant));
        maybe("lastError", self.last_error.as_deref().map(|error| brief::text(error).into()));
        maybe(
            "attempts",
            (self.attempts > 0).then(|| i64::try_from(self.attempts).unwrap_or(i64::MAX).into()),
        );
        // Every one without a summary has the seed's one sentence, so that two could not be told apart.
        maybe("instruction", self.instruction.as_deref().map(Value::from));
        maybe("file", self.has_file.then(|| true.into()));
        map.with("cancelOnUserActivity", self.cancel_on_user_activity)
            .with("humanSummary", brief::text(&self.human_summary))
    }

    /// When the action is due, in words.
    pub(super) fn due(&self) -> String {
        let instant = || self.run_at.map_or_else(String::new, |run_at| run_at.brief().to_string());
        self.waits_for.clone().unwrap_or_else(instant)
    }
}

/// The action with this id, if it belongs to the session.
pub fn find<'a>(state: &'a State, session: &SessionId, id: &ScheduleId) -> Option<&'a ScheduleRecord> {
    let is_its = |record: &&ScheduleRecord| {
        record.schedule().dialect == Dialect::SessionAction && record.schedule().owner == *session
    };
    state.schedule(id).filter(is_its)
}

/// The actions of a session in the order in which they are due, without those that ended at least
/// `limits::ACTION_KEPT_MS` ago.
pub fn listed_of(state: &State, session: &SessionId, now: Moment) -> Vec<Action> {
    let is_old = |record: &ScheduleRecord| {
        let kept_ms = limits::ACTION_KEPT_MS.value;
        ended_at(state, record).is_some_and(|ended| now.millis_since(ended) >= kept_ms)
    };
    let records = state.schedules_of(session).into_iter();
    records.filter(|record| !is_old(record)).filter_map(|record| Action::of(state, record)).collect()
}

fn ended_at(state: &State, record: &ScheduleRecord) -> Option<Moment> {
    if !record.status().is_terminal() {
        return None;
    }
    let run = state.newest_run(record).and_then(|run| run.run().ended_at);
    // A cancelled action may have no run. `None` is less than any instant.
    record.progress().cancelled_at.max(run)
}

fn kind(payload: &Payload) -> ActionKind {
    match payload {
        Payload::Turn { .. } | Payload::NewSession(_) | Payload::Call(_) => ActionKind::RunLater,
        Payload::Notice(notice) => match notice.about {
            About::Reminder => ActionKind::RemindLater,
            About::JobReady => ActionKind::NotifyJobReady,
        },
    }
}

fn status(record: &ScheduleRecord, retries: bool) -> ActionStatus {
    match record.status() {
        Status::Pending | Status::Paused => ActionStatus::Scheduled,
        // A run that waits for its next attempt is queued in the engine.
        Status::Queued if retries => ActionStatus::Scheduled,
        Status::Queued | Status::InFlight => ActionStatus::Leased,
        Status::Left => ActionStatus::Left,
        Status::Delivered | Status::Finished => ActionStatus::Completed,
        Status::Failed => ActionStatus::DeadLetter,
        // The seed does not know skipped actions. Like a cancelled one, it will not run.
        Status::Skipped | Status::Cancelled => ActionStatus::Cancelled,
    }
}

/// When the action is due, and the job that it waits for.
fn due(record: &ScheduleRecord) -> (Option<Moment>, Option<String>) {
    let trigger = &record.schedule().trigger;
    // An event without a latest time has no slot yet; `fire_at` would give the time of creation.
    let slot = if record.progress().awaits_event { None } else { Some(record.fire_at()) };
    let waits = record.next_slot().is_some() || record.progress().awaits_event;
    match trigger {
        Trigger::Event(_) if waits => (slot, Some(brief::words(&calendar::print(trigger)))),
        Trigger::At(_) | Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..) | Trigger::Event(_) => {
            (slot, None)
        }
    }
}

/// The action that a new one has replaced because both have the same `dedupe_key`.
pub fn replaced_by<'a>(state: &'a State, new: &ScheduleRecord) -> Option<&'a ScheduleRecord> {
    let (schedule, settings) = (new.schedule(), new.schedule().settings());
    let key = settings.key.as_deref()?;
    let is_it = |record: &&ScheduleRecord| {
        let other = record.schedule();
        other.dialect == Dialect::SessionAction
            && other.id != schedule.id
            && other.settings().key.as_deref() == Some(key)
            // It is called off in the same step as the new one is created.
            && record.progress().cancelled_at == Some(schedule.created_at)
    };
    state.schedules_of(&schedule.owner).into_iter().find(is_it)
}

fn summary(kind: ActionKind, text: &str, summary: Option<&str>) -> String {
    // Source of the texts: SEED-000's code.
    match (kind, summary) {
        (ActionKind::RemindLater, _) => format!("Reminder: {text}"),
        (ActionKind::RunLater, Some(summary)) => format!("Waiting for result: {summary}"),
        (ActionKind::RunLater, None) => "Check back later".to_owned(),
        (ActionKind::NotifyJobReady, _) if !text.is_empty() => text.to_owned(),
        (ActionKind::NotifyJobReady, Some(summary)) => format!("Result ready: {summary}"),
        (ActionKind::NotifyJobReady, None) => "Job result ready".to_owned(),
    }
}
