//! Checks a history: sorts its events, judges every schedule, and then the order in each session.

use std::collections::BTreeMap;

use super::course::Road;
use super::drift;
use super::event::Event;
use super::event::Trigger;
use super::expected::{TriggerError, slots};
use super::finding::{Finding, Report};
use super::moment::{Moment, Span};
use super::order::{self, Place};
use super::receipts::{self, Slot};
use super::story::{Life, Story};
use super::verdict::{Case, Duty, Wake};

/// The tolerances of the checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The time that a delivery may take when nothing blocks it. A slot this close before a crash,
    /// a pause, a cancel or the end of the observation is in doubt: it need not have arrived.
    pub prompt: Span,
}

impl Default for Bounds {
    /// Ten seconds.
    fn default() -> Bounds {
        Bounds { prompt: Span::from_millis(10_000) }
    }
}

/// Judges a history with the default tolerances.
pub fn check(events: &[Event]) -> Report {
    check_within(events, Bounds::default())
}

/// Judges a history with other tolerances, for a faster or slower scheduler.
pub fn check_within(events: &[Event], bounds: Bounds) -> Report {
    let mut story = Story::of(events);
    let mut report = Report { findings: std::mem::take(&mut story.findings), ..Report::default() };
    let mut sessions: BTreeMap<String, Vec<(usize, Place)>> = BTreeMap::new();
    let names: Vec<String> = story.lives.keys().cloned().collect();
    for name in names {
        // Removed while it is judged: its receipts are marked, while the rest of the story is only
        // read.
        let Some(mut life) = story.lives.remove(&name) else { continue };
        report.figures.schedules += 1;
        match judge(&name, &mut life, &story, bounds.prompt, &mut report) {
            Ok(places) => places.into_iter().for_each(|(session, line, place)| {
                sessions.entry(session).or_default().push((line, place));
            }),
            Err(why) => report.findings.push(Finding::BadTrigger { schedule: name, why }),
        }
    }
    for (session, mut places) in sessions {
        places.sort_by_key(|(line, _)| *line);
        // A clock that was set back shows readings twice, so order means something only between
        // such jumps.
        let is_set_back =
            |(one, other): (usize, usize)| story.set_back().any(|jump| (one..other).contains(&jump.line));
        for pass in places.chunk_by(|(one, _), (other, _)| !is_set_back((*one, *other))) {
            let pass: Vec<Place> = pass.iter().map(|(_, place)| place.clone()).collect();
            report.findings.extend(order::check(&session, &pass));
        }
    }
    report
}

/// Judges one schedule. Returns session, line and place of every delivery without a fault.
fn judge(
    name: &str,
    life: &mut Life,
    story: &Story,
    prompt: Span,
    report: &mut Report,
) -> Result<Vec<(String, usize, Place)>, TriggerError> {
    let end = story.end.unwrap_or(Moment::EPOCH);
    // A skip may name slots after the end of the observation; they have to exist in the grid too.
    let horizon = life.skips.iter().map(|skip| skip.until).fold(end, Moment::max);
    let road = Road::of(story, life, prompt);
    let mut grid = grid(life, &road, (prompt, horizon))?;
    let deadlines: Vec<Option<Moment>> = {
        let case = Case { name, life, grid: &grid, road: &road, prompt, end };
        // Deadlines are needed only to match deliveries that name no slot; computing them is not
        // cheap.
        let is_needed = life.receipts.iter().any(|receipt| receipt.slot.is_none());
        let deadline = |place| match case.duty(place, &case.course(place), Wake::default()) {
            Duty::Deliver(by) => Some(by),
            Duty::Account | Duty::Open => case.course(place).ready.map(|_| horizon),
            Duty::None => None,
        };
        if is_needed { (0..grid.len()).map(deadline).collect() } else { Vec::new() }
    };
    report.findings.extend(receipts::assign(name, life, &grid, prompt, |place| deadlines[place]));
    report.findings.extend(receipts::place(name, life, &mut grid, story));
    let case = Case { name, life, grid: &grid, road: &road, prompt, end };
    report.findings.extend(case.judge(&mut report.figures));

    let mut places = Vec::new();
    for (number, slot) in grid.iter().enumerate() {
        let receipt = slot.receipt.map(|receipt| &life.receipts[receipt]);
        let Some(receipt) = receipt.filter(|receipt| receipt.is_clean) else { continue };
        // A run interrupted by a crash is delivered when it can be, so it has no fixed place in the
        // order.
        let since = Some(case.course(number)).filter(|course| !course.is_in_doubt).and_then(|it| it.first);
        let (Some(session), Some(since)) = (receipt.session.clone(), since) else { continue };
        let first = case.stands_for(number, since);
        let place = Place { since, first, slot: slot.at, created: life.line, schedule: name.into() };
        places.push((session, receipt.line, place));
    }
    Ok(places)
}

/// The slots of all triggers that a schedule had, in order.
fn grid(life: &Life, road: &Road, (prompt, horizon): (Span, Moment)) -> Result<Vec<Slot>, TriggerError> {
    let mut grid = Vec::new();
    for (era, reign) in life.eras.iter().enumerate() {
        let ends = [reign.until, life.cancelled];
        let until = ends.iter().flatten().fold(horizon, |horizon, end| horizon.min(*end));
        let found = if let Trigger::At { at } = reign.trigger {
            // A one-time slot in the past is due at once.
            if at <= until { vec![at] } else { Vec::new() }
        } else if drift::period(reign).is_some() {
            drift::slots(reign, life, road, (prompt, until))
        } else {
            slots(&reign.trigger, reign.from, until)?
        };
        grid.extend(found.into_iter().map(|at| Slot { at, era, is_optional: false, receipt: None }));
    }
    grid.sort_by_key(|slot| slot.at);
    // A slot on the edge of a change can belong to both triggers. It is owed once.
    grid.dedup_by_key(|slot| slot.at);
    Ok(grid)
}
