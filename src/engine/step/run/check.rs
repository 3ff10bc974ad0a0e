//! The end of a check of a watch: it is weighed by what the watch remembers, told or not, and the next one is waited for.

use std::borrow::Cow;
use std::sync::Arc;

use crate::domain::{
    Call, Failure, Filter, Next, NotifyWhen, Outcome, Reading, Reason, RunFact, ScheduleFact, Span, TaskEnd,
    Trigger, Watch, WatchCheck, Why,
};
use crate::engine::bulletin_text::{Details, error_line};
use crate::engine::step::run::bulletin::announce;
use crate::engine::step::run::occurrence::Occurrence;
use crate::engine::step::schedule::check_slot::wait_after_check;
use crate::engine::step::schedule::next_slot::slot_after_wait;
use crate::engine::step_builder::StepBuilder;
use crate::engine::watching::{Checked, evaluate, summed_up, unread_checks, weigh};

/// Ends the check of a watch whose call returned.
pub(in crate::engine::step) fn check_returned(
    step: &mut StepBuilder<'_>,
    check: &Occurrence<'_>,
    (outcome, line, reading): (Arc<Outcome>, &str, Option<Box<Reading>>),
) {
    let Some((call, filter)) = filter_of(check) else { return };
    let Some(watch) = remembered(step, check) else { return };
    let reading = reading.map_or_else(|| evaluate(&watch, &filter, outcome), |reading| *reading);
    end(step, check, (call, &filter), (reading, line));
}

/// Ends the check of a watch whose call was not made, or whose time was over: it counts as one that failed.
pub(in crate::engine::step) fn check_failed(
    step: &mut StepBuilder<'_>,
    check: &Occurrence<'_>,
    failure: &Failure,
) {
    let Some((call, filter)) = filter_of(check) else { return };
    let Some(watch) = remembered(step, check) else { return };
    let outcome = Outcome::of_failure(failure.reason, failure.message.clone(), Span::ZERO);
    let reading = evaluate(&watch, &filter, Arc::new(outcome));
    let line = error_line(&failure.message);
    end(step, check, (call, &filter), (reading, &line));
}

/// Returns what the watch of a check remembers. A check that was out when a process ended fails as the next one starts, in the
/// step that counts the time between.
fn remembered<'a>(step: &StepBuilder<'_>, check: &Occurrence<'a>) -> Option<Cow<'a, Watch>> {
    let (record, downs) = (check.record, step.downs());
    let watch = record.watch()?;
    let Trigger::Every(every) = &record.schedule.trigger else { return Some(Cow::Borrowed(watch)) };
    if downs.is_empty() {
        return Some(Cow::Borrowed(watch));
    }
    let mut watch = watch.clone();
    watch.was_down(downs, record.schedule.created_at, every.period());
    Some(Cow::Owned(watch))
}

fn filter_of<'a>(check: &Occurrence<'a>) -> Option<(&'a Call, Arc<Filter>)> {
    let call = check.schedule.payload.call()?;
    Some((call, call.filter.clone()?))
}

fn end(
    step: &mut StepBuilder<'_>,
    check: &Occurrence<'_>,
    (call, filter): (&Call, &Filter),
    (reading, line): (Reading, &str),
) {
    let Some(watch) = remembered(step, check) else { return };
    // As `weigh` counts them below; the assertion compares both.
    let errors = if reading.outcome.ok { 0 } else { watch.tally.errors.checks.saturating_add(1) };
    // What comes after the check is said by the watch as it is now: it may have been changed while the check was out.
    let watch_now = &check.record.schedule;
    let wait = wait_after_check(watch_now, check.slot, errors);
    // A busy endpoint may ask for a longer wait than planned, and never shortens it.
    let wait = wait.map(|wait| wait.max(reading.again_after.unwrap_or(wait)));
    let is_over = is_over(step, check, wait);
    let most = watch_now.lifetime().max_runs;
    let has_had_all = most.is_some_and(|most| check.record.progress().runs >= u64::from(most.get()));
    let is_last = is_over || has_had_all;
    let checked = Checked { since: check.schedule.created_at, at: step.now.wall, is_last };
    let weighed = weigh(&watch, filter, &reading, checked);
    debug_assert_eq!(weighed.tally.errors.checks, errors, "{}: the wait counts other errors", check.id);
    // Without its tool, the watch would go on for ever and find nothing.
    let is_vain = reading.outcome.reason == Some(Reason::ToolUnknown)
        && errors == VAIN_CHECKS
        && !(is_over || check.record.status.is_terminal());
    let ending = if is_over { Some(OVER) } else { Some(PAUSED).filter(|_| is_vain) };
    let end = if reading.outcome.ok { TaskEnd::Completed } else { TaskEnd::Failed };
    if let Some(why) = weighed.told {
        let is_summary = why == Why::Batch;
        let batch = is_summary.then(|| summed_up(&watch, &reading));
        let details = Details {
            lines: line,
            batch: batch.as_ref(),
            change: reading.change.as_deref(),
            show: filter.show,
            why: Some(why),
            warning: ending,
            ..Details::default()
        };
        announce(step, check, call, end, details);
    } else if is_over && reading.outcome.reason != Some(Reason::NotGranted) {
        // Otherwise the session would believe that the watch goes on. Without the grant, a bulletin would be refused as the
        // check was.
        announce(step, check, call, end, Details { lines: line, warning: ending, ..Details::default() });
    }
    if is_vain {
        let reason = Some(PAUSED.into());
        let by = check.schedule.author();
        step.schedule_fact(&check.id.schedule, ScheduleFact::Paused { by, reason });
        // A check that is told carries the warning already.
        if weighed.told.is_none() {
            let details = Details { lines: line, warning: Some(PAUSED), ..Details::default() };
            announce(step, check, call, end, details);
        }
    }
    let outcome = Arc::clone(&reading.outcome);
    let fact = RunFact::Returned { outcome, check: Some(Box::new(WatchCheck { reading, weighed })) };
    check.end_before(step, fact, wait);
}

/// Tells the session of a watch that its time is over, if that is what comes next and no check can say so: nobody has looked at
/// the end, or the check has waited for too long. Comes before the fact that ends the watch. Tells what a summary has collected.
pub(in crate::engine::step) fn tell_of_end(step: &mut StepBuilder<'_>, slot: &Occurrence<'_>, next: Next) {
    // In a session that is closed nobody believes that the watch goes on.
    let Some(watch) = slot.record.watch().filter(|_| slot.record.owner.is_some()) else { return };
    let Some((call, filter)) = filter_of(slot).filter(|_| next == EXPIRED) else { return };
    let is_summary = filter.when == NotifyWhen::Summary && watch.batch.checks > 0;
    let batch = is_summary.then(|| unread_checks(watch));
    let why = batch.as_ref().map(|_| Why::Batch);
    let details = Details { batch: batch.as_ref(), why, warning: Some(OVER), ..Details::default() };
    announce(step, slot, call, TaskEnd::Cancelled, details);
}

/// Returns whether no check comes after this one because the lifetime of the watch ends before it.
fn is_over(step: &StepBuilder<'_>, check: &Occurrence<'_>, wait: Option<Span>) -> bool {
    let next = wait.map(|wait| slot_after_wait(step, &check.record.schedule, check.slot, wait));
    // A check that arms none, such as a manual one, ends nothing.
    check.arms && next == Some(EXPIRED)
}

/// What comes after the last check that the lifetime of a watch has room for.
const EXPIRED: Next = Next::Never { reason: Reason::Expired };
/// What the last check says of a watch whose time is over.
const OVER: &str = "The watch has ended: its time is over. Start another one if you still need it.";
/// Checks in a row that found no such tool, after which a watch is paused.
const VAIN_CHECKS: u32 = 10;
/// Why it is paused.
const PAUSED: &str =
    "The watch is paused: there has been no such tool for ten checks. watch_resume goes on with it.";
