//! psi's behaviour as rows of data: every test of psi's own, and every item of the checklist to conform to.
//!
//! `fixtures/psi/*.edn` holds the rows, `psi_rows/` the interpreter that plays them on a real handle with simulated
//! clock and hosts. The laws of the testkit watch after every step. Source: psi's test inventory and checklist.

mod look;
pub(crate) mod pattern;
mod play;
mod row;
mod scene;

use std::collections::BTreeSet;

use row::{Row, rows};

/// Every table.
const TABLES: &[(&str, &str)] = &[
    ("model.edn", include_str!("../../../fixtures/psi/model.edn")),
    ("delivery.edn", include_str!("../../../fixtures/psi/delivery.edn")),
    ("tool.edn", include_str!("../../../fixtures/psi/tool.edn")),
    ("surfaces.edn", include_str!("../../../fixtures/psi/surfaces.edn")),
    ("checklist.edn", include_str!("../../../fixtures/psi/checklist.edn")),
    ("gaps.edn", include_str!("../../../fixtures/psi/gaps.edn")),
];

/// psi's own tests, namespace by namespace.
const PSI_TESTS: &[(&str, &str)] = &[
    (
        "scheduler",
        "empty-state create-and-list-schedule create-schedule-requires-explicit-kind validate-delay-ms \
         fire-schedule deliver-and-cancel drain-one create-schedule-rejects-duplicate-id \
         fire-schedule-rejects-non-pending-status cancel-schedule-rejects-terminal-status \
         fail-schedule-records-failure-detail-and-dequeues drain-one-orders-by-fire-at-not-queue-insertion-order",
    ),
    (
        "scheduler-handlers",
        "create-cancel-fire-deliver-handlers deliver-and-drain-use-time-source-when-delivered-at-omitted \
         deliver-and-drain-require-time-source session-deliver-requires-time-source-without-marking-failed \
         deliver-checks-schedule-before-time-source session-kind-fires-without-origin-idle \
         session-deliver-creates-top-level-session-without-switching \
         session-deliver-records-failed-status-on-prompt-submit-error drain-and-statechart-idle-hooks",
    ),
    (
        "scheduler-dispatch",
        "create-stores-schedule-and-starts-timer cancel-marks-pending-or-queued-schedule-cancelled \
         fired-queues-while-session-busy deliver-submits-canonical-prompt-lifecycle \
         drain-queue-delivers-oldest-queued-schedule",
    ),
    (
        "scheduler-lifecycle",
        "scheduled-deliver-runs-canonical-prompt-lifecycle \
         busy-session-fire-queues-then-idle-drains-oldest-by-fire-at \
         drain-one-stamps-scheduled-user-message-from-scheduler-time-source cancel-pending-and-queued-schedules",
    ),
    (
        "scheduler-end-to-end",
        "fired-end-to-end-delivers-when-idle message-kind-fires-via-timer-seam-and-delivers-to-origin \
         session-kind-fires-via-timer-seam-and-creates-top-level-session",
    ),
    ("scheduler-effects", "start-and-cancel-timer-effects shutdown-context-cancels-scheduler-timers"),
    (
        "scheduler-timer-seam",
        "start-timer-uses-injected-time-source-and-delay-runner \
         cancel-before-stale-timer-callback-does-not-resurrect \
         cancelled-default-delay-thread-exits-without-uncaught-interrupted-exception",
    ),
    ("scheduler-context-shutdown", "clears-scheduler-timers prevents-captured-timer-callback-from-firing"),
    ("scheduler-background-jobs", "projection"),
    ("scheduler-cancel-job", "session-cancel-job-routes"),
    ("scheduler-resolvers", "resolver resolver-projects-rich-attrs-across-statuses"),
    (
        "psi-tool-scheduler",
        "create-list-cancel time-source-required bounds-and-cap session-id-resolution kind-validation \
         at-resolution-matrix",
    ),
    ("scheduler-tools", "make-psi-tool-scheduler"),
    ("session-close", "cancels-owned-schedules last-session idempotent tree"),
    ("app-runtime", "background-job-ui background-job-view"),
    ("rpc", "cancel-background-job-routes-scheduled-prompts"),
    ("commands", "scheduled-job-cancel jobs-running-with-queued"),
    ("resolvers", "scheduler-resolver"),
    ("tools", "query"),
    ("graph-surface", "graph-attributes"),
    ("extension-schedule-event", "handler-called-once-with-payload"),
];

/// Items of the checklist.
const CHECKLIST: std::ops::RangeInclusive<u32> = 1..=37;

fn all_rows() -> Vec<Row> {
    TABLES.iter().flat_map(|(table, text)| rows(table, text)).collect()
}

#[test]
fn every_row_holds() {
    let faults: Vec<String> = all_rows().iter().filter_map(|row| row.play().err()).collect();
    assert!(faults.is_empty(), "{} rows fail\n\n{}\n", faults.len(), faults.join("\n\n"));
}

#[test]
fn no_row_is_missing_and_none_stands_twice() {
    let rows = all_rows();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "a name stands twice");
    let psi = PSI_TESTS.iter().flat_map(|(namespace, tests)| {
        tests.split_whitespace().map(move |test| (format!("{namespace}/{test}"), "psi §8"))
    });
    let checklist = CHECKLIST.map(|item| (format!("checklist/{item}"), "psi §12"));
    let expected: Vec<(String, &str)> = psi.chain(checklist).collect();
    for (name, source) in &expected {
        let row = rows.iter().find(|row| row.name == *name);
        assert_eq!(row.map(|row| row.source.as_str()), Some(*source), "{name}");
    }
    let beyond = rows.iter().filter(|row| !expected.iter().any(|(name, _)| *name == row.name));
    for row in beyond {
        assert!(row.name.starts_with("gaps/"), "{}: a row from nowhere", row.name);
    }
}
