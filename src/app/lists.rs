//! `reveille status`, `reveille list` and `reveille runs`: each sends one query and prints the answer as text, EDN or JSON.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use super::client::question::{ask, check_named, query};
use super::forecast_explain::print;
use super::table::{self, cell};
use crate::dialect::brief;
use crate::domain::SessionId;
use crate::edn::{Map, Value};
use crate::surface::cli::flags::RunsFlags;
use crate::surface::cli::{AskingArgs, ListArgs, ListingArgs, OperatorArgs};

pub(super) fn list(args: &ListArgs) -> io::Result<ExitCode> {
    let mut params = args.listing.filter.params.clone();
    // A one-shot that failed has ended, and is asked for all the same.
    let is_failing = params.keyword("failing").and_then(Value::as_bool) == Some(true);
    if !args.all && !is_failing && params.keyword("status").is_none() {
        params = params.with("status", UNFINISHED.map(Value::keyword).to_vec());
    }
    let page = Listed {
        attribute: "psi.scheduler/schedule-page",
        namespace: "reveille.schedule-page",
        of: SCHEDULES,
    };
    let row = |schedule: &Value| {
        let of = |name: &str| cell(schedule, &format!("psi.scheduler/{name}"));
        let when = brief::words(&of("when"));
        let [session, id] = ["origin-session-id", "schedule-id"].map(of);
        [of("status"), of("next-fire-at"), when, session, id, table::label(schedule)]
    };
    let heads = ["STATUS", "NEXT", "WHEN", "SESSION", "SCHEDULE", "LABEL"];
    page.show(&args.listing.asking, params, |rows| table::of(heads, rows.iter().map(row)))
}

pub(super) fn runs(args: &ListingArgs<RunsFlags>) -> io::Result<ExitCode> {
    let mut params = args.filter.params.clone();
    if let Some(typed) = params.keyword("schedule-id").and_then(Value::as_str) {
        match args.asking.schedule(typed) {
            Ok(schedule) => params = params.with("schedule-id", schedule),
            Err(fault) => return Ok(fault.tell()),
        }
    }
    let page = Listed { attribute: "reveille.engine/run-page", namespace: "reveille.run-page", of: RUNS };
    let row = |run: &Value| {
        let schedule =
            run.as_map().and_then(|run| run.keyword("reveille.run/schedule")).unwrap_or(&Value::Nil);
        let own = ["slot", "cause", "state", "reason", "lateness-ms", "session-id"]
            .map(|name| cell(run, &format!("reveille.run/{name}")));
        let [slot, cause, state, reason, late, session] = own;
        // One that waits is with no session yet.
        let of_schedule = || cell(schedule, "psi.scheduler/origin-session-id");
        let session = if session.is_empty() { of_schedule() } else { session };
        [
            slot,
            cause,
            state,
            reason,
            late,
            session,
            cell(schedule, "psi.scheduler/schedule-id"),
            table::label(schedule),
        ]
    };
    let heads = ["SLOT", "CAUSE", "STATE", "REASON", "LATE-MS", "SESSION", "SCHEDULE", "LABEL"];
    page.show(&args.asking, params, |rows| table::of(heads, rows.iter().map(row)))
}

pub(super) fn status(args: &OperatorArgs) -> io::Result<ExitCode> {
    let answer = match ask(&args.daemon, None, STATUS) {
        Ok(answer) => answer,
        Err(fault) => return Ok(fault.tell()),
    };
    print(&args.printing, &Value::Map(answer.clone()), || standing(&answer))
}

/// A page of a list.
struct Listed {
    attribute: &'static str,
    namespace: &'static str,
    /// The name of the entries, and what is asked of each.
    of: (&'static str, &'static str),
}

impl Listed {
    fn show(
        &self,
        asking: &AskingArgs,
        params: Map,
        words: impl FnOnce(&[Value]) -> String,
    ) -> io::Result<ExitCode> {
        let (entries, asked) = self.of;
        let asked_for = params.clone();
        let is_paged = params.keyword("first").is_some() || params.keyword("last").is_some();
        let params = if is_paged { params } else { params.with("first", FIRST) };
        let shape = format!(
            "[:{0}/total-count :{0}/has-next? :{0}/end-cursor {{:{0}/{entries} {asked}}}]",
            self.namespace
        );
        let answer = match asking.ask(&query(self.attribute, params, &shape)) {
            Ok(answer) => answer,
            Err(fault) => return Ok(fault.tell()),
        };
        let page = answer.keyword(self.attribute).cloned().unwrap_or(Value::Nil);
        let part =
            |name: &str| page.as_map().and_then(|map| map.keyword(&format!("{}/{name}", self.namespace)));
        let rows = part(entries).and_then(Value::as_items).unwrap_or_default();
        if rows.is_empty() {
            let given = |name| asked_for.keyword(name).and_then(Value::as_str);
            let session =
                asking.caller.session.as_ref().map(SessionId::as_str).or_else(|| given("session-id"));
            if let Err(fault) = check_named(&asking.caller.daemon, session, given("schedule-id")) {
                return Ok(fault.tell());
            }
        }
        print(&asking.printing, &page, || {
            let total = part("total-count").and_then(Value::as_int).unwrap_or_default();
            let mut text = if rows.is_empty() { String::new() } else { words(rows) };
            // Writing to a string cannot fail.
            let _ = write!(text, "{} of {total}", rows.len());
            // A page of no rows has no cursor to go on from.
            if !rows.is_empty() && part("has-next?").and_then(Value::as_bool) == Some(true) {
                let _ = write!(
                    text,
                    "; the next with --after {}",
                    cell(&page, &format!("{}/end-cursor", self.namespace))
                );
            }
            text.push('\n');
            text
        })
    }
}

/// How the daemon stands, a line for each thing that somebody may have to look at.
fn standing(answer: &Map) -> String {
    let whole = Value::Map(answer.clone());
    let count = |map: &Value, name: &str| cell(map, name);
    let length = |name: &str| answer.keyword(name).and_then(Value::as_items).map_or(0, <[Value]>::len);
    let mut text = format!(
        "mode       {}\nunfinished {}\napprovals  {} waiting\n",
        cell(&whole, "reveille.engine/mode"),
        plural(&cell(&whole, "psi.scheduler/pending-count"), "schedule"),
        length("reveille.engine/held-runs") + length("reveille.engine/open-questions"),
    );
    if let Some(failure) = answer.keyword("reveille.engine/store-failure").filter(|it| !it.is_nil()) {
        let (since, error) = (cell(failure, "since"), cell(failure, "error"));
        let _ = writeln!(text, "store      cannot be written since {since}: {error}; what is durable waits");
    }
    if let Some(held) = answer.keyword("reveille.engine/held").filter(|held| !held.is_nil()) {
        let reason = cell(held, "reason");
        let why = if reason.is_empty() { reason } else { format!(": {reason}") };
        let _ = writeln!(text, "held       since {} by {}{why}", cell(held, "since"), cell(held, "by"));
    }
    if let Some(accounts) = answer.keyword("reveille.engine/accounting") {
        let of = |name: &&str| format!("{} {name}", count(accounts, name));
        let _ = writeln!(
            text,
            "accounts   {} since the daemon started, with those that were open then: {}",
            plural(&count(accounts, "expected"), "slot"),
            ACCOUNTS.iter().map(of).collect::<Vec<_>>().join(", ")
        );
        let imbalance = cell(accounts, "imbalance");
        if imbalance != "0" {
            let _ = writeln!(text, "imbalance  {imbalance}: this is a defect, report it");
        }
    }
    text
}

fn plural(count: &str, noun: &str) -> String {
    format!("{count} {noun}{}", if count == "1" { "" } else { "s" })
}

const ACCOUNTS: [&str; 7] = ["delivered", "left", "skipped", "cancelled", "failed", "lost", "pending"];
const UNFINISHED: [&str; 3] = ["pending", "queued", "paused"];
/// Entries of a page, unless a number is given.
const FIRST: i64 = 100;
const SCHEDULES: (&str, &str) = (
    "schedules",
    "[:psi.scheduler/schedule-id :psi.scheduler/label :psi.scheduler/status :psi.scheduler/reason \
      :psi.scheduler/next-fire-at :psi.scheduler/when :psi.scheduler/origin-session-id :psi.scheduler/message-excerpt]",
);
const RUNS: (&str, &str) = (
    "runs",
    "[:reveille.run/id :reveille.run/slot :reveille.run/cause :reveille.run/state :reveille.run/reason \
      :reveille.run/lateness-ms :reveille.run/session-id {:reveille.run/schedule [:psi.scheduler/schedule-id \
      :psi.scheduler/label :psi.scheduler/message-excerpt :psi.scheduler/origin-session-id]}]",
);
const STATUS: &str = "[:reveille.engine/mode :reveille.engine/now :reveille.engine/held :reveille.engine/store-failure \
                       :psi.scheduler/pending-count {:reveille.engine/held-runs [:reveille.run/id]} \
                       {:reveille.engine/open-questions [:digest]} :reveille.engine/accounting]";
