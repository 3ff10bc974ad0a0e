//! Converts the schedules of `schedules.jsonl` to requests for the engine.
//!
//! What comes back: the definition, under its id, whether it is paused, and how many runs it may still have. What does not:
//! revisions, runs, the chain it was made in, and schedules that have ended. Invariant: what has run does not run again.

use std::num::NonZeroU32;

use super::schedule_lines::ScheduleLog;
use crate::domain::{Missed, Moment, Next, Schedule, SessionId, Settings, Target, Trigger, When};
use crate::engine::{Known, NewSchedule};
use crate::limits;

/// The schedules of a file, as requests.
#[derive(Debug, Default)]
pub struct Restored {
    /// The schedules to create.
    pub(crate) schedules: Vec<Again>,
    /// How many have ended.
    pub ended: u64,
    /// What cannot be imported, one line each.
    pub left_out: Vec<String>,
}

/// Converts all schedules that have not ended.
pub fn restore(log: ScheduleLog, now: Moment) -> Restored {
    let mut restored = Restored::default();
    if let Some(reason) = log.held() {
        let why = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        restored.left_out.push(format!(
            "everything was held{why} when this was written, and is not held here: `reveille hold-all` holds it"
        ));
    }
    for known in log.into_known() {
        let id = known.schedule.id.clone();
        match request(known, now) {
            Ok(Some(request)) => restored.schedules.push(request),
            Ok(None) => restored.ended += 1,
            Err(why) => restored.left_out.push(format!("{id}: {why}")),
        }
    }
    restored
}

/// A schedule to create, and if it has to be paused the reason, if one was given.
type Again = (NewSchedule, Option<Option<Box<str>>>);

fn request(known: Known, now: Moment) -> Result<Option<Again>, &'static str> {
    let Known { schedule, is_paused, pause_reason, live, next, runs, is_cancelled, .. } = known;
    // What was to come once, and had not arrived, comes again: nobody has received it.
    let is_under_way = !live.is_empty() && matches!(schedule.trigger, Trigger::At(_));
    if is_cancelled || matches!(next, Next::Never { .. }) && !is_under_way {
        return Ok(None);
    }
    let is_skipped = is_paused || schedule.policy().missed == Missed::Skip;
    // It was missed, and would never run: it is paused, or its policy skips missed slots.
    if matches!(schedule.trigger, Trigger::At(at) if at < now) && is_skipped {
        return Err("its instant has passed");
    }
    let Schedule { id, dialect, durability, label, owner, trigger, payload, creation, mut settings, .. } =
        schedule;
    // The runs that it had count: otherwise an import would give it all of them again.
    if let Some(max) = settings.as_mut().and_then(|settings| settings.lifetime.max_runs.as_mut()) {
        let left = u64::from(max.get()).saturating_sub(runs);
        let Some(left) = u32::try_from(left).ok().and_then(NonZeroU32::new) else { return Ok(None) };
        *max = left;
    }
    let new = NewSchedule {
        id: Some(id),
        dialect,
        durability,
        label,
        owner,
        made_by: creation.and_then(|creation| creation.by).map(Box::new),
        when: When::By(trigger),
        payload,
        settings,
        // No tool asks for it, so no tool's own bound applies, only the engine's.
        session_live_max: u32::try_from(limits::SESSION_SCHEDULES.value).unwrap_or(u32::MAX),
    };
    Ok(Some((new, is_paused.then_some(pause_reason))))
}

impl Restored {
    /// The sessions that the schedules belong to or go to.
    pub fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        self.schedules.iter().flat_map(|(new, _)| {
            let target = new.settings.as_deref().map(|settings: &Settings| &settings.target);
            let target = match target {
                Some(Target::Session(session)) => Some(session),
                Some(Target::Owner | Target::Fresh | Target::Route(_)) | None => None,
            };
            [Some(&new.owner), target].into_iter().flatten()
        })
    }
}
