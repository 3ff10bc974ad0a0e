//! The codec of rows: the current state of a schedule, of a session and of the hold, each one form beside the log.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::actor::{actor, token_name};
use super::approval::{approval, of_approval};
use super::attempts::{earlier, of_earlier};
use super::call;
use super::definition;
use super::form::Form;
use super::guard::{checks, of_checks};
use super::parse::{failure, job_id};
use super::parts::{
    after, check_version, count, flag, flag_or, instant, map, maybe, number, one, one_or, own_text, part,
    run_id, session_id, wrong,
};
use super::print::of_failure;
use super::printed::{After, Instant, Part, Printed, Word, unless};
use super::provenance::{of_provenance, provenance};
use super::{FactError, VERSION, memory, pings, session_config, watch};
use crate::domain::{
    Cause, Cursor, EarlierAttempts, HostId, JobId, Moment, Phase, Reason, Run, RunState, Schedule, Status,
    TokenName, Watch,
};
use crate::engine::{Holds, Pause, Progress, ScheduleRow, SessionRow};

/// Everything about a schedule but its definition.
#[derive(Debug)]
pub(crate) struct RowRest {
    status: Status,
    ended_for: Option<Reason>,
    next: Option<Moment>,
    progress: Option<Box<Progress>>,
    watch: Option<Box<Watch>>,
    runs: Vec<Run>,
}

impl RowRest {
    /// The whole row of the schedule.
    pub(crate) fn of(self, schedule: Schedule) -> ScheduleRow {
        let RowRest { status, ended_for, next, progress, watch, runs } = self;
        ScheduleRow { schedule, status, ended_for, next, progress, watch, runs }
    }
}

/// Prints the row of a schedule.
pub fn print_schedule(row: &ScheduleRow) -> Printed {
    with_row_rest(print_definition(&row.schedule), row)
}

/// Prints the row of a schedule whose definition has a row of its own.
pub(crate) fn print_row_rest(row: &ScheduleRow) -> Printed {
    with_row_rest(Printed::new().with("v", VERSION), row)
}

/// Prints the row of a definition.
pub(crate) fn print_definition(schedule: &Schedule) -> Printed {
    Printed::new().with("v", VERSION).with("schedule", definition::print(schedule))
}

fn with_row_rest(form: Printed, row: &ScheduleRow) -> Printed {
    let runs = || row.runs.iter().map(of_run).collect::<Vec<Printed>>();
    form.with("status", Word(row.status.name()))
        .with("ended-for", of_reason(row.ended_for))
        .with("next", row.next.map(Instant))
        .with("course", row.progress.as_deref().map(of_progress))
        .with("watch", row.watch.as_deref().map(watch::of_watch))
        .with("runs", (!row.runs.is_empty()).then(runs))
}

/// Parses the row of a schedule.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(crate) fn parse_schedule(form: &Form<'_>) -> Result<ScheduleRow, FactError> {
    let schedule = parse_definition(form)?;
    Ok(parse_row_rest(form)?.of(schedule))
}

/// Whether the row of a schedule has its definition.
pub(crate) fn has_definition(form: &Form<'_>) -> bool {
    part(form, "schedule").is_map()
}

/// Parses the row of a definition.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(crate) fn parse_definition(form: &Form<'_>) -> Result<Schedule, FactError> {
    check_version(form)?;
    definition::parse(map(form, "schedule")?)
}

/// Parses what the row of a schedule has beside its definition.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(crate) fn parse_row_rest(form: &Form<'_>) -> Result<RowRest, FactError> {
    check_version(form)?;
    Ok(RowRest {
        status: one(form, "status", Status::parse)?,
        ended_for: reason(form, "ended-for")?,
        next: maybe(form, "next", instant)?,
        progress: maybe(form, "course", |form, key| progress(map(form, key)?))?.map(Box::new),
        watch: maybe(form, "watch", |form, key| watch::watch(map(form, key)?))?.map(Box::new),
        runs: maybe(form, "runs", runs_of)?.unwrap_or_default(),
    })
}

fn runs_of(form: &Form<'_>, key: &'static str) -> Result<Vec<Run>, FactError> {
    let no_runs = |found| wrong(key, "a vector of runs", found);
    let found = part(form, key);
    let runs = found.as_items().ok_or_else(|| no_runs(found))?;
    runs.iter().map(|found| if found.is_map() { run(found) } else { Err(no_runs(found)) }).collect()
}

/// Prints the row of a session; `token` is the digest of its token.
pub fn print_session(row: &SessionRow, token: Option<&str>) -> Printed {
    let ready_job =
        |(job, at): &(JobId, Moment)| Printed::new().with("job", job.as_str()).with("at", Instant(*at));
    let ready_jobs = || row.ready_jobs.iter().map(ready_job).collect::<Vec<Printed>>();
    Printed::new()
        .with("v", VERSION)
        .with("id", row.id.as_str())
        .with("config", session_config::print(&row.config))
        .with("provenance", row.provenance.as_deref().map(of_provenance))
        .with("host-token", row.host_token.as_ref().map(TokenName::as_str))
        .with("opened-at", Instant(row.opened_at))
        .with("opened", row.opened.number())
        .with("built-in?", row.built_in)
        .with("listens?", row.listens.then_some(true))
        .with("user-spoke-at", row.last_user_activity.map(Instant))
        .with("ready-jobs", (!row.ready_jobs.is_empty()).then(ready_jobs))
        .with("memory", row.memory.as_deref().map(memory::print))
        .with("pings", pings::print(&row.pings))
        // Only the digest: a copy of the file must not suffice to act as the session.
        .with("token", token)
}

/// Parses the row of a session, and the digest of its token.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(crate) fn parse_session(form: &Form<'_>) -> Result<(SessionRow, Option<Box<str>>), FactError> {
    check_version(form)?;
    let row = SessionRow {
        id: session_id(form, "id")?,
        config: Arc::new(session_config::parse(form)?),
        provenance: maybe(form, "provenance", |form, key| provenance(map(form, key)?))?.map(Box::new),
        // Rows from before hosts had tokens have none.
        host_token: maybe(form, "host-token", token_name)?,
        opened_at: instant(form, "opened-at")?,
        // Rows from before this was recorded count as opened before everything.
        opened: Cursor::new(count(form, "opened")?),
        built_in: flag(form, "built-in?")?,
        // Rows from before this was recorded are of sessions in which nobody is known to listen.
        listens: flag_or(false, form, "listens?")?,
        last_user_activity: maybe(form, "user-spoke-at", instant)?,
        // Rows from before this was recorded have none.
        ready_jobs: maybe(form, "ready-jobs", ready_jobs)?.unwrap_or_default(),
        memory: maybe(form, "memory", |form, key| memory::parse(map(form, key)?))?.map(Box::new),
        pings: pings::parse(form, "pings")?,
    };
    Ok((row, own_text(form, "token")?))
}

fn ready_jobs(form: &Form<'_>, key: &'static str) -> Result<Vec<(JobId, Moment)>, FactError> {
    let found = part(form, key);
    let no_jobs = |found| wrong(key, "a vector of jobs", found);
    let jobs = found.as_items().ok_or_else(|| no_jobs(found))?;
    let job = |found| Ok((job_id(found)?, instant(found, "at")?));
    jobs.iter().map(|found| if found.is_map() { job(found) } else { Err(no_jobs(found)) }).collect()
}

fn of_progress(progress: &Progress) -> Printed {
    // Stored keys stay even if the code renames a field: `called-off-at` is `cancelled_at`.
    let skip = progress.last_skip.map(|(slot, reason)| LastSkip(slot, reason));
    Printed::new()
        .with("revision", progress.revision)
        .with("incarnation", progress.incarnation)
        .with("first-incarnation", unless(1, progress.first_incarnation))
        .with("updated-at", progress.updated_at.map(Instant))
        .with("armed-since", progress.armed_since.map(Instant))
        .with("consumed", progress.consumed.map(Instant))
        .with("withdrawn", progress.withdrawn.map(Instant))
        .with("awaits-finish?", progress.awaits_finish.then_some(true))
        .with("awaits-event?", progress.awaits_event.then_some(true))
        .with("by-session?", progress.by_session.then_some(true))
        .with("never", of_reason(progress.never))
        .with("called-off-at", progress.cancelled_at.map(Instant))
        .with("paused", progress.paused.as_deref().map(of_pause))
        .with("approved", progress.approved.as_deref().map(of_approval))
        .with("runs", unless(0, progress.runs))
        .with("delivered", unless(0, progress.delivered))
        .with("failed", unless(0, progress.failed))
        .with("skipped", unless(0, progress.skipped))
        .with("failures-in-row", unless(0, progress.failures_in_row))
        .with("last-skip", skip)
}

struct LastSkip(Moment, Reason);

impl Part for LastSkip {
    fn print(self, out: &mut String) {
        out.push('[');
        Instant(self.0).print(out);
        out.push(' ');
        Word(self.1.name()).print(out);
        out.push(']');
    }
}

fn progress(form: &Form<'_>) -> Result<Progress, FactError> {
    Ok(Progress {
        revision: number(form, "revision")?,
        incarnation: number(form, "incarnation")?,
        // Rows from before this was recorded do not have it: their runs count as before.
        first_incarnation: maybe(form, "first-incarnation", number)?.unwrap_or(1),
        updated_at: maybe(form, "updated-at", instant)?,
        armed_since: maybe(form, "armed-since", instant)?,
        consumed: maybe(form, "consumed", instant)?,
        // Rows from before this was recorded do not have it.
        withdrawn: maybe(form, "withdrawn", instant)?,
        awaits_finish: flag_or(false, form, "awaits-finish?")?,
        awaits_event: flag_or(false, form, "awaits-event?")?,
        by_session: flag_or(false, form, "by-session?")?,
        never: reason(form, "never")?,
        cancelled_at: maybe(form, "called-off-at", instant)?,
        paused: maybe(form, "paused", |form, key| pause(map(form, key)?))?.map(Box::new),
        // Rows from before it was retained do not have it.
        approved: maybe(form, "approved", |form, key| approval(map(form, key)?))?.map(Box::new),
        runs: count(form, "runs")?,
        delivered: count(form, "delivered")?,
        failed: count(form, "failed")?,
        skipped: count(form, "skipped")?,
        failures_in_row: count(form, "failures-in-row")?,
        last_skip: maybe(form, "last-skip", last_skip)?,
    })
}

fn last_skip(form: &Form<'_>, key: &'static str) -> Result<(Moment, Reason), FactError> {
    let value = part(form, key);
    let pair = || {
        let [slot, why] = value.as_items()? else { return None };
        let slot = Moment::parse(slot.as_str()?).ok()?;
        Some((slot, Reason::parse(why.as_keyword()?)?))
    };
    pair().ok_or_else(|| wrong(key, "a slot and a reason", value))
}

pub(super) fn of_pause(pause: &Pause) -> Printed {
    Printed::new()
        .with("by", &pause.by)
        .with("why", pause.reason.as_deref())
        .with("since", Instant(pause.since))
}

pub(super) fn pause(form: &Form<'_>) -> Result<Pause, FactError> {
    Ok(Pause { by: actor(form, "by")?, reason: own_text(form, "why")?, since: instant(form, "since")? })
}

/// Prints a run of a row. Every change of a schedule writes all its runs again, so what they have in common is left out: the
/// usual cause, the first attempt, and the day and hour of each instant.
fn of_run(run: &Run) -> Printed {
    let after = |at| After(run.slot, at);
    Printed::new()
        .with("incarnation", run.incarnation)
        .with("slot", Instant(run.slot))
        .with("folded", unless(0, run.folded))
        .with("cause", (run.cause != Cause::Slot).then(|| Word(run.cause.name())))
        // The default depends on the cause. `run` below reads it by the same rule.
        .with("by-session?", unless(run.cause == Cause::Manual, run.by_session))
        .with("told-check", run.told_check.map(NonZeroU32::get))
        .with("state", Word(run.state.name()))
        .with("attempt", unless(1, u32::from(run.attempt)))
        .with("earlier", run.earlier.as_deref().map(|earlier| of_earlier(earlier, run.slot)))
        .with("claimed-at", After(run.slot, run.claimed_at))
        .with("started-at", run.started_at.map(after))
        .with("delivered-at", run.delivered_at.map(after))
        .with("retry-at", run.retry_at.map(after))
        .with("ended-at", run.ended_at.map(after))
        .with("phase", run.phase.map(|phase| Word(phase.name())))
        .with("reason", of_reason(run.reason))
        .with("host", run.host.map(HostId::number))
        .with("session", run.session.as_ref().map(crate::domain::SessionId::as_str))
        .with("session-created?", run.session_created.then_some(true))
        .with("failure", run.failure.as_deref().map(of_failure))
        .with("lead", run.lead.as_ref().map(ToString::to_string))
        .with("outcome", run.outcome.as_deref().map(call::of_outcome))
        .with("checks", run.checks.as_deref().map(of_checks))
        .with("asked", run.definition.as_deref().map(definition::print))
}

fn run(form: &Form<'_>) -> Result<Run, FactError> {
    let slot = instant(form, "slot")?;
    let after = |form: &Form<'_>, key| after(form, key, slot);
    let attempt = maybe(form, "attempt", number)?.unwrap_or(1);
    let earlier = maybe(form, "earlier", |form, key| earlier(map(form, key)?, slot))?;
    let cause = one_or(Cause::Slot, form, "cause", Cause::parse)?;
    Ok(Run {
        incarnation: number(form, "incarnation")?,
        slot,
        folded: count(form, "folded")?,
        cause,
        // In a row from before this was recorded, any manual run counts as one that a session asked for.
        by_session: flag_or(cause == Cause::Manual, form, "by-session?")?,
        // In a row from before this was recorded, a bulletin tells of no check: what it tells is told again with the next one.
        told_check: call::told_check(form, "told-check")?,
        state: one(form, "state", RunState::parse)?,
        attempt,
        // A row from before attempts were recorded does not say what the earlier ones came to.
        earlier: earlier.or_else(|| (attempt > 1).then(EarlierAttempts::default)).map(Box::new),
        claimed_at: after(form, "claimed-at")?,
        started_at: maybe(form, "started-at", after)?,
        delivered_at: maybe(form, "delivered-at", after)?,
        retry_at: maybe(form, "retry-at", after)?,
        ended_at: maybe(form, "ended-at", after)?,
        phase: maybe(form, "phase", |form, key| one(form, key, Phase::parse))?,
        reason: reason(form, "reason")?,
        host: maybe(form, "host", number::<u32>)?.map(HostId::new),
        session: maybe(form, "session", session_id)?,
        session_created: flag_or(false, form, "session-created?")?,
        failure: maybe(form, "failure", |form, key| failure(map(form, key)?))?.map(Box::new),
        lead: maybe(form, "lead", run_id)?.map(Box::new),
        outcome: maybe(form, "outcome", |form, key| call::outcome(map(form, key)?))?.map(Arc::new),
        // Rows from before there was a guard do not have it.
        checks: maybe(form, "checks", |form, key| checks(map(form, key)?))?.map(Box::new),
        definition: maybe(form, "asked", |form, key| definition::parse(map(form, key)?))?.map(Arc::new),
    })
}

fn of_reason(reason: Option<Reason>) -> Option<Word<'static>> {
    reason.map(|reason| Word(reason.name()))
}

fn reason(form: &Form<'_>, key: &'static str) -> Result<Option<Reason>, FactError> {
    maybe(form, key, |form, key| one(form, key, Reason::parse))
}

/// Prints the row of the holds: the one in force, and the latest that are over.
pub fn print_holds(holds: &Holds) -> Printed {
    let ended = |(hold, until): &(Pause, Moment)| of_pause(hold).with("until", Instant(*until));
    let past: Vec<Printed> = holds.past.iter().map(ended).collect();
    let held = holds.present.as_ref().map(of_pause);
    Printed::new().with("v", VERSION).with("held", held).with("past", (!past.is_empty()).then_some(past))
}

/// Parses the row of the holds.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(crate) fn parse_holds(form: &Form<'_>) -> Result<Holds, FactError> {
    check_version(form)?;
    let present = maybe(form, "held", |form, key| pause(map(form, key)?))?;
    let past = maybe(form, "past", past_holds)?;
    Ok(Holds { present, past: past.unwrap_or_default() })
}

fn past_holds(form: &Form<'_>, key: &'static str) -> Result<VecDeque<(Pause, Moment)>, FactError> {
    let found = part(form, key);
    let holds = found.as_items().ok_or_else(|| wrong(key, "a vector of holds", found))?;
    holds.iter().map(|hold| Ok((pause(hold)?, instant(hold, "until")?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::REQUEST_CAPS;
    use crate::domain::{FailedAttempt, Failure};
    use crate::edn;

    fn at(text: &str) -> Moment {
        Moment::parse(text).expect("an instant")
    }

    fn parsed(text: &str) -> Result<Run, FactError> {
        let value = edn::read(text.as_bytes(), &REQUEST_CAPS).expect("EDN");
        run(&Form::of(&value))
    }

    #[test]
    fn a_run_is_stored_without_what_it_has_in_common_with_others() {
        let spelt_out = r#"{:incarnation 1 :slot "2026-04-22T12:00:00Z" :cause :slot :state :delivered :attempt 1
            :claimed-at "2026-04-22T12:00:00.000121Z" :started-at "2026-04-22T12:00:00.000121Z"
            :delivered-at "2026-04-22T12:00:03Z" :ended-at "2026-04-22T12:00:03Z" :phase :outside :session "s"}"#;
        let whole = parsed(spelt_out).expect("as rows were stored before");
        let printed = of_run(&whole).into_text();
        assert_eq!(
            printed,
            "{:incarnation 1 :slot \"2026-04-22T12:00:00Z\" :state :delivered :claimed-at 121000 :started-at 121000 \
             :delivered-at 3000000000 :ended-at 3000000000 :phase :outside :session \"s\"}"
        );
        assert_eq!(parsed(&printed), Ok(whole));
    }

    /// Rows from before it was retained have no last approval.
    #[test]
    fn what_was_approved_last_is_stored_with_the_course() {
        let course = |text: &str| {
            let value = edn::read(text.as_bytes(), &REQUEST_CAPS).expect("EDN");
            progress(&Form::of(&value)).expect("a course")
        };
        assert_eq!(course("{:revision 1 :incarnation 1}").approved, None);
        let text = "{:revision 1 :incarnation 1 :approved {:incarnation 1 :slot \"2026-04-22T12:00:00Z\" \
                    :at \"2026-04-22T12:05:00Z\" :by :operator}}";
        assert_eq!(of_progress(&course(text)).into_text(), text);
    }

    /// Also an attempt that failed before it was handed over, and a run whose next attempt waits.
    #[test]
    fn a_run_is_stored_with_its_earlier_attempts() {
        let failed = |number: u16, started_at: Option<Moment>| FailedAttempt {
            number,
            started_at,
            ended_at: at("2026-04-22T12:00:01Z"),
            host: started_at.map(|_| HostId::new(3)),
            failure: Failure::new(Phase::Outside, Reason::HostRefused, "no").with_code(503),
            next_at: at("2026-04-22T12:00:06Z"),
        };
        let slot = at("2026-04-22T12:00:00Z");
        let failed = vec![failed(1, Some(slot)), failed(2, None)];
        let earlier = Some(Box::new(EarlierAttempts { failed, current_started_at: None }));
        let whole = Run { attempt: 3, earlier, ..Run::claimed(1, slot, Cause::Slot, 0, slot) };
        let printed = of_run(&whole).into_text();
        assert_eq!(parsed(&printed).as_ref(), Ok(&whole), "{printed}");
        let before =
            r#"{:incarnation 1 :slot "2026-04-22T12:00:00Z" :state :queued :attempt 3 :claimed-at 0}"#;
        let attempts = parsed(before).map(|run| run.attempts().count());
        assert_eq!(attempts, Ok(0), "a row from before attempts were recorded");
    }

    #[test]
    fn instants_that_are_no_count_of_nanoseconds_are_spelt_out() {
        for at in [
            "2026-04-22T11:59:59.999999999Z",
            "2026-04-22T12:00:00Z",
            "2318-07-31T23:47:16.854775807Z",
            "2318-07-31T23:47:16.854775808Z",
            "9999-12-31T23:59:59Z",
        ] {
            let text = format!(
                r#"{{:incarnation 2 :slot "2026-04-22T12:00:00Z" :cause :manual :state :queued :attempt 2
                :claimed-at "{at}"}}"#
            );
            let whole = parsed(&text).expect("a run");
            let printed = of_run(&whole).into_text();
            assert_eq!(parsed(&printed).as_ref(), Ok(&whole), "{printed}");
        }
        for wrong in ["-1", "9223372036854775808N", "1.0"] {
            let text = format!(
                r#"{{:incarnation 1 :slot "9999-12-31T23:59:59Z" :state :queued :claimed-at {wrong}}}"#
            );
            assert!(parsed(&text).is_err(), "{wrong}");
        }
    }
}
