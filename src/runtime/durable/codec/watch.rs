//! The codec of watches: what came of a check, and what a watch remembers.
//!
//! What a watch remembers is stored without outcomes and without its history, which are in memory only. What a summary has
//! collected is stored: nobody has been told of it.

use std::sync::Arc;

use super::FactError;
use super::form::Form;
use super::guard::digest;
use super::parts::{count, flag, flag_or, instant, map, maybe, number, own_text, part, span, wrong};
use super::printed::{Instant, Printed, Word, unless};
use crate::domain::{
    Collected, Digest, Entry, Glimpse, Lasted, Open, Outcome, Reading, Ring, Span, Streak, Tally, Trial,
    Watch, WatchCheck, Weighed, Why,
};

/// Prints what came of a check, beside its outcome.
pub(super) fn of_check(check: &WatchCheck) -> Printed {
    let WatchCheck { reading, weighed } = check;
    let form = Printed::new()
        .with("digest", reading.digest.to_string())
        .with("holds?", reading.holds.then_some(true))
        .with("unknown?", (!reading.is_known).then_some(true))
        .with("change", reading.change.as_deref())
        .with("again-after-ns", reading.again_after.map(Span::nanos))
        .with("told", weighed.told.map(of_why))
        .with("trial", weighed.trial.map(|trial| of_trial(&trial)));
    with_tally(with_glimpse(form, &reading.glimpse), weighed.tally)
}

fn with_glimpse(form: Printed, glimpse: &Glimpse) -> Printed {
    match glimpse {
        Glimpse::Result(value) => form.with("result", &**value),
        Glimpse::Preview(preview) => form.with("preview", &**preview),
        Glimpse::Error(error) => form.with("error", &**error),
    }
}

fn glimpse(form: &Form<'_>) -> Result<Arc<Glimpse>, FactError> {
    // One of the three is written. A result has no mark of its own, because one that is nil is omitted.
    Ok(Arc::new(match (own_text(form, "preview")?, own_text(form, "error")?) {
        (Some(preview), _) => Glimpse::Preview(preview),
        (None, Some(error)) => Glimpse::Error(error),
        (None, None) => Glimpse::Result(Arc::new(part(form, "result").to_value())),
    }))
}

/// Parses what came of a check with this outcome.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(super) fn check(form: &Form<'_>, outcome: &Arc<Outcome>) -> Result<WatchCheck, FactError> {
    let reading = Reading {
        outcome: Arc::clone(outcome),
        digest: digest(form, "digest")?,
        holds: flag_or(false, form, "holds?")?,
        is_known: !flag_or(false, form, "unknown?")?,
        glimpse: glimpse(form)?,
        change: own_text(form, "change")?,
        again_after: maybe(form, "again-after-ns", span)?,
    };
    let weighed = Weighed {
        told: maybe(form, "told", |form, key| why(map(form, key)?))?,
        tally: tally(form)?,
        trial: maybe(form, "trial", |form, key| trial(map(form, key)?))?,
    };
    Ok(WatchCheck { reading, weighed })
}

fn of_why(why: Why) -> Printed {
    let named = |name: &'static str| Printed::new().with("why", Word(name));
    let lasting = |name: &'static str, lasted: Option<Lasted>| match lasted {
        None => named(name),
        Some(Lasted { checks, span, unseen }) => named(name)
            .with("checks", checks)
            .with("span-ns", span.nanos())
            .with("unseen-ns", unless(Span::ZERO, unseen).map(Span::nanos)),
    };
    match why {
        Why::Every => named("every"),
        Why::Changed(lasted) => lasting("changed", lasted),
        Why::Failed(lasted) => lasting("failed", lasted),
        Why::Recovered { errors, lasted } => lasting("recovered", lasted).with("errors", errors),
        Why::Holds(lasted) => lasting("holds", lasted),
        Why::Ceased(lasted) => lasting("ceased", lasted),
        Why::Batch => named("batch"),
        Why::Silent(span) => named("silent").with("span-ns", span.nanos()),
        Why::Heard => named("heard"),
    }
}

fn why(form: &Form<'_>) -> Result<Why, FactError> {
    let lasted = || -> Result<Option<Lasted>, FactError> {
        let Some(checks) = maybe(form, "checks", number)? else { return Ok(None) };
        let unseen = maybe(form, "unseen-ns", span)?.unwrap_or(Span::ZERO);
        Ok(Some(Lasted { checks, span: span(form, "span-ns")?, unseen }))
    };
    let found = part(form, "why");
    Ok(match found.as_keyword() {
        Some("every") => Why::Every,
        Some("changed") => Why::Changed(lasted()?),
        Some("failed") => Why::Failed(lasted()?),
        Some("recovered") => Why::Recovered { errors: number(form, "errors")?, lasted: lasted()? },
        Some("holds") => Why::Holds(lasted()?),
        Some("ceased") => Why::Ceased(lasted()?),
        Some("batch") => Why::Batch,
        Some("silent") => Why::Silent(span(form, "span-ns")?),
        Some("heard") => Why::Heard,
        Some(_) | None => return Err(wrong("why", "why a check is told", found)),
    })
}

/// Prints what a watch remembers.
pub(super) fn of_watch(watch: &Watch) -> Printed {
    let hex = |digest: Option<Digest>| digest.map(|digest| digest.to_string());
    let seen = || watch.seen.iter().map(ToString::to_string).collect::<Vec<String>>();
    with_tally(Printed::new(), watch.tally)
        .with("latest", hex(watch.latest))
        .with("baseline", hex(watch.baseline))
        .with("seen", (!watch.seen.is_empty()).then(seen))
        .with("trial", watch.trial.map(|trial| of_trial(&trial)))
        .with("collected", of_collected(&watch.batch))
        .with("collected-under-way", of_collected(&watch.batch_under_way))
        .with("unseen-from", watch.unseen_from.map(Instant))
        .with("unseen-until", watch.unseen_until.map(Instant))
}

fn of_collected(collected: &Collected) -> Option<Printed> {
    let one = |entry: &Entry| with_glimpse(Printed::new().with("check", entry.check), &entry.glimpse);
    let newest = || collected.newest.iter().map(one).collect::<Vec<Printed>>();
    (collected.checks > 0).then(|| Printed::new().with("checks", collected.checks).with("newest", newest()))
}

fn with_tally(form: Printed, tally: Tally) -> Printed {
    let Tally {
        checks,
        told,
        errors,
        oks,
        yes,
        no,
        failed,
        signal,
        open,
        told_at,
        changed_at,
        ok_at,
        checked_at,
    } = tally;
    form.with("checks-made", unless(0, checks))
        .with("checks-told", unless(0, told))
        .with("errors-in-row", of_streak(errors))
        .with("oks-in-row", of_streak(oks))
        .with("yes-in-row", of_streak(yes))
        .with("no-in-row", of_streak(no))
        .with("failed", unless(0, failed))
        .with("signal?", signal)
        .with("open-error?", open.error.then_some(true))
        .with("open-state?", open.state.then_some(true))
        .with("open-silence?", open.silence.then_some(true))
        .with("told-at", told_at.map(Instant))
        .with("changed-at", changed_at.map(Instant))
        .with("ok-at", ok_at.map(Instant))
        .with("checked-at", checked_at.map(Instant))
}

fn of_streak(streak: Streak) -> Option<Printed> {
    let print = || {
        Printed::new()
            .with("checks", streak.checks)
            .with("since", streak.since.map(Instant))
            .with("unseen-ns", unless(Span::ZERO, streak.unseen).map(Span::nanos))
    };
    (streak != Streak::default()).then(print)
}

fn of_trial(trial: &Trial) -> Printed {
    Printed::new().with("digest", trial.digest.to_string()).with("streak", of_streak(trial.streak))
}

/// Parses what a watch remembers.
///
/// # Errors
/// [`FactError`], for the first thing that is wrong with it.
pub(super) fn watch(form: &Form<'_>) -> Result<Watch, FactError> {
    let tally = tally(form)?;
    let collected_of =
        |key| maybe(form, key, |form, key| collected(map(form, key)?)).map(Option::unwrap_or_default);
    Ok(Watch {
        tally,
        latest: maybe(form, "latest", digest)?,
        baseline: maybe(form, "baseline", digest)?,
        seen: maybe(form, "seen", digests)?.unwrap_or_default(),
        trial: maybe(form, "trial", |form, key| trial(map(form, key)?))?,
        // Rows from before this was stored have none.
        batch: collected_of("collected")?,
        batch_under_way: collected_of("collected-under-way")?,
        unseen_from: maybe(form, "unseen-from", instant)?,
        unseen_until: maybe(form, "unseen-until", instant)?,
        // The history is not stored. Its next check still has the number that follows the last one.
        ring: Ring::after(tally.checks),
        ..Watch::FRESH
    })
}

fn tally(form: &Form<'_>) -> Result<Tally, FactError> {
    let streak_of =
        |key| maybe(form, key, |form, key| streak(map(form, key)?)).map(Option::unwrap_or_default);
    Ok(Tally {
        checks: count(form, "checks-made")?,
        told: count(form, "checks-told")?,
        errors: streak_of("errors-in-row")?,
        oks: streak_of("oks-in-row")?,
        yes: streak_of("yes-in-row")?,
        no: streak_of("no-in-row")?,
        failed: count(form, "failed")?,
        signal: maybe(form, "signal?", flag)?,
        open: Open {
            error: flag_or(false, form, "open-error?")?,
            state: flag_or(false, form, "open-state?")?,
            silence: flag_or(false, form, "open-silence?")?,
        },
        told_at: maybe(form, "told-at", instant)?,
        changed_at: maybe(form, "changed-at", instant)?,
        ok_at: maybe(form, "ok-at", instant)?,
        checked_at: maybe(form, "checked-at", instant)?,
    })
}

fn collected(form: &Form<'_>) -> Result<Collected, FactError> {
    let found = part(form, "newest");
    let no_checks = |found| wrong("newest", "a vector of checks", found);
    let items = found.as_items().ok_or_else(|| no_checks(found))?;
    let entry = |found| Ok(Entry { check: number(found, "check")?, glimpse: glimpse(found)? });
    let entries = items.iter().map(|found| if found.is_map() { entry(found) } else { Err(no_checks(found)) });
    Ok(Collected { checks: count(form, "checks")?, newest: entries.collect::<Result<_, FactError>>()? })
}

fn digests(form: &Form<'_>, key: &'static str) -> Result<Vec<Digest>, FactError> {
    let found = part(form, key);
    let items = found.as_items().ok_or_else(|| wrong(key, "a vector of digests", found))?;
    // `digest` reads a part of a map, so the item is put into one.
    let one = |item: &Form<'_>| digest(&Form::Map(vec![Form::Keyword(key), item.clone()]), key);
    items.iter().map(one).collect()
}

fn streak(form: &Form<'_>) -> Result<Streak, FactError> {
    Ok(Streak {
        checks: number(form, "checks")?,
        since: maybe(form, "since", instant)?,
        unseen: maybe(form, "unseen-ns", span)?.unwrap_or(Span::ZERO),
    })
}

fn trial(form: &Form<'_>) -> Result<Trial, FactError> {
    let streak = maybe(form, "streak", |form, key| streak(map(form, key)?))?.unwrap_or_default();
    Ok(Trial { digest: digest(form, "digest")?, streak })
}
