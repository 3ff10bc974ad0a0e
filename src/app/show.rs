//! `reveille show`: all that one schedule is, what became of its latest runs, and why it stands as it does.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use super::fault::AppFault;
use super::forecast_explain::print;
use super::foreign_text::visible;
use super::table::{self, cell};
use crate::dialect::brief;
use crate::edn::Value;
use crate::surface::cli::OneArgs;

pub(super) fn show(args: &OneArgs) -> io::Result<ExitCode> {
    let asked = args.asking.schedule(&args.schedule).and_then(|id| {
        let parts = PARTS.map(|name| format!(":psi.scheduler/{name}")).join(" ");
        let query = format!("[{{[:psi.scheduler/schedule-id {}] [{parts} {REST}]}}]", Value::from(&*id));
        args.asking.ask(&query).map_err(|fault| {
            let is_absent = matches!(fault, AppFault::Absent(_));
            if is_absent {
                AppFault::Absent(format!(
                    "schedule not found: {id}; `reveille explain {id}` says what is known of it"
                ))
            } else {
                fault
            }
        })
    });
    match asked {
        Ok(answer) => {
            let schedule = answer.iter().next().map_or(&Value::Nil, |(_, schedule)| schedule);
            print(&args.asking.printing, schedule, || told(schedule))
        }
        Err(fault) => Ok(fault.tell()),
    }
}

/// A line for each part that there is, the latest runs as a table, and the explanation.
fn told(schedule: &Value) -> String {
    let part = |name: &str| schedule.as_map().and_then(|it| it.keyword(&format!("psi.scheduler/{name}")));
    let mut text = String::new();
    for name in PARTS {
        let value = brief::words(&cell(schedule, &format!("psi.scheduler/{name}")));
        if !value.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:18}  {value}");
        }
    }
    let sentence = part("explain").map(|it| cell(it, "reveille.explanation/sentence")).unwrap_or_default();
    let message = part("message").and_then(Value::as_str).map(visible).unwrap_or_default();
    let _ = write!(text, "{:18}  {message}\n\n{sentence}\n", "message");
    let runs = part("runs").and_then(Value::as_items).unwrap_or_default();
    if !runs.is_empty() {
        let columns = ["slot", "cause", "state", "reason", "attempt", "lateness-ms", "session-id"];
        let row = |run: &Value| {
            let own = columns.map(|name| cell(run, &format!("reveille.run/{name}")));
            let [slot, cause, state, reason, attempt, late, session] = own;
            [slot, cause, state, reason, attempt, late, session, table::run_id(run, "reveille.run/id")]
        };
        let heads = ["SLOT", "CAUSE", "STATE", "REASON", "ATTEMPT", "LATE-MS", "SESSION", "RUN"];
        text.push('\n');
        text += &table::of(heads, runs.iter().rev().map(row));
    }
    text
}

/// What a person may want to know of a schedule, without its message, in the order of the lines.
const PARTS: [&str; 22] = [
    "schedule-id",
    "label",
    "status",
    "reason",
    "next-fire-at",
    "when",
    "zone",
    "kind",
    "durability",
    "origin-session-id",
    "target",
    "call",
    "made-by",
    "created-at",
    "edited-by",
    "updated-at",
    "revision",
    "pause",
    "policy",
    "lifetime",
    "lineage",
    "last-skip",
];
/// What is asked besides the parts.
const REST: &str = ":psi.scheduler/message :psi.scheduler/run-count :psi.scheduler/delivered-count :psi.scheduler/failed-count \
                    :psi.scheduler/skipped-count {:psi.scheduler/explain [:reveille.explanation/verdict \
                    :reveille.explanation/sentence]} {:psi.scheduler/runs [:reveille.run/id :reveille.run/slot \
                    :reveille.run/cause :reveille.run/state :reveille.run/reason :reveille.run/attempt :reveille.run/lateness-ms \
                    :reveille.run/session-id]}";
