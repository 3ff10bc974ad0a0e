//! What a store keeps beside the log: the current state of a schedule and of a session, each as one form, and back.

use std::sync::Arc;

use super::definition::{self, config, own_text};
use super::parse::{failure, provenance, scope};
use super::parts::{flag, instant, integer, map, maybe, number, of_instant, one, part, session_id, wrong};
use super::print::{of_failure, of_provenance, of_scope};
use super::{FactError, VERSION};
use crate::dialect::psi::session_config;
use crate::domain::{Cause, HostId, Phase, Reason, Run, RunState, Status};
use crate::edn::{Map, Value};
use crate::engine::{Course, Pause, ScheduleRow, SessionRow};

/// Prints what is kept of a schedule.
pub fn print_schedule(row: &ScheduleRow) -> Map {
    let runs: Vec<Value> = row.runs.iter().map(|run| of_run(run).into()).collect();
    Map::new()
        .with("v", VERSION)
        .with("schedule", definition::print(&row.schedule))
        .with("status", Value::keyword(row.status.name()))
        .with("ended-for", of_reason(row.ended_for))
        .with("next", row.next.map(of_instant))
        .with("course", row.course.as_deref().map(of_course))
        .with("runs", Value::vector(runs))
}

/// Reads what is kept of a schedule.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub fn parse_schedule(form: &Map) -> Result<ScheduleRow, FactError> {
    check_version(form)?;
    let Value::Vector(runs) = part(form, "runs") else {
        return Err(wrong("runs", "a vector of runs", part(form, "runs")));
    };
    let each =
        |value: &Value| value.as_map().ok_or_else(|| wrong("runs", "a vector of runs", value)).and_then(run);
    Ok(ScheduleRow {
        schedule: definition::parse(map(form, "schedule")?)?,
        status: one(form, "status", Status::parse)?,
        ended_for: reason(form, "ended-for")?,
        next: maybe(form, "next", instant)?,
        course: maybe(form, "course", |form, key| course(map(form, key)?))?.map(Box::new),
        runs: runs.iter().map(each).collect::<Result<_, _>>()?,
    })
}

/// Prints what is kept of a session; `token` is the digest of what stands for it.
pub fn print_session(row: &SessionRow, token: Option<&str>) -> Map {
    Map::new()
        .with("v", VERSION)
        .with("id", row.id.as_str())
        .with("config", session_config::print(&row.config))
        .with("provenance", row.provenance.as_deref().map(of_provenance))
        .with("opened-at", of_instant(row.opened_at))
        .with("built-in?", row.built_in)
        .with("user-spoke-at", row.last_user_activity.map(of_instant))
        .with("token", token)
}

/// Reads what is kept of a session, and the digest of its token.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub fn parse_session(form: &Map) -> Result<(SessionRow, Option<Box<str>>), FactError> {
    check_version(form)?;
    let row = SessionRow {
        id: session_id(form, "id")?,
        config: Arc::new(config(form)?),
        provenance: maybe(form, "provenance", |form, key| provenance(map(form, key)?))?.map(Box::new),
        opened_at: instant(form, "opened-at")?,
        built_in: flag(form, "built-in?")?,
        last_user_activity: maybe(form, "user-spoke-at", instant)?,
    };
    Ok((row, own_text(form, "token")?))
}

pub(super) fn check_version(form: &Map) -> Result<(), FactError> {
    let version: u32 = number(form, "v")?;
    if version == VERSION {
        Ok(())
    } else {
        Err(wrong("v", "a version that this program knows", part(form, "v")))
    }
}

fn of_course(course: &Course) -> Map {
    let skip = course
        .last_skip
        .map(|(slot, reason)| Value::vector([of_instant(slot), Value::keyword(reason.name())]));
    Map::new()
        .with("revision", course.revision)
        .with("incarnation", course.incarnation)
        .with("updated-at", course.updated_at.map(of_instant))
        .with("armed-since", course.armed_since.map(of_instant))
        .with("consumed", course.consumed.map(of_instant))
        .with("awaits-finish?", course.awaits_finish)
        .with("never", of_reason(course.never))
        .with("paused", course.paused.as_ref().map(of_pause))
        .with("runs", integer(course.runs))
        .with("delivered", integer(course.delivered))
        .with("failed", integer(course.failed))
        .with("skipped", integer(course.skipped))
        .with("failures-in-row", integer(course.failures_in_row))
        .with("last-skip", skip)
}

fn course(form: &Map) -> Result<Course, FactError> {
    Ok(Course {
        revision: number(form, "revision")?,
        incarnation: number(form, "incarnation")?,
        updated_at: maybe(form, "updated-at", instant)?,
        armed_since: maybe(form, "armed-since", instant)?,
        consumed: maybe(form, "consumed", instant)?,
        awaits_finish: flag(form, "awaits-finish?")?,
        never: reason(form, "never")?,
        paused: maybe(form, "paused", |form, key| pause(map(form, key)?))?,
        runs: number(form, "runs")?,
        delivered: number(form, "delivered")?,
        failed: number(form, "failed")?,
        skipped: number(form, "skipped")?,
        failures_in_row: number(form, "failures-in-row")?,
        last_skip: maybe(form, "last-skip", last_skip)?,
    })
}

fn last_skip(form: &Map, key: &'static str) -> Result<(crate::domain::Moment, Reason), FactError> {
    let value = part(form, key);
    let pair = || {
        let Value::Vector(pair) = value else { return None };
        let [slot, why] = &**pair else { return None };
        let slot = crate::domain::Moment::parse(slot.as_str()?).ok()?;
        Some((slot, Reason::parse(why.as_keyword()?.as_str())?))
    };
    pair().ok_or_else(|| wrong(key, "a slot and a reason", value))
}

fn of_pause(pause: &Pause) -> Map {
    Map::new()
        .with("by", of_scope(&pause.by))
        .with("why", pause.reason.as_deref())
        .with("since", of_instant(pause.since))
}

fn pause(form: &Map) -> Result<Pause, FactError> {
    Ok(Pause { by: scope(form, "by")?, reason: own_text(form, "why")?, since: instant(form, "since")? })
}

fn of_run(run: &Run) -> Map {
    Map::new()
        .with("incarnation", run.incarnation)
        .with("slot", of_instant(run.slot))
        .with("folded", integer(run.folded))
        .with("cause", Value::keyword(run.cause.name()))
        .with("state", Value::keyword(run.state.name()))
        .with("attempt", i64::from(run.attempt))
        .with("claimed-at", of_instant(run.claimed_at))
        .with("started-at", run.started_at.map(of_instant))
        .with("delivered-at", run.delivered_at.map(of_instant))
        .with("retry-at", run.retry_at.map(of_instant))
        .with("ended-at", run.ended_at.map(of_instant))
        .with("phase", run.phase.map(|phase| Value::keyword(phase.name())))
        .with("reason", of_reason(run.reason))
        .with("host", run.host.map(HostId::number))
        .with("session", run.session.as_ref().map(crate::domain::SessionId::as_str))
        .with("session-created?", run.session_created)
        .with("failure", run.failure.as_deref().map(of_failure))
        .with("asked", run.asked.as_deref().map(definition::print))
}

fn run(form: &Map) -> Result<Run, FactError> {
    Ok(Run {
        incarnation: number(form, "incarnation")?,
        slot: instant(form, "slot")?,
        folded: number(form, "folded")?,
        cause: one(form, "cause", Cause::parse)?,
        state: one(form, "state", RunState::parse)?,
        attempt: number(form, "attempt")?,
        claimed_at: instant(form, "claimed-at")?,
        started_at: maybe(form, "started-at", instant)?,
        delivered_at: maybe(form, "delivered-at", instant)?,
        retry_at: maybe(form, "retry-at", instant)?,
        ended_at: maybe(form, "ended-at", instant)?,
        phase: maybe(form, "phase", |form, key| one(form, key, Phase::parse))?,
        reason: reason(form, "reason")?,
        host: maybe(form, "host", number::<u32>)?.map(HostId::new),
        session: maybe(form, "session", session_id)?,
        session_created: flag(form, "session-created?")?,
        failure: maybe(form, "failure", |form, key| failure(map(form, key)?))?.map(Box::new),
        asked: maybe(form, "asked", |form, key| definition::parse(map(form, key)?))?.map(Arc::new),
    })
}

fn of_reason(reason: Option<Reason>) -> Option<Value> {
    reason.map(|reason| Value::keyword(reason.name()))
}

fn reason(form: &Map, key: &'static str) -> Result<Option<Reason>, FactError> {
    maybe(form, key, |form, key| one(form, key, Reason::parse))
}

/// What is kept of the engine itself: who holds everything, while it is held.
pub fn print_hold(hold: Option<&Pause>) -> Map {
    Map::new().with("v", VERSION).with("held", hold.map(of_pause))
}

/// Reads who holds everything.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub fn parse_hold(form: &Map) -> Result<Option<Pause>, FactError> {
    check_version(form)?;
    maybe(form, "held", |form, key| pause(map(form, key)?))
}
