//! `reveille approvals`: the runs that wait for an operator, each with everything that an approval covers.

use std::io;
use std::process::ExitCode;

use super::control::{Control, print};
use super::foreign_text::{self, shown, visible};
use super::table;
use crate::edn::Value;
use crate::surface::cli::OperatorArgs;

/// Lists the runs that wait for approval.
pub(super) fn approvals(args: &OperatorArgs) -> io::Result<ExitCode> {
    let control = Control::of_operator(args);
    let answer = match control.query(HELD) {
        Ok(answer) => answer,
        Err(fault) => return Ok(fault.tell()),
    };
    let runs = answer.as_map().and_then(|map| map.keyword("reveille.engine/held-runs")).cloned();
    let runs = runs.unwrap_or(Value::Nil);
    if args.printing.edn || args.printing.json {
        print(&args.printing, &runs, None)?;
        return Ok(ExitCode::SUCCESS);
    }
    foreign_text::print(&waiting(runs.as_items().unwrap_or_default()))?;
    Ok(ExitCode::SUCCESS)
}

/// Formats the runs that wait for approval, one line for each thing that is approved.
fn waiting(runs: &[Value]) -> String {
    if runs.is_empty() {
        return "Nothing waits for approval.\n".to_owned();
    }
    let mut text = String::new();
    for run in runs {
        text += &format!("{}\n", table::run_id(run, "reveille.run/id"));
        let approval =
            run.as_map().and_then(|run| run.keyword("reveille.run/approval")).and_then(Value::as_map);
        for (key, value) in approval.into_iter().flatten().filter(|(_, value)| !value.is_nil()) {
            let key = word(key);
            let value = if IN_WORDS.contains(&&*key) { in_words(value) } else { word(value) };
            text += &format!("  {key:10}  {value}\n");
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

const HELD: &str = "[{:reveille.engine/held-runs [:reveille.run/id :reveille.run/approval]}]";

#[cfg(test)]
mod drawn;
#[cfg(test)]
mod tests;
