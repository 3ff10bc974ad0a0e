//! The engine's records as jobs, in Claude Code's words.
//!
//! The other direction is in `command.rs`. Invariant: nothing is cached here; jobs that have ended are not shown.

use std::num::NonZeroU32;

use crate::calendar;
use crate::dialect::brief;
use crate::domain::{Dialect, Moment, ScheduleId, SessionId, Trigger, Zone};
use crate::edn::{Map, Value};
use crate::engine::{ScheduleRecord, State};

/// A job that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The job's id.
    pub id: ScheduleId,
    /// The cron expression; `None` for a wake-up, and for what another interface gave another trigger.
    pub(crate) cron: Option<String>,
    /// When it runs, in words.
    pub(crate) human: String,
    /// The prompt, verbatim; of a monitor, what it is for.
    pub prompt: Box<str>,
    /// The tool that a monitor calls; `None` for what is no monitor.
    pub(crate) watches: Option<Box<str>>,
    /// Whether it runs more than once.
    pub(crate) recurring: bool,
    /// Whether it is on disk.
    pub(crate) durable: bool,
    /// The next instant at which it runs, if it is known.
    pub(crate) next: Option<Moment>,
    /// The instant from which it runs no more, if there is one.
    pub(crate) expires: Option<Moment>,
    /// The zone of its clock; `None` if it depends on none.
    pub(crate) zone: Option<Zone>,
}

impl Job {
    /// Converts a schedule to a job; `None` if it has ended, or is neither of this dialect nor a watch.
    pub(crate) fn of(record: &ScheduleRecord) -> Option<Job> {
        let schedule = record.schedule();
        let is_watch = schedule.dialect == Dialect::Watch && record.watch().is_some();
        if !(is_watch || schedule.dialect == Dialect::ClaudeCron) || record.status().is_terminal() {
            return None;
        }
        // The text of a call is the name of its tool.
        let text = schedule.payload.text();
        let (prompt, watches) = match (is_watch, &schedule.label) {
            // The label of a monitor is its description.
            (true, label) => (label.as_deref().unwrap_or_default(), Some(text.into())),
            (false, _) => (text, None),
        };
        let lifetime = schedule.settings().lifetime;
        let (cron, zone) = match &schedule.trigger {
            Trigger::Cron(cron, zone) => (Some(cron.to_string()), Some((**zone).clone())),
            Trigger::Calendar(calendar) => (None, Some(calendar.zone.clone())),
            Trigger::At(_) | Trigger::Every(_) | Trigger::Event(_) => (None, None),
        };
        let is_once = matches!(schedule.trigger, Trigger::At(_) | Trigger::Event(_))
            || lifetime.max_runs == Some(NonZeroU32::MIN);
        Some(Job {
            id: schedule.id.clone(),
            cron,
            human: brief::words(&calendar::print(&schedule.trigger)),
            prompt: prompt.into(),
            watches,
            recurring: !is_once,
            durable: schedule.is_durable(),
            next: record.next_run(),
            expires: lifetime.expires_at,
            zone,
        })
    }

    /// Returns whether it is the next iteration of a loop.
    pub(crate) fn is_wakeup(&self) -> bool {
        self.cron.is_none() && !self.recurring && !self.is_monitor()
    }

    /// Returns whether it is a watch: what `Monitor` starts.
    pub(crate) fn is_monitor(&self) -> bool {
        self.watches.is_some()
    }

    /// Prints the job as a row of a list.
    pub(super) fn to_map(&self) -> Map {
        let map = Map::new().with("id", self.id.to_string());
        let map = map.with_some("cron", self.cron.as_deref());
        let map = map.with("humanSchedule", self.human.as_str());
        let map = match &self.watches {
            Some(tool) => map.with("monitors", &**tool).with("description", brief::text(&self.prompt)),
            None => map.with("prompt", brief::text(&self.prompt)),
        };
        let map = map.with("recurring", self.recurring).with("durable", self.durable);
        map.with_some("nextFireAt", self.next.map(millis))
    }
}

/// The jobs and the monitors of a session that have not ended, the next one first.
pub fn jobs(state: &State, session: &SessionId) -> Vec<Job> {
    state.live_schedules_of(session).into_iter().filter_map(Job::of).collect()
}

/// An instant as Claude Code writes it: in milliseconds since 1970.
pub(super) fn millis(moment: Moment) -> Value {
    let millis = moment.seconds().saturating_mul(1_000);
    Value::Int(millis.saturating_add(i64::from(moment.nanos() / 1_000_000)))
}
