//! `reveille approvals`: the runs that wait for an operator, each with everything that an approval covers and with what differs
//! from the last approval, and what agents ask permission for in their turns.

use std::io;
use std::process::ExitCode;

use super::control::{Control, print};
use super::exit::Exit;
use super::foreign_text::{self, shown, visible};
use super::table;
use crate::edn::{Map, Value};
use crate::surface::cli::OperatorArgs;

/// Lists the runs that wait for approval, and the questions of agents.
pub(super) fn approvals(args: &OperatorArgs) -> io::Result<ExitCode> {
    let control = Control::of_operator(args);
    let answer = match control.query(HELD) {
        Ok(answer) => answer,
        Err(fault) => return Ok(fault.tell()),
    };
    let of = |name| answer.as_map().and_then(|map| map.keyword(name)).and_then(Value::as_items);
    let questions = of("reveille.engine/open-questions").unwrap_or_default().iter().map(as_run);
    let held = of("reveille.engine/held-runs").unwrap_or_default().iter().cloned();
    let waiting: Vec<Value> = questions.chain(held).collect();
    if args.printing.edn || args.printing.json {
        print(&args.printing, &waiting.into(), None)?;
        return Ok(Exit::Done.into());
    }
    foreign_text::print(&as_text(&waiting))?;
    Ok(Exit::Done.into())
}

/// A question in the list of the runs that wait: its run, and the question.
fn as_run(question: &Value) -> Value {
    let run = question.as_map().and_then(|question| question.keyword("run-id")).cloned();
    Map::new()
        .with("reveille.run/id", run.unwrap_or(Value::Nil))
        .with("reveille.turn/question", question.clone())
        .into()
}

/// Formats what waits, one line for each thing that is approved.
fn as_text(waiting: &[Value]) -> String {
    if waiting.is_empty() {
        return "Nothing waits for approval.\n".to_owned();
    }
    let mut text = String::new();
    for run in waiting {
        text += &format!("{}\n", table::run_id(run, "reveille.run/id"));
        let part = |name| run.as_map().and_then(|run| run.keyword(name)).and_then(Value::as_map);
        if part("reveille.turn/question").is_some() {
            text += "  its agent asks in the turn\n";
        }
        let parts = part("reveille.run/approval").or_else(|| part("reveille.turn/question"));
        for (key, value) in parts.into_iter().flatten().filter(|(_, value)| !value.is_nil()) {
            let key = word(key);
            let value = if IN_WORDS.contains(&&*key) { in_words(value) } else { word(value) };
            text += &format!("  {key:10}  {value}\n");
        }
        if let Some(last) = part("reveille.run/last-approved") {
            text += &compared(last);
        }
    }
    text
}

/// Formats the last approval of a run of the schedule, and what differs from it: a line for what was approved and one for what
/// is asked now.
fn compared(last: &Map) -> String {
    let of = |key| last.keyword(key).filter(|value| !value.is_nil()).map(word);
    let by = of("by").map_or_else(String::new, |by| format!(", by {by}"));
    let approved = format!("{}, {}{by}", of("run-id").unwrap_or_default(), of("at").unwrap_or_default());
    let differences = last.keyword("differences").and_then(Value::as_items);
    let told = match differences {
        None => "it is not known what differs: what was approved is not retained".to_owned(),
        Some([]) => "nothing differs".to_owned(),
        Some(parts) => format!("{} differ, - is what was approved, + what is asked now", parts.len()),
    };
    let mut text = format!("  approved last  {approved}: {told}\n");
    for difference in differences.unwrap_or_default().iter().filter_map(Value::as_map) {
        let of = |key| difference.keyword(key).filter(|value| !value.is_nil()).map(word);
        let part = of("part").unwrap_or_default();
        for (sign, value) in [('-', of("before")), ('+', of("now"))] {
            text += &format!("    {sign} {part}  {}\n", value.as_deref().unwrap_or("nothing"));
        }
    }
    text
}

/// The parts of an approval that are records of settings. No text of an agent is in them, so they need no quotes.
const IN_WORDS: [&str; 2] = ["policy", "lifetime"];

/// Formats a record of settings as a person reads it: each setting with its value, those without a value left out.
fn in_words(settings: &Value) -> String {
    let set = settings.as_map().into_iter().flatten().filter(|(_, value)| !value.is_nil());
    let set: Vec<String> = set.map(|(key, value)| format!("{} {}", word(key), word(value))).collect();
    if set.is_empty() { word(settings) } else { set.join(", ") }
}

fn word(value: &Value) -> String {
    let keyword = value.as_keyword().map(|keyword| keyword.name().to_owned());
    keyword.or_else(|| value.as_str().map(visible)).unwrap_or_else(|| shown(value))
}

const HELD: &str = "[{:reveille.engine/held-runs [:reveille.run/id :reveille.run/approval :reveille.run/last-approved]} \
                    :reveille.engine/open-questions]";

#[cfg(test)]
mod drawn;
#[cfg(test)]
mod tests;
