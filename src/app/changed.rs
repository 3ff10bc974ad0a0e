//! What the operator's commands say of a change: what was changed, by its label, and what is to come.

use std::fmt::Write as _;

use super::foreign_text::{shown, visible};
use crate::edn::{Keyword, Map, Value};
use crate::graph::mutation::MutationName;

/// How the answer of a mutation is told.
enum Told {
    /// By its verb and the schedule that it changed.
    One(&'static str),
    /// By its verb and the number of schedules that it changed.
    Many(&'static str),
    /// By the messages that were taken, and how many are left.
    Messages,
    /// By its verb and the run that was decided on.
    Run(&'static str),
    /// By the session, and all that it may do now.
    Grant,
    /// In these words.
    Text(&'static str),
}

impl Told {
    /// `None` if the mutation has no words of its own: its answer is told field by field.
    fn of(mutation: MutationName) -> Option<Told> {
        match mutation {
            MutationName::Cancel => Some(Told::One("cancelled")),
            MutationName::Pause => Some(Told::One("paused")),
            MutationName::Resume => Some(Told::One("resumed")),
            MutationName::RunNow => Some(Told::One("runs now")),
            MutationName::Retry => Some(Told::One("tries again")),
            MutationName::Reschedule => Some(Told::One("changed")),
            MutationName::CancelAll => Some(Told::Many("cancelled")),
            MutationName::PauseAll => Some(Told::Many("paused")),
            MutationName::ResumeAll => Some(Told::Many("resumed")),
            MutationName::HoldAll => Some(Told::Text("held  everything, until `reveille release-all`\n")),
            MutationName::ReleaseAll => Some(Told::Text("released  what is paused by itself stays paused\n")),
            MutationName::TakeMessages => Some(Told::Messages),
            MutationName::Approve => Some(Told::Run("approved")),
            MutationName::Deny => Some(Told::Run("denied")),
            MutationName::SetGrant => Some(Told::Grant),
            MutationName::Create => Some(Told::One("created")),
            MutationName::SkipNext
            | MutationName::ChangeMany
            | MutationName::Open
            | MutationName::Close
            | MutationName::UserMessage
            | MutationName::Busy
            | MutationName::JobReady
            | MutationName::Remember
            | MutationName::SetGoal
            | MutationName::CreateTask
            | MutationName::UpdateTask
            | MutationName::Ping => None,
        }
    }
}

/// What is asked of the schedule or session after its change; `None` if the mutation changes no single one.
pub(super) fn shape(mutation: MutationName) -> Option<&'static str> {
    match Told::of(mutation)? {
        Told::One(_) if mutation == MutationName::Create => Some(
            "[:psi.scheduler/created? :psi.scheduler/schedule-id :psi.scheduler/label :psi.scheduler/status \
             :psi.scheduler/next-fire-at :psi.scheduler/paused? :psi.scheduler/understood]",
        ),
        Told::One(_) if mutation == MutationName::Reschedule => Some(
            "[:psi.scheduler/schedule-id :psi.scheduler/label :psi.scheduler/next-fire-at :psi.scheduler/paused? \
             :psi.scheduler/understood]",
        ),
        Told::One(_) if matches!(mutation, MutationName::RunNow | MutationName::Resume) => Some(
            "[:psi.scheduler/schedule-id :psi.scheduler/label :psi.scheduler/status :psi.scheduler/next-fire-at \
             :psi.scheduler/paused? :psi.scheduler/reason {:psi.scheduler/runs [:reveille.run/state :reveille.run/reason]}]",
        ),
        Told::One(_) => Some(
            "[:psi.scheduler/schedule-id :psi.scheduler/label :psi.scheduler/status :psi.scheduler/next-fire-at \
             :psi.scheduler/paused?]",
        ),
        Told::Grant => Some("[:psi.agent-session/session-id :psi.agent-session/grant]"),
        Told::Many(_) | Told::Messages | Told::Run(_) | Told::Text(_) => None,
    }
}

/// The answer as lines for people; `None` if the mutation has no words of its own.
pub(super) fn words(mutation: MutationName, answer: &Map) -> Option<String> {
    Some(match Told::of(mutation)? {
        Told::Text(text) => text.to_owned(),
        Told::Run(verb) => {
            let run = value(answer, "reveille.run/id").and_then(Value::as_str).map(visible);
            format!("{verb}  {}\n", run.unwrap_or_default())
        }
        Told::Grant => {
            let id = value(answer, "psi.agent-session/session-id").and_then(Value::as_str).map(visible);
            let grant = value(answer, "psi.agent-session/grant").and_then(Value::as_map);
            let lines = grant.into_iter().flatten().map(|(key, value)| {
                let name = key.as_keyword().map_or("", Keyword::name);
                // Nil means nothing of the one, and everything of the other.
                let said = match (name, value.is_nil()) {
                    ("right", true) => "none".to_owned(),
                    (_, true) => "all".to_owned(),
                    (_, false) => shown(value),
                };
                format!("  {name:11}  {said}\n")
            });
            format!("granted  {}\n{}", id.unwrap_or_default(), lines.collect::<String>())
        }
        Told::Messages => {
            let taken =
                value(answer, "psi.agent-session/taken").and_then(Value::as_items).unwrap_or_default();
            let left =
                value(answer, "psi.agent-session/inbox-count").and_then(Value::as_int).unwrap_or_default();
            let more = if left == 0 { String::new() } else { format!("{left} more in the inbox\n") };
            messages(taken) + &more
        }
        Told::Many(verb) => {
            let count = |name| value(answer, name).and_then(Value::as_int).unwrap_or_default();
            let (changed, left) =
                (count("psi.agent-session/changed-count"), count("psi.agent-session/left-count"));
            let rest = if left == 0 { String::new() } else { format!("; {left} stay as they are") };
            let plural = if changed == 1 { "" } else { "s" };
            format!("{verb}  {changed} schedule{plural}{rest}\n")
        }
        Told::One(verb) => {
            let text = |name| value(answer, name).and_then(Value::as_str).map(visible);
            let id = text("psi.scheduler/schedule-id").unwrap_or_default();
            let label = text("psi.scheduler/label").map_or_else(String::new, |label| format!("  {label}"));
            if value(answer, "psi.scheduler/created?").and_then(Value::as_bool) == Some(false) {
                let status = value(answer, "psi.scheduler/status").and_then(Value::as_keyword);
                let status = status.map_or("", Keyword::name);
                return Some(format!(
                    "nothing created: the key belongs to {id}{label}, whose status is {status}; use another key\n"
                ));
            }
            let (now, waits_for) = run_now(answer, verb);
            let verb = if mutation == MutationName::RunNow { now } else { verb };
            let mut outlook = outlook(answer, matches!(mutation, MutationName::RunNow | MutationName::Retry));
            // Its slot may have passed under the pause.
            if mutation == MutationName::Resume && now != verb && outlook == "no further slot" {
                outlook = format!("no further slot; its run: {now}");
            }
            // Of what is resumed under a hold, the next slot has passed.
            let own = value(answer, "psi.scheduler/reason").filter(|_| mutation == MutationName::Resume);
            let own = own.and_then(Value::as_keyword).map(Keyword::name);
            let more = match waits_for.filter(|_| now == "waits").or(own) {
                Some(reason) => format!("  {reason}: see `reveille explain {id}`\n"),
                None => String::new(),
            };
            format!("{verb}  {id}{label}\n  {outlook}\n{more}{}", understood(answer))
        }
    })
}

fn value<'a>(answer: &'a Map, name: &str) -> Option<&'a Value> {
    answer.keyword(name).filter(|value| !value.is_nil())
}

/// What became of the run that was asked for: the verb, and what it waits for if it is with nobody yet.
fn run_now<'a>(answer: &'a Map, verb: &'a str) -> (&'a str, Option<&'a str>) {
    // The newest run comes last. A schedule that was only brought forward may have none yet, as under a hold.
    let newest = value(answer, "psi.scheduler/runs").and_then(Value::as_items).and_then(<[Value]>::last);
    let (of, state) = match newest.and_then(Value::as_map) {
        Some(run) => (run, "reveille.run"),
        None => (answer, "psi.scheduler"),
    };
    let word =
        |name: &str| value(of, &format!("{state}/{name}")).and_then(Value::as_keyword).map(Keyword::name);
    let stands = word(if newest.is_some() { "state" } else { "status" });
    match (stands, word("reason")) {
        (Some("left"), _) => ("left in the inbox", None),
        // Nobody has said yet that it arrived.
        (Some("in-flight"), _) => ("on its way", None),
        (Some("queued" | "pending"), Some(reason)) => ("waits", Some(reason)),
        (Some(_) | None, _) => (verb, None),
    }
}

/// What is to come of a schedule, beside a run that was just asked for.
fn outlook(answer: &Map, beside: bool) -> String {
    let next = value(answer, "psi.scheduler/next-fire-at").map(shown);
    let status = value(answer, "psi.scheduler/status").and_then(Value::as_keyword);
    // A pause has no meaning for what has no slot any more.
    let has_ended = next.is_none() && status.is_some_and(|status| status.name() != "paused");
    let is_paused = value(answer, "psi.scheduler/paused?").and_then(Value::as_bool).unwrap_or(false);
    match next {
        _ if is_paused && beside && !has_ended => "no further run until it is resumed".to_owned(),
        _ if is_paused && !has_ended => "no run until it is resumed".to_owned(),
        Some(next) => format!("next slot  {next}"),
        None if beside => "no further slot after this run".to_owned(),
        None => "no further slot".to_owned(),
    }
}

/// How the time was understood, and what may be surprising, where a time was given.
fn understood(answer: &Map) -> String {
    let part = |name| value(answer, "psi.scheduler/understood")?.as_map()?.keyword(name);
    let words = part("words").and_then(Value::as_str).map(|words| format!("  {}\n", visible(words)));
    let warnings = part("warnings").and_then(Value::as_items).unwrap_or_default().iter();
    let warnings = warnings.filter_map(|it| Some(format!("  note: {}\n", visible(it.as_str()?))));
    words.into_iter().chain(warnings).collect()
}

/// Messages as lines for people, those of the inbox and those that were taken.
pub(super) fn messages(messages: &[Value]) -> String {
    let mut out = String::new();
    for message in messages.iter().filter_map(Value::as_map) {
        let part = |names: [&str; 2]| {
            let value = names.into_iter().find_map(|name| message.keyword(name)).filter(|it| !it.is_nil())?;
            Some(value.as_str().map_or_else(|| shown(value), visible))
        };
        let at = part(["left-at", "reveille.message/timestamp"]).unwrap_or_default();
        let label =
            part(["label", "reveille.message/label"]).map_or_else(String::new, |it| format!("  {it}"));
        let notice = match part(["turn?", "reveille.message/turn?"]).as_deref() {
            Some("false") => "  (a notice)",
            Some(_) | None => "",
        };
        let text = part(["text", "reveille.message/text"]).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{at}{label}{notice}");
        if !text.is_empty() {
            let _ = writeln!(out, "  {text}");
        }
        let file = ["file", "reveille.message/file"].iter().find_map(|name| message.keyword(name)?.as_map());
        if let Some(path) = file.and_then(|file| file.keyword("path")?.as_str()) {
            let _ = writeln!(out, "  file {}", visible(path));
        }
    }
    if out.is_empty() { "nothing in the inbox\n".to_owned() } else { out }
}
