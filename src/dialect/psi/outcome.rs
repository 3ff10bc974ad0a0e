//! Prints the answers to calls that were executed, or that the engine refused.
//!
//! Calls refused earlier are in `call.rs`, the summary of a schedule in `summary.rs`. Invariant: keys are in psi's
//! order.

use super::error::PsiError;
use super::op::Op;
use super::summary::{brief_row, row, summary};
use super::value::integer;
use crate::dialect::excerpt::ANSWER_BYTES;
use crate::dialect::{Answer, page};
use crate::domain::{Refusal, ScheduleId};
use crate::edn::{Map, Value};
use crate::engine::{ScheduleRecord, State};

/// The answer to a successful `create`.
pub fn created(state: &State, record: &ScheduleRecord, duration_ms: u64) -> Answer {
    done(Op::Create, Map::new().with("schedule", summary(state, record)), duration_ms)
}

/// The answer to a `list`: the session's unfinished schedules, in the given order. A list that is too long has the beginnings
/// of the messages, and one that is still too long its first schedules and the call that goes on.
pub fn listed(state: &State, records: &[&ScheduleRecord], duration_ms: u64) -> Answer {
    // It stops at the bound of an answer, so a long list is not printed to its end in vain.
    let (whole, bytes) = page::measured(records.iter().map(|record| row(state, record)), page::ROOM);
    let is_whole = whole.len() == records.len() && bytes - ROW_MARGIN * whole.len() <= WHOLE;
    let count = integer(records.len() as u64);
    let found = |rows: Vec<Value>| Map::new().with("schedule-count", count.clone()).with("schedules", rows);
    if is_whole {
        // It has just been measured. A list that is cut may have a single row that is too long, so its answer is measured again.
        return Answer { is_whole: true, ..done(Op::List, found(whole), duration_ms) };
    }
    let rows = page::fitting(records.iter().map(|record| brief_row(state, record)), CUT);
    let shown = rows.len();
    let cut = Map::new()
        .with("path", ["psi-tool/scheduler", "schedules"].map(Value::keyword).to_vec())
        .with("kept", integer(shown as u64))
        .with("of", count.clone())
        .with("unit", Value::keyword("items"));
    let last = shown.checked_sub(1).and_then(|last| records.get(last)).filter(|_| shown < records.len());
    let cut = cut.with_some("next", last.map(|last| rest(&last.schedule().id)));
    let notice = Map::new()
        .with("limit-bytes", integer(LIST_BYTES as u64))
        .with("cuts", vec![cut.into()])
        .with("hint", HINT);
    // Within psi's own map, so that what surrounds it keeps its five keys.
    done(Op::List, found(rows).with("psi-tool/truncated", notice), duration_ms)
}

/// What the bound on the bytes of any row has too much for one of these: five of its values at least are texts, which both
/// notations write alike, and so is what encloses them; and nothing has to separate them.
const ROW_MARGIN: usize = 7;

/// The most bytes of a list. It is read often, so its bound is below that of other answers; fifty rows of short texts are whole.
const LIST_BYTES: usize = 12_800;
/// Room for the rows of a list that is whole, and of one that says where it was cut; the rest is for what stands around them.
const WHOLE: usize = LIST_BYTES - 240;
const CUT: usize = LIST_BYTES - 1_024;
const _: () = assert!(LIST_BYTES <= ANSWER_BYTES, "the list has no bound of its own");

/// The call that lists what comes after a schedule. `list` has no argument for it in psi, but the graph has the same list.
fn rest(after: &ScheduleId) -> Map {
    let query = format!(
        "[{{(:psi.scheduler/schedules {{:first 20 :after {} :status [:pending :queued]}}) \
         [:psi.scheduler/schedule-id :psi.scheduler/label :psi.scheduler/status :psi.scheduler/fire-at]}}]",
        Value::from(after.to_string())
    );
    Map::new().with("action", "query").with("query", query)
}

const HINT: &str = "messages are cut to their beginning: query :psi.scheduler/message for the whole; :next of a cut is the \
                    call for what is missing";

/// The answer to a successful `cancel`.
pub fn cancelled(state: &State, record: &ScheduleRecord, duration_ms: u64) -> Answer {
    let found = Map::new().with("cancelled?", true).with("schedule", summary(state, record));
    done(Op::Cancel, found, duration_ms)
}

/// The answer to a call that the engine refused.
pub fn refused(op: Op, refusal: &Refusal, duration_ms: u64) -> Answer {
    PsiError::refused(refusal).answer(Some(op), duration_ms)
}

fn done(op: Op, outcome: Map, duration_ms: u64) -> Answer {
    // psi's order of keys, in which the duration comes last.
    let value = Map::new()
        .with("psi-tool/action", Value::keyword("scheduler"))
        .with("psi-tool/scheduler-op", Value::keyword(op.name()))
        .with("psi-tool/overall-status", Value::keyword("ok"))
        .with("psi-tool/scheduler", outcome)
        .with("psi-tool/duration-ms", integer(duration_ms));
    Answer::done(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::psi::testing::{World, check_error, read, session};
    use crate::domain::{HostId, Moment, RunId};
    use crate::limits;

    const CREATE: &str =
        r#"{:action "scheduler" :op "create" :kind "message" :message "wake up" :label "l" :delay-ms 1000}"#;

    #[track_caller]
    fn check(answer: &Answer, expected: &str) {
        assert!(!answer.is_error);
        assert_eq!(read(&answer.value.to_string()), answer.value);
        assert_eq!(answer.value.to_string(), expected);
    }

    #[test]
    fn what_was_done_is_told_in_psis_order() {
        let mut world = World::new();
        let id = world.create(CREATE);
        let schedule = |status: &str| {
            format!(
                "{{:schedule-id \"{id}\" :kind :message :label \"l\" :message \"wake up\" :status {status} \
                 :created-at \"2026-04-22T12:00:00.000250Z\" :fire-at \"2026-04-22T12:00:01.000250Z\" \
                 :origin-session-id \"s-1\" :created-session-id nil :delivery-phase nil :error-summary nil \
                 :session-config-summary nil}}"
            )
        };
        let done = |op: &str, outcome: &str| {
            format!(
                "{{:psi-tool/action :scheduler :psi-tool/scheduler-op :{op} :psi-tool/overall-status :ok \
                 :psi-tool/scheduler {{{outcome}}} :psi-tool/duration-ms 3}}"
            )
        };
        let pending = schedule(":pending");
        check(&created(&world.state, world.record(&id), 3), &done("create", &format!(":schedule {pending}")));
        // A list leaves nil out.
        let pending = pending.replace(
            " :created-session-id nil :delivery-phase nil :error-summary nil :session-config-summary nil",
            "",
        );
        let list = format!(":schedule-count 1 :schedules [{pending}]");
        check(&listed(&world.state, &[world.record(&id)], 3), &done("list", &list));
        check(&listed(&world.state, &[], 3), &done("list", ":schedule-count 0 :schedules []"));
        world.cancel(&id).unwrap();
        let cancel = format!(":cancelled? true :schedule {}", schedule(":cancelled"));
        check(&cancelled(&world.state, world.record(&id), 3), &done("cancel", &cancel));
    }

    #[test]
    fn a_cancel_of_what_has_ended_or_is_under_way_is_an_error() {
        let mut world = World::new();
        let id = world.create(CREATE);
        let unknown = world.cancel(&ScheduleId::new("sch-x").unwrap()).unwrap_err();
        let data = r#"{:schedule-id "sch-x" :status nil}"#;
        check_error(&refused(Op::Cancel, &unknown, 1), "schedule not found", ":scheduler", data);
        world.wait();
        let under_way = world.cancel(&id).unwrap_err();
        let data = format!("{{:schedule-id \"{id}\" :status :pending :in-flight? true}}");
        check_error(&refused(Op::Cancel, &under_way, 1), "schedule is not cancellable", ":scheduler", &data);
        world.accept(&id);
        let ended = world.cancel(&id).unwrap_err();
        let data = format!("{{:schedule-id \"{id}\" :status :delivered}}");
        check_error(&refused(Op::Cancel, &ended, 1), "schedule is not cancellable", ":scheduler", &data);
        // This tool makes no durable schedules, so its hint does not ask for one.
        let lost = Refusal::ScheduleLost { schedule: ScheduleId::new("sch-x").unwrap(), at: Moment::EPOCH };
        let data = r#"{:schedule-id "sch-x" :status nil}"#;
        let hint = "create it again: what this tool creates ends with the scheduler's process";
        check_error(&refused(Op::Cancel, &lost, 1), hint, ":scheduler", data);
    }

    #[track_caller]
    fn check_row(refusal: &Refusal, words: &str, phase: &str, data: &str) {
        check_error(&refused(Op::Create, refusal, 1), words, phase, data);
    }

    #[test]
    fn the_engines_refusals_have_rows() {
        let (session, schedule) = (session(), ScheduleId::new("a").unwrap());
        let full = r#"{:phase :validate :action "scheduler" :op "create" :cap 50}"#;
        check_row(&Refusal::SessionFull { max: 50 }, "scheduler pending cap exceeded", ":validate", full);
        let exists = Refusal::ScheduleExists { schedule: schedule.clone() };
        check_row(&exists, "schedule-id already exists", ":scheduler", r#"{:schedule-id "a"}"#);
        let about_session = r#"{:session-id "s-1"}"#;
        check_row(
            &Refusal::UnknownSession { session: session.clone() },
            "session not found",
            ":scheduler",
            about_session,
        );
        check_row(
            &Refusal::SessionExists { session: session.clone() },
            "already open",
            ":scheduler",
            about_session,
        );
        let elsewhere = Refusal::HostedElsewhere { session, host: HostId::new(2) };
        check_row(&elsewhere, "hosted by", ":scheduler", r#"{:session-id "s-1" :host "host-2"}"#);
    }

    #[test]
    fn the_engines_bounds_have_rows() {
        let schedule = ScheduleId::new("a").unwrap();
        let run = RunId { schedule, incarnation: 1, slot: Moment::EPOCH };
        let late = r#"{:run-id "a~1~1970-01-01T00:00:00Z"}"#;
        check_row(&Refusal::NotInFlight { run }, "no delivery in flight", ":scheduler", late);
        let limit = r#"{:limit "schedules" :max 4000000}"#;
        check_row(&Refusal::LimitReached { limit: limits::SCHEDULES }, "limit reached", ":scheduler", limit);
        check_row(&Refusal::BeyondCalendar, "beyond the calendar", ":scheduler", "nil");
        check_row(&Refusal::Stopping, "stopping", ":scheduler", "nil");
    }
}
