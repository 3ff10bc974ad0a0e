//! What a start tells sessions of their tasks that were lost with the process before.
//!
//! A task is in memory only, and its session counts on a bulletin of its end. That bulletin is durable, and belongs to a schedule
//! of its own that has nothing else: its id follows from that of the task, so that a start that finds the same note again tells
//! nothing a second time.

use crate::domain::{
    Cause, Claim, Dialect, Downtime, Durability, Fact, LostSchedule, Moment, Next, Payload, Reason, RunFact,
    RunId, Schedule, ScheduleId, Span, TaskEnd, Telling, ToolName, Trigger,
};
use crate::engine::bulletin_text::{Details, Headline, bulletin_text, error_line};
use crate::engine::step_builder::StepBuilder;

/// Tells of the tasks that this start finds lost, in the order in which they are named.
pub(in crate::engine::step) fn tell_of_lost_tasks(
    step: &mut StepBuilder<'_>,
    named: &[LostSchedule],
    downs: &[Downtime],
) {
    // Without a known downtime, the tasks count as ended at this start.
    let ended = downs.last().map_or(step.now.wall, |down| down.from);
    for lost in named {
        // Earlier starts have told of the tasks that they found.
        let Some(tool) = lost.task.as_ref().filter(|_| lost.lost_at.is_none()) else { continue };
        // A bulletin of a task dies with its session.
        if step.state.session(&lost.session).is_some() {
            tell(step, lost, tool, ended);
        }
    }
}

fn tell(step: &mut StepBuilder<'_>, lost: &LostSchedule, tool: &ToolName, ended: Moment) {
    let now = step.now.wall;
    // Ids of tasks are short, so the prefix does not exceed the bound of an id.
    let Ok(id) = ScheduleId::new(&format!("lost-{}", lost.id)) else { return };
    if step.state.schedule(&id).is_some() {
        return;
    }
    let task = lost.id.to_string();
    let ended = lost.end.map_or(ended, |end| end.at);
    let elapsed = lost.due.map_or(Span::ZERO, |begun| ended.since(begun));
    let known = lost.end.map(|end| end.how);
    let headline = Headline::Task { id: &task, tool, end: known.unwrap_or(TaskEnd::Failed), elapsed };
    let (lines, warning) = what_is_known(known, now);
    let details = Details { lines: &lines, warning, ..Details::default() };
    let text = bulletin_text(&headline, &details);
    let schedule = Schedule {
        id: id.clone(),
        dialect: Dialect::Primitives,
        durability: Durability::Durable,
        label: lost.label.clone(),
        owner: lost.session.clone(),
        trigger: Trigger::At(now),
        payload: Payload::Turn { text: text.as_str().into() },
        created_at: now,
        creation: None,
        settings: None,
    };
    step.fact(Fact::Created { schedule, next: Next::Slot { slot: now, due: None } });
    // The bulletin takes the only slot.
    let claim = Claim {
        cause: Cause::Bulletin,
        folded: 0,
        next: Some(Next::Never { reason: Reason::NoMoreSlots }),
        time_up: None,
        by: None,
        telling: Some(Box::new(Telling::new(&text))),
    };
    step.run_fact(&RunId { schedule: id, incarnation: 1, slot: now }, RunFact::Claimed(claim));
}

/// Returns what is known of the end of a task, and what its session may do. The bulletin of the end was lost, not the end itself.
fn what_is_known(end: Option<TaskEnd>, now: Moment) -> (String, Option<&'static str>) {
    let at = now.brief();
    let lost = format!("lost at the restart of {at}");
    match end {
        None => {
            let error = format!("{lost}: the call may have been made, and its outcome is unknown");
            (error_line(&error), Some(AGAIN))
        }
        Some(TaskEnd::Completed) => {
            (format!("The call succeeded before, and its result was {lost}."), Some(FOR_ITS_RESULT))
        }
        Some(TaskEnd::Failed) => {
            (error_line(&format!("the call failed before, and its error was {lost}")), Some(AGAIN))
        }
        Some(TaskEnd::Cancelled) => (format!("The call was cancelled before the restart of {at}."), None),
    }
}

/// The last line of such a bulletin. The note of what is in memory is a second old at most, so the end may have been told.
const AGAIN: &str =
    "If you were told of its end before, that holds. Otherwise start it again if a second call does no harm.";
/// The last line if the call succeeded.
const FOR_ITS_RESULT: &str = "If you were told of its end before, that holds. \
     Otherwise start it again only if you need its result and a second call does no harm.";
