//! The filter on schedules: what lists, counts, the timeline and changes of many select by.
//!
//! It looks at records, not at a caller: what a caller may not see is left out before (`listing.rs`).

use super::params::{FromParam, OneOrMany, params, word};
use super::psi_terms;
use super::registry::ParamType;
use crate::domain::{Cause, Dialect, Moment, PayloadKind, Reason, RunState, SessionId, Status, Target};
use crate::edn::Value;
use crate::engine::{ScheduleRecord, State};
use crate::limits;

/// A status as it is shown, which is never `in-flight`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownStatus(Status);

impl FromParam for ShownStatus {
    const TYPE: ParamType = ParamType::Enum { name: "schedule-status", values: psi_terms::STATUSES };

    fn from_value(value: &Value) -> Option<ShownStatus> {
        let status = Status::parse(word(value)?)?;
        // A filter for `in-flight` would never match, because the status is shown as `pending`. So it is refused.
        (psi_terms::status(status) == status).then_some(ShownStatus(status))
    }
}

params! {
    /// A filter on schedules: all conditions that are given must hold.
    pub ScheduleFilter folded as "filter": "schedule-filter" {
        /// Only schedules with one of these statuses.
        optional statuses: OneOrMany<ShownStatus> = "status",
        /// Only schedules of this kind.
        optional kind: PayloadKind = "kind",
        /// Only schedules with exactly this label.
        optional label: Box<str> = "label",
        /// Only schedules whose id begins like this.
        optional id_prefix: Box<str> = "id-prefix",
        /// Only schedules that the session with this id owns.
        optional session: Box<str> = "session-id",
        /// Only schedules whose fire-at is later than this instant.
        optional due_after: Moment = "due-after",
        /// Only schedules whose fire-at is earlier than this instant.
        optional due_before: Moment = "due-before",
        /// Only schedules whose label, message or id has this text, whatever its case.
        optional text: Box<str> = "text",
        /// Only schedules that a tool of one of these dialects made.
        optional dialects: OneOrMany<Dialect> = "dialect",
        /// Only schedules whose slots are read on the clock of this zone.
        optional zone: Box<str> = "zone",
        /// Only schedules that are paused, or that are not.
        optional paused: bool = "paused",
        /// Only schedules that wait or ended for one of these reasons.
        optional reasons: OneOrMany<Reason> = "reason",
        /// Only schedules whose last run that has ended failed, or did not.
        optional failing: bool = "failing",
        /// Only schedules that deliver by the channel with this name.
        optional channel: Box<str> = "channel",
        /// Only schedules that may no longer retain all their runs since this instant, manual ones included.
        optional runs_dropped_since: Moment = "runs-dropped-since",
    }
}

/// Returns the unfinished schedules that a filter admits, of one session or of all, in delivery order.
pub fn unfinished<'a>(
    state: &'a State,
    of: Option<&SessionId>,
    filter: &ScheduleFilter,
) -> Vec<&'a ScheduleRecord> {
    let all = of.map_or_else(|| state.schedules(), |session| state.live_schedules_of(session));
    let is_meant = |record: &&ScheduleRecord| !record.status().is_terminal() && filter.admits(state, record);
    all.into_iter().filter(is_meant).collect()
}

impl ScheduleFilter {
    /// Returns whether an entry meets all conditions that are given.
    pub(super) fn admits(&self, state: &State, record: &ScheduleRecord) -> bool {
        // The status comes first: it needs no further memory, and most of a hundred thousand schedules end there.
        self.admits_status(record) && self.admits_definition(record) && self.admits_standing(state, record)
    }

    fn admits_status(&self, record: &ScheduleRecord) -> bool {
        // The filter compares what the caller sees: a delivery in progress counts as pending.
        let status = || ShownStatus(psi_terms::status(record.status()));
        self.statuses.as_ref().is_none_or(|OneOrMany(wanted)| wanted.contains(&status()))
    }

    /// The conditions on what a schedule is.
    fn admits_definition(&self, record: &ScheduleRecord) -> bool {
        let schedule = record.schedule();
        let slot = || record.fire_at();
        // Printed only for the filters that look at it: a list can have a hundred thousand entries.
        let id = || schedule.id.to_string();
        let has = |text: &str| {
            let mentions = |it: &str| contains_folded(it, text);
            // The id is last, because it is printed for that.
            schedule.label.as_deref().is_some_and(mentions)
                || mentions(schedule.payload.text())
                || mentions(&id())
        };
        let zone = || schedule.trigger.zone().map(ToString::to_string);
        let goes_by =
            |name: &str| matches!(schedule.target(), Target::Route(route) if route.channel.as_ref() == name);
        // The search in the text is last, because it is the condition that costs most.
        self.kind.is_none_or(|kind| schedule.payload.kind() == kind)
            && self.label.as_deref().is_none_or(|label| schedule.label.as_deref() == Some(label))
            && self.id_prefix.as_deref().is_none_or(|prefix| id().starts_with(prefix))
            && self.session.as_deref().is_none_or(|session| schedule.owner.as_str() == session)
            && self.due_after.is_none_or(|after| slot() > after)
            && self.due_before.is_none_or(|before| slot() < before)
            && self.dialects.as_ref().is_none_or(|OneOrMany(wanted)| wanted.contains(&schedule.dialect))
            && self.zone.as_deref().is_none_or(|wanted| zone().as_deref() == Some(wanted))
            && self.channel.as_deref().is_none_or(goes_by)
            && self.text.as_deref().is_none_or(has)
    }

    /// The conditions on how a schedule stands.
    fn admits_standing(&self, state: &State, record: &ScheduleRecord) -> bool {
        let failing = || {
            // A schedule whose next run is under way, or tried again, has not recovered yet.
            let mut ended =
                state.runs_of(record).map(|(_, run)| run.run().state).filter(|it| it.is_terminal());
            ended.next() == Some(RunState::Failed)
        };
        self.paused.is_none_or(|paused| record.progress().paused.is_some() == paused)
            && self.reasons.as_ref().is_none_or(|wanted| wanted.have(psi_terms::reason(state, record)))
            && self.failing.is_none_or(|wanted| failing() == wanted)
            && self.runs_dropped_since.is_none_or(|since| lacks_runs(state, record, since))
    }
}

/// Returns whether runs of a schedule since an instant may no longer be retained.
fn lacks_runs(state: &State, record: &ScheduleRecord, since: Moment) -> bool {
    let is_watch = record.schedule().is_watch();
    let (mut retained, mut of_slots, mut oldest, mut check) = (0, 0, None, None);
    for (_, run) in state.runs_of(record) {
        let run = run.run();
        retained += 1;
        of_slots += u64::from(!run.cause.is_beside_slots());
        // A run that has not ended is retained, whatever has become of those after it.
        if run.state.is_terminal() {
            oldest = Some(run.slot);
        }
        // Fewer are retained of the checks that worked than of other runs.
        if is_watch && run.cause == Cause::Slot && run.state == RunState::Delivered {
            check = Some(run.slot);
        }
    }
    // What has one slot does not count it, and runs beside the slots are not counted either. Of both, a run can only be lacking
    // once there are as many as may be.
    let lacks_slots = record.schedule().recurs() && record.progress().runs > of_slots;
    let may_lack = lacks_slots || retained >= limits::RUNS_KEPT.value;
    may_lack && check.or(oldest).is_none_or(|oldest| oldest > since)
}

/// Returns whether a text has another within it, whatever the case of either.
fn contains_folded(text: &str, wanted: &str) -> bool {
    // Nearly all texts are in ASCII, and a list can have a hundred thousand: these are not copied.
    if text.is_ascii() && wanted.is_ascii() {
        let wanted = wanted.as_bytes();
        let mut places = text.as_bytes().windows(wanted.len().max(1));
        return wanted.is_empty() || places.any(|part| part.eq_ignore_ascii_case(wanted));
    }
    text.to_lowercase().contains(&wanted.to_lowercase())
}

impl OneOrMany<Reason> {
    /// Returns whether there is a reason, and it is one of these.
    pub(super) fn have(&self, reason: Option<Reason>) -> bool {
        reason.is_some_and(|reason| self.0.contains(&reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The short way for ASCII finds what the long way finds.
    #[test]
    fn a_text_is_found_whatever_the_case() {
        let texts = [
            "", "a", "B", "ab", "Ab", "aB", "AaB", "K", "k", "\u{212a}", "é", "É", "aé", "[", "{", "ΟΔΟΣ",
            "οδος",
        ];
        for text in texts {
            for wanted in texts {
                let long = text.to_lowercase().contains(&wanted.to_lowercase());
                assert_eq!(contains_folded(text, wanted), long, "{wanted:?} in {text:?}");
            }
        }
    }
}
