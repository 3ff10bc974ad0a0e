//! Prints a schedule as psi's tools show it: always the same twelve keys, nil included. Only a list leaves nil out.
//!
//! Instants are ISO strings, as in psi. The graph computes its attributes with the same functions, in
//! `graph/psi_terms.rs`.

use crate::dialect::brief;
use crate::edn::{Map, Value};
use crate::engine::{ScheduleRecord, State};
use crate::graph::psi_terms;

/// The schedule's status as a keyword: one of psi's five, or `:left`, which psi does not have.
pub fn status(record: &ScheduleRecord) -> Value {
    Value::keyword(psi_terms::status(record.status()).name())
}

/// Prints a schedule: always the same 12 keys, in psi's order, nil if there is no value.
pub fn summary(state: &State, record: &ScheduleRecord) -> Value {
    full(state, record).into()
}

/// Prints a schedule as a row of a list, without the keys that are nil: for what has not ended that is a quarter of the row,
/// and reading an absent key gives nil as well. What is there is as in the answer to `create`.
pub(super) fn row(state: &State, record: &ScheduleRecord) -> Value {
    let row: Map = full(state, record).into_iter().filter(|(_, value)| !value.is_nil()).collect();
    // Made to recur by other means than psi's, whose schedules are due once.
    match brief::recurrence(&record.schedule().trigger) {
        Some(words) => row.with("recurs", words).into(),
        None => row.into(),
    }
}

/// Prints a schedule as a row of a long list: its texts by their beginnings.
pub(super) fn brief_row(state: &State, record: &ScheduleRecord) -> Value {
    let schedule = record.schedule();
    let Value::Map(row) = row(state, record) else { return Value::Nil };
    let row = row.with_some("label", schedule.label.as_deref().map(brief::text));
    row.with("message", brief::text(schedule.payload.text())).into()
}

fn full(state: &State, record: &ScheduleRecord) -> Map {
    let schedule = record.schedule();
    let payload = &schedule.payload;
    // The session that a run has opened, for a schedule that opens one.
    let fresh = psi_terms::created_session(state, record).map(ToString::to_string);
    Map::new()
        .with("schedule-id", schedule.id.to_string())
        .with("kind", Value::keyword(payload.kind().name()))
        .with("label", schedule.label.as_deref())
        .with("message", payload.text())
        .with("status", status(record))
        .with("created-at", schedule.created_at.to_string())
        .with("fire-at", record.fire_at().to_string())
        .with("origin-session-id", schedule.owner.as_str())
        .with("created-session-id", fresh)
        .with(
            "delivery-phase",
            psi_terms::delivery_phase(state, record).map(|phase| Value::keyword(phase.name())),
        )
        .with("error-summary", psi_terms::error_summary(state, record))
        .with("session-config-summary", payload.config().map(|config| psi_terms::config_summary(config)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::psi::testing::World;
    use crate::domain::{Phase, ScheduleId};

    const MESSAGE: &str =
        r#"{:action "scheduler" :op "create" :kind "message" :message "wake up" :delay-ms 1000}"#;
    const SESSION: &str = r#"{:action "scheduler" :op "create" :kind "session" :message "wake up" :delay-ms 1000
                              :session-config {:session-name "Review"}}"#;

    /// Brings a schedule into a state with `play`, and checks its summary.
    #[track_caller]
    fn check(args: &str, play: impl FnOnce(&mut World, &ScheduleId), expected: [&str; 4]) {
        let mut world = World::new();
        let id = world.create(args);
        play(&mut world, &id);
        let summary = summary(&world.state, world.record(&id));
        let map = summary.as_map().unwrap();
        assert_eq!(map.len(), 12);
        let shown = ["status", "delivery-phase", "created-session-id", "error-summary"]
            .map(|key| map.keyword(key).unwrap().to_string());
        assert_eq!(shown, expected);
    }

    #[test]
    fn messages_show_five_statuses() {
        check(MESSAGE, |_, _| {}, [":pending", "nil", "nil", "nil"]);
        let queue = |world: &mut World, _: &_| {
            world.busy(true);
            world.wait();
        };
        check(MESSAGE, queue, [":queued", "nil", "nil", "nil"]);
        check(MESSAGE, |world, _| world.wait(), [":pending", "nil", "nil", "nil"]);
        let deliver = |world: &mut World, id: &_| {
            world.wait();
            world.accept(id);
        };
        check(MESSAGE, deliver, [":delivered", "nil", "nil", "nil"]);
        check(MESSAGE, |world, id| world.cancel(id).unwrap(), [":cancelled", "nil", "nil", "nil"]);
        let fail = |world: &mut World, id: &_| {
            world.wait();
            world.fail(id, Phase::PromptSubmit);
        };
        let error = "{:message \"scheduled prompt submission failed: no model\" \
                     :class \"clojure.lang.ExceptionInfo\" :data {:reason :host-refused}}";
        check(MESSAGE, fail, [":failed", ":prompt-submit", "nil", error]);
    }

    #[test]
    fn sessions_show_how_far_they_came() {
        let deliver = |world: &mut World, id: &_| {
            world.wait();
            world.accept(id);
        };
        check(SESSION, |world, _| world.wait(), [":pending", "nil", "nil", "nil"]);
        let mut world = World::new();
        let id = world.create(SESSION);
        deliver(&mut world, &id);
        let fresh = psi_terms::created_session(&world.state, world.record(&id)).unwrap().to_string();
        let fresh = format!("\"{fresh}\"");
        check(SESSION, deliver, [":delivered", ":prompt-submit", &fresh, "nil"]);
        let error = |lead: &str| {
            format!(
                "{{:message \"{lead}: no model\" :class \"clojure.lang.ExceptionInfo\" \
                 :data {{:reason :host-refused}}}}"
            )
        };
        let fail = |phase| {
            move |world: &mut World, id: &_| {
                world.wait();
                world.fail(id, phase);
            }
        };
        let creation = error("scheduled session creation failed");
        check(SESSION, fail(Phase::CreateSession), [":failed", ":create-session", "nil", &creation]);
        let submission = error("scheduled session prompt submission failed");
        check(SESSION, fail(Phase::PromptSubmit), [":failed", ":prompt-submit", &fresh, &submission]);
    }

    #[test]
    fn a_configuration_is_summed_up() {
        let mut world = World::new();
        let id = world.create(SESSION);
        let summary = summary(&world.state, world.record(&id));
        let config = summary.as_map().and_then(|map| map.keyword("session-config-summary")).unwrap();
        assert_eq!(
            config.to_string(),
            "{:session-name \"Review\" :model nil :thinking-level nil :skill-count 0 :tool-count 0 \
             :has-system-prompt? false :has-developer-prompt? false :has-prompt-component-selection? false \
             :preloaded-message-count 0}"
        );
    }
}
