//! `reveille watch`, `reveille tasks` and `reveille channels`: what looks, what works in the background, and what is told
//! outside.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use super::client::question::query;
use super::fault::AppFault;
use super::forecast_explain::print;
use super::table::{self, cell};
use crate::edn::Value;
use crate::surface::cli::{AskingArgs, ListingArgs, WatchArgs};

pub(super) fn watch(args: &WatchArgs) -> io::Result<ExitCode> {
    match &args.watch {
        Some(typed) => one(args, typed),
        None => list(args),
    }
}

fn list(args: &WatchArgs) -> io::Result<ExitCode> {
    let row = |watch: &Value| {
        let of = |name: &str| cell(watch, &format!("reveille.watch/{name}"));
        [
            of("status"),
            of("checked-at"),
            of("check-count"),
            of("told-count"),
            of("session-id"),
            of("id"),
            of("tool"),
            of("label"),
        ]
    };
    let heads = ["STATUS", "CHECKED", "CHECKS", "TOLD", "SESSION", "WATCH", "TOOL", "LABEL"];
    let watches = match entries(&args.listing, WATCHES) {
        Ok(watches) => watches,
        Err(fault) => return Ok(fault.tell()),
    };
    print(&args.listing.asking.printing, &Value::vector(watches.clone()), || {
        table::of(heads, watches.iter().map(row))
    })
}

/// Shows one watch with its newest checks.
fn one(args: &WatchArgs, typed: &str) -> io::Result<ExitCode> {
    let found = args.listing.asking.schedule(typed).and_then(|id| {
        let query = format!("[{{[:reveille.watch/id {}] [{ONE}]}}]", Value::from(id));
        args.listing.asking.ask(&query)
    });
    let answer = match found {
        Ok(answer) => answer,
        Err(AppFault::Absent(_)) => return Ok(absent(typed)),
        Err(fault) => return Ok(fault.tell()),
    };
    let watch = answer.iter().next().map_or(Value::Nil, |(_, watch)| watch.clone());
    // A schedule that is no watch has none of these attributes.
    if cell(&watch, "reveille.watch/status").is_empty() {
        return Ok(absent(typed));
    }
    print(&args.listing.asking.printing, &watch, || told(&watch))
}

fn absent(typed: &str) -> ExitCode {
    AppFault::Absent(format!("there is no watch {typed}")).tell()
}

fn told(watch: &Value) -> String {
    let mut text = String::new();
    for name in SHOWN {
        let shown = cell(watch, &format!("reveille.watch/{name}"));
        if !shown.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:16} {shown}");
        }
    }
    let checks = watch.as_map().and_then(|watch| watch.keyword("reveille.watch/checks")?.as_items());
    let row = |check: &Value| ["check", "at", "told?", "result", "error"].map(|name| cell(check, name));
    let heads = ["CHECK", "AT", "TOLD", "RESULT", "ERROR"];
    if let Some(checks) = checks.filter(|checks| !checks.is_empty()) {
        text.push('\n');
        text.push_str(&table::of(heads, checks.iter().map(row)));
    }
    text
}

pub(super) fn tasks(args: &ListingArgs) -> io::Result<ExitCode> {
    let row = |task: &Value| {
        ["state", "started-at", "ended-at", "session-id", "id", "tool", "error"]
            .map(|name| cell(task, &format!("reveille.task/{name}")))
    };
    let heads = ["STATE", "STARTED", "ENDED", "SESSION", "TASK", "TOOL", "ERROR"];
    let tasks = match entries(args, TASKS) {
        Ok(tasks) => tasks,
        Err(fault) => return Ok(fault.tell()),
    };
    print(&args.asking.printing, &Value::vector(tasks.clone()), || table::of(heads, tasks.iter().map(row)))
}

pub(super) fn channels(args: &AskingArgs) -> io::Result<ExitCode> {
    let answer = match args.ask(&format!("[:{CHANNELS}]")) {
        Ok(answer) => answer,
        Err(fault) => return Ok(fault.tell()),
    };
    let channels = answer.keyword(CHANNELS).and_then(Value::as_items).unwrap_or_default();
    print(&args.printing, &Value::vector(channels.to_vec()), || channels_told(channels))
}

fn channels_told(channels: &[Value]) -> String {
    let heads = [
        "CHANNEL",
        "KIND",
        "AGENTS",
        "DISABLED",
        "PAUSED-IN",
        "PAUSED-OUT",
        "FAILING-SINCE",
        "GOES-TO",
        "LAST-ERROR",
    ];
    let row = |channel: &Value| {
        let of = |name| cell(channel, name);
        let failing = of("failing-since");
        // After a delivery, the last error is an old one.
        let error = if failing.is_empty() { String::new() } else { of("last-error") };
        let (paused_in, paused_out) = (of("inbound-paused-at"), of("outbound-paused-at"));
        let (name, kind, agents) = (of("name"), of("kind"), of("agents?"));
        [name, kind, agents, of("disabled-at"), paused_in, paused_out, failing, of("goes-to"), error]
    };
    table::of(heads, channels.iter().map(row))
}

/// The entries of a list, at most as many as the caller asks for.
fn entries(args: &ListingArgs, (attribute, shape): (&str, &str)) -> Result<Vec<Value>, AppFault> {
    let params = args.filter.params.clone();
    let is_paged = params.keyword("first").is_some() || params.keyword("last").is_some();
    let params = if is_paged { params } else { params.with("first", FIRST) };
    let answer = args.asking.ask(&query(attribute, params, shape))?;
    Ok(answer.keyword(attribute).and_then(Value::as_items).unwrap_or_default().to_vec())
}

/// Entries of a list, unless a number is given.
const FIRST: i64 = 100;
const WATCHES: (&str, &str) = (
    "reveille/watches",
    "[:reveille.watch/id :reveille.watch/status :reveille.watch/checked-at :reveille.watch/check-count \
      :reveille.watch/told-count :reveille.watch/session-id :reveille.watch/tool :reveille.watch/label]",
);
const TASKS: (&str, &str) = (
    "reveille/tasks",
    "[:reveille.task/id :reveille.task/state :reveille.task/started-at :reveille.task/ended-at \
      :reveille.task/session-id :reveille.task/tool :reveille.task/error]",
);
const CHANNELS: &str = "reveille.engine/channels";
const SHOWN: [&str; 14] = [
    "status",
    "tool",
    "label",
    "session-id",
    "notify-when",
    "notify-config",
    "interval-ms",
    "max-checks",
    "check-count",
    "told-count",
    "failed-in-row",
    "condition-holds?",
    "told-at",
    "last-error",
];
const ONE: &str = ":reveille.watch/id :reveille.watch/status :reveille.watch/tool :reveille.watch/label \
                   :reveille.watch/session-id :reveille.watch/notify-when :reveille.watch/notify-config \
                   :reveille.watch/interval-ms :reveille.watch/max-checks :reveille.watch/check-count \
                   :reveille.watch/told-count :reveille.watch/failed-in-row :reveille.watch/condition-holds? \
                   :reveille.watch/told-at :reveille.watch/last-error :reveille.watch/checks";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::REQUEST_CAPS;
    use crate::edn;

    #[test]
    fn a_channel_that_fails_says_since_when_and_why() {
        let channels = r#"[{:name "ops" :kind :webhook :agents? true :goes-to "https://a.example"
                            :failing-since #inst "2026-04-22T13:00:00Z" :last-error "connection refused"}
                           {:name "well" :kind :webhook :agents? true :goes-to "https://b.example"
                            :failing-since nil :last-error "a bad day, long ago"}]"#;
        let channels = edn::read(channels.as_bytes(), &REQUEST_CAPS).expect("EDN");
        let text = channels_told(channels.as_items().expect("a list"));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("FAILING-SINCE") && lines[0].ends_with("LAST-ERROR"), "{text}");
        assert!(lines[1].contains("2026-04-22T13:00:00Z"), "{text}");
        assert!(lines[1].ends_with("https://a.example  connection refused"), "{text}");
        assert!(lines[2].ends_with("https://b.example"), "{text}");
    }
}
