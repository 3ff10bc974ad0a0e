//! Completes an id of which a person typed only the beginning, or the label instead.
//!
//! Invariant: a whole id stands for itself, also if it is the beginning of another one. What begins no known id is left as it
//! is: the daemon may know it from its history, and says what is wrong with it.

use super::question::{ask, query};
use crate::app::fault::AppFault;
use crate::app::foreign_text::visible;
use crate::domain::{RunId, SessionId};
use crate::edn::{Map, Value};
use crate::surface::cli::{AskingArgs, DaemonArgs};

/// The id of the schedule that was meant.
///
/// # Errors
/// If the text is the beginning of several ids, the candidates; if nothing can be asked, why.
pub(in crate::app) fn schedule(
    daemon: &DaemonArgs,
    session: Option<&SessionId>,
    typed: &str,
) -> Result<String, AppFault> {
    check_given(typed, "name a schedule, or give the beginning of its id, or its label")?;
    // One more than is listed, to know whether there are more.
    let params = Map::new().with("id-prefix", typed).with("first", MOST + 1);
    let asked = |params| {
        ask(daemon, session, &query(SCHEDULES, params, "[:psi.scheduler/schedule-id :psi.scheduler/label]"))
    };
    let names = ["psi.scheduler/schedule-id", "psi.scheduler/label"];
    let answer = asked(params)?;
    let is_found = answer.keyword(SCHEDULES).and_then(Value::as_items).is_some_and(|found| !found.is_empty());
    if is_found {
        return complete(typed, &answer, (SCHEDULES, names), "the beginning of several ids");
    }
    // Labels are the words of agents: none of them stands in for an id.
    let is_id = ["sch-", "job_"].iter().any(|start| typed.starts_with(start));
    if !is_id {
        // No id begins so: it may be what the schedule is called.
        let labelled = asked(Map::new().with("label", typed).with("first", MOST + 1))?;
        let id = complete(typed, &labelled, (SCHEDULES, names), "the label of several schedules")?;
        if id != typed {
            return Ok(id);
        }
    }
    // Or one that a restart lost, of which explain knows.
    let lost = ask(daemon, session, &format!("[{{:{LOST} [:schedule-id :label]}}]"))?;
    let id = complete(
        typed,
        &lost,
        (LOST, ["schedule-id", "label"]),
        "the name of several schedules that were lost",
    )?;
    Ok(if is_id && !id.starts_with(typed) { typed.to_owned() } else { id })
}

impl AskingArgs {
    /// The id of the schedule that was meant, as [`schedule`] finds it.
    pub(in crate::app) fn schedule(&self, typed: &str) -> Result<String, AppFault> {
        schedule(&self.caller.daemon, self.caller.session.as_ref(), typed)
    }
}

/// The id of the run that waits for an approval, or in whose turn a question does.
///
/// # Errors
/// As of [`schedule`].
pub(in crate::app) fn held_run(daemon: &DaemonArgs, typed: &str) -> Result<String, AppFault> {
    check_given(typed, "name a run, or give the beginning of its id")?;
    let answer = ask(daemon, None, &format!("[{{:{HELD} [:reveille.run/id]}} {{:{QUESTIONS} [:run-id]}}]"))?;
    let what = "the beginning of several ids";
    let id = complete(typed, &answer, (HELD, ["reveille.run/id", "psi.scheduler/label"]), what)?;
    let id = complete(&id, &answer, (QUESTIONS, ["run-id", "title"]), what)?;
    // Of a whole id the daemon says what became of the run. What begins none names no run.
    if id == typed && RunId::parse(typed).is_none() {
        return Err(AppFault::Absent(format!(
            "no run waits for approval whose id begins with {}: `reveille approvals` lists them",
            visible(typed)
        )));
    }
    Ok(id)
}

/// Refuses an empty id: everything begins with nothing, and an unset variable of a script means none of it.
fn check_given(typed: &str, hint: &str) -> Result<(), AppFault> {
    if typed.trim().is_empty() {
        return Err(AppFault::usage(format!("the id is empty: {hint}")));
    }
    Ok(())
}

/// Chooses among the entries of a list, those whose id begins so or whose label it is; `what` says what the text is of several.
fn complete(
    typed: &str,
    answer: &Map,
    (list, [id, label]): (&str, [&str; 2]),
    what: &str,
) -> Result<String, AppFault> {
    let entries = answer.keyword(list).and_then(Value::as_items).unwrap_or_default();
    let text = |entry: &Map, name| entry.keyword(name).and_then(Value::as_str).map(str::to_owned);
    let found = entries.iter().filter_map(Value::as_map).filter_map(|entry| {
        let (id, label) = (text(entry, id)?, text(entry, label));
        // People copy the short form of a run's id, and programs the long one.
        let is_meant = id.starts_with(typed) || RunId::brief_of(&id).starts_with(typed);
        (is_meant || label.as_deref() == Some(typed)).then_some((id, label))
    });
    let found: Vec<(String, Option<String>)> = found.collect();
    match &found[..] {
        [] => Ok(typed.to_owned()),
        [(id, _)] => Ok(id.clone()),
        _ if found.iter().any(|(id, _)| id == typed) => Ok(typed.to_owned()),
        several => {
            let line = |(id, label): &(String, Option<String>)| {
                let label =
                    label.as_deref().map_or_else(String::new, |label| format!(" ({})", visible(label)));
                format!("{}{label}", visible(id))
            };
            let more = if several.len() > MOST as usize { ", and more" } else { "" };
            let listed: Vec<String> = several.iter().take(MOST as usize).map(line).collect();
            let (typed, listed) = (visible(typed), listed.join(", "));
            Err(AppFault::usage(format!("{typed} is {what}: {listed}{more}")))
        }
    }
}

const SCHEDULES: &str = "psi.scheduler/schedules";
const LOST: &str = "reveille.engine/lost-schedules";
const HELD: &str = "reveille.engine/held-runs";
const QUESTIONS: &str = "reveille.engine/open-questions";
/// How many candidates are listed.
const MOST: u32 = 10;
