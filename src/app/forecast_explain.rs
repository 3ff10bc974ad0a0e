//! `reveille forecast` and `reveille explain`: each sends one query and prints the answer as text,
//! EDN or JSON.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use super::client::question::{check_named, query};
use super::exit::Exit;
use super::fault::AppFault;
use super::foreign_text;
use super::table::{self, cell};
use crate::domain::{Moment, SessionId, Span};
use crate::edn::{Map, Value};
use crate::engine::Verdict;
use crate::surface::cli::{ExplainArgs, ForecastArgs, Printing};
use crate::surface::json;

pub(super) fn forecast(args: &ForecastArgs) -> io::Result<ExitCode> {
    let answer = match ask_forecast(args) {
        Ok(answer) => answer,
        Err(fault) => return Ok(fault.tell()),
    };
    let slots = answer.keyword("reveille/forecast").and_then(Value::as_items).unwrap_or_default();
    print(&args.asking.printing, &Value::vector(slots.to_vec()), || {
        foreseen(slots, (usize::try_from(args.first).unwrap_or(usize::MAX), args.schedule.is_none()))
    })
}

pub(super) fn explain(args: &ExplainArgs) -> io::Result<ExitCode> {
    let meant = args.one.asking.schedule(&args.one.schedule);
    let mut params = match meant {
        Ok(schedule) => Map::new().with("schedule-id", schedule),
        Err(fault) => return Ok(fault.tell()),
    };
    if let Some(at) = &args.at {
        params = params.with("at", at.as_str());
    }
    let query = query("reveille/explain", params, EXPLAINED);
    let answer = match args.one.asking.ask(&query) {
        Ok(answer) => answer,
        Err(fault) => return Ok(fault.tell()),
    };
    let explanation = answer.keyword("reveille/explain").cloned().unwrap_or(Value::Nil);
    let printed = print(&args.one.asking.printing, &explanation, || told(&explanation))?;
    Ok(if is_unknown(&explanation) { Exit::Failed.into() } else { printed })
}

/// Whether nothing is known of the schedule: a script that misspelt it must not take that for an answer.
fn is_unknown(explanation: &Value) -> bool {
    let verdict = explanation.as_map().and_then(|map| map.keyword("reveille.explanation/verdict"));
    verdict
        .and_then(Value::as_keyword)
        .is_some_and(|verdict| verdict.name() == Verdict::UnknownSchedule.name())
}

fn ask_forecast(args: &ForecastArgs) -> Result<Map, AppFault> {
    let mut params = Map::new().with("first", i64::from(args.first));
    if args.schedule.is_none() {
        // Otherwise one frequent schedule would fill the whole list.
        params = params.with("each", EACH_LISTED);
    }
    if let Some(schedule) = &args.schedule {
        let meant = args.asking.schedule(schedule)?;
        params = params.with("schedule-id", meant);
    }
    // `--hours` counts from the daemon's clock, which may differ from ours.
    let now = args.asking.ask("[:reveille.engine/now]")?;
    let now = now.keyword("reveille.engine/now").and_then(Value::as_inst);
    let now = now.and_then(|now| Moment::new(now.seconds(), now.nanos()));
    let span = Span::from_millis(args.hours.saturating_mul(3_600_000));
    if let Some(to) = now.and_then(|now| now.checked_add(span)) {
        params = params.with("to", to.to_string());
    }
    let schedule = params.keyword("schedule-id").and_then(Value::as_str).map(str::to_owned);
    let answer = args.asking.ask(&query("reveille/forecast", params, FORESEEN))?;
    if answer.keyword("reveille/forecast").and_then(Value::as_items).is_none_or(<[Value]>::is_empty) {
        let session = args.asking.caller.session.as_ref().map(SessionId::as_str);
        check_named(&args.asking.caller.daemon, session, schedule.as_deref())?;
    }
    Ok(answer)
}

/// Prints an answer in the chosen notation, or else as text.
pub(super) fn print(
    printing: &Printing,
    answer: &Value,
    words: impl FnOnce() -> String,
) -> io::Result<ExitCode> {
    let mut text = String::new();
    if printing.edn {
        text = format!("{answer}\n");
    } else if printing.json {
        json::write(answer, &mut text);
        text.push('\n');
    } else {
        text = words();
    }
    foreign_text::print(&text)?;
    Ok(Exit::Done.into())
}

/// Formats slots as a table, one line each.
fn foreseen(slots: &[Value], (first, of_all): (usize, bool)) -> String {
    if slots.is_empty() {
        return "No upcoming slots. Assumes that nothing is changed and that turns take no time.\n"
            .to_owned();
    }
    let rows = slots.iter().map(|slot| {
        let [at, will, reason, mut nominal, id] = COLUMNS.map(|column| cell(slot, column));
        if nominal == at {
            nominal.clear();
        }
        let schedule =
            slot.as_map().and_then(|slot| slot.keyword("reveille.slot/schedule")).unwrap_or(&Value::Nil);
        let session = cell(schedule, "psi.scheduler/origin-session-id");
        [at, will, reason, nominal, session, id, table::label(schedule)]
    });
    let mut text = table::of(["AT", "WILL", "REASON", "SLOT", "SESSION", "SCHEDULE", "LABEL"], rows);
    // The graph marks the last slot of a list that was cut, and the last listed slot of a schedule that has more.
    let has_more = |slot: &&Value| {
        slot.as_map().and_then(|it| it.keyword("reveille.slot/more?")?.as_bool()) == Some(true)
    };
    let is_cut = slots.len() >= first && slots.last().is_some_and(|last| has_more(&last));
    let with_more = slots.iter().filter(has_more).count() - usize::from(is_cut);
    if with_more > 0 && of_all {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "At most {EACH_LISTED} slots of each schedule are listed, and {with_more} {} more: use --schedule ID.",
            if with_more == 1 { "schedule has" } else { "schedules have" }
        );
    }
    if is_cut {
        let until = slots.last().map(|last| cell(last, COLUMNS[0])).unwrap_or_default();
        let _ =
            writeln!(text, "The list ends at {until}, and there are more: use --first, or fewer --hours.");
    }
    text.push_str("Assumes that nothing is changed and that turns take no time.\n");
    text
}

/// Formats an explanation: its sentence, and then its facts.
fn told(explanation: &Value) -> String {
    let sentence = cell(explanation, "reveille.explanation/sentence");
    let facts =
        ["verdict", "reason", "slot", "at", "run-id", "next-fire-at"].into_iter().filter_map(|name| {
            let attribute = format!("reveille.explanation/{name}");
            let is_run = name == "run-id";
            let value = if is_run { table::run_id } else { cell }(explanation, &attribute);
            (!value.is_empty()).then(|| format!("  {name:12}  {value}\n"))
        });
    format!("{sentence}\n{}", facts.collect::<String>())
}

const COLUMNS: [&str; 5] =
    ["reveille.slot/at", "reveille.slot/will", "reveille.slot/reason", "reveille.slot/slot", ID];
const ID: &str = "reveille.slot/schedule-id";
/// The most slots of one schedule that a table of several lists.
const EACH_LISTED: i64 = 5;
const FORESEEN: &str = "[:reveille.slot/at :reveille.slot/will :reveille.slot/reason :reveille.slot/slot \
                        :reveille.slot/schedule-id :reveille.slot/count :reveille.slot/more? \
                        {:reveille.slot/schedule [:psi.scheduler/label :psi.scheduler/message-excerpt \
                        :psi.scheduler/origin-session-id]}]";
const EXPLAINED: &str = "[:reveille.explanation/sentence :reveille.explanation/verdict :reveille.explanation/reason \
                         :reveille.explanation/slot :reveille.explanation/at :reveille.explanation/late-ms \
                         :reveille.explanation/run-id :reveille.explanation/obstacles \
                         :reveille.explanation/next-fire-at]";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::REQUEST_CAPS;
    use crate::edn;

    #[test]
    fn a_slot_is_one_line_whatever_its_schedule_is_called() {
        let slot = r#"{:reveille.slot/at #inst "2026-04-22T13:00:00Z" :reveille.slot/will :fires
                       :reveille.slot/reason nil :reveille.slot/slot #inst "2026-04-22T13:00:00Z"
                       :reveille.slot/schedule-id "sch-1" :reveille.slot/schedule {:psi.scheduler/label "a\nb\u001b[2J"
                                                 :psi.scheduler/origin-session-id "main"}}"#;
        let slot = edn::read(slot.as_bytes(), &REQUEST_CAPS).expect("EDN");
        let text = foreseen(&[slot], (10, true));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(
            lines[0].ends_with("SCHEDULE  LABEL")
                && lines[1].ends_with(r#"main     sch-1     "a\nb\u001b[2J""#),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'));
    }
}
