//! Sorts a history: one record per schedule, and the stretches in which deliveries were blocked.
//!
//! Invariant: events are read once, in order. The only judgement here is the one that needs the
//! order: what was in force when a delivery was received.

use std::collections::BTreeMap;

use super::event::{Event, Lifetime, Policy, Trigger};
use super::finding::Finding;
use super::moment::Moment;
use super::stretch::{Stretch, Way};

/// A sorted history.
#[derive(Debug, Default)]
pub(super) struct Story {
    pub(super) lives: BTreeMap<String, Life>,
    /// Stretches of downtime.
    pub(super) outages: Vec<Stretch>,
    /// Jumps of the wall clock.
    pub(super) jumps: Vec<Jump>,
    /// Holds by session; `None` is the hold on all.
    pub(super) holds: BTreeMap<Option<String>, Vec<Stretch>>,
    /// Stretches in which sessions were busy, with our deliveries or other work.
    pub(super) busy: BTreeMap<String, Vec<Stretch>>,
    /// The times at which each session received a delivery, in order.
    pub(super) arrivals: BTreeMap<String, Vec<Moment>>,
    /// The end of the observation.
    pub(super) end: Option<Moment>,
    /// The lines of the events at which the process died.
    pub(super) deaths: Vec<usize>,
    pub(super) findings: Vec<Finding>,
    down_since: Option<Moment>,
    /// By session: the line at which its unfinished run ends.
    out: BTreeMap<String, usize>,
}

/// The history of one schedule.
#[derive(Debug)]
pub(super) struct Life {
    /// The line of its creation.
    pub(super) line: usize,
    pub(super) session: Option<String>,
    pub(super) eras: Vec<Era>,
    pub(super) policies: Vec<(Moment, Policy)>,
    pub(super) lifetimes: Vec<(Moment, Lifetime)>,
    pub(super) cancelled: Option<Moment>,
    pub(super) pauses: Vec<Stretch>,
    pub(super) receipts: Vec<Receipt>,
    pub(super) skips: Vec<Skip>,
}

/// The time of one trigger: slots after `from`, until it is changed.
#[derive(Clone, Debug)]
pub(super) struct Era {
    pub(super) trigger: Trigger,
    pub(super) from: Moment,
    pub(super) until: Option<Moment>,
}

/// A delivery, as its target observed it.
#[derive(Clone, Debug)]
pub(super) struct Receipt {
    pub(super) line: usize,
    pub(super) at: Moment,
    pub(super) run: String,
    pub(super) slot: Option<Moment>,
    pub(super) session: Option<String>,
    /// The end of its run.
    pub(super) finish: Moment,
    /// What forbade it at that time, if anything.
    pub(super) barred: Option<Bar>,
    /// Another of our deliveries was unfinished in the session.
    pub(super) is_second: bool,
    /// No fault was found in it.
    pub(super) is_clean: bool,
}

/// A jump of the wall clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump {
    pub(super) line: usize,
    pub(super) at: Moment,
    pub(super) to: Moment,
}

/// The reasons that forbid a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bar {
    Cancel,
    Down,
    Pause,
    Hold,
}

/// Slots that the scheduler reported as not delivered.
#[derive(Clone, Debug)]
pub(super) struct Skip {
    pub(super) from: Moment,
    pub(super) until: Moment,
    pub(super) count: u64,
    pub(super) reason: String,
}

impl Story {
    /// Sorts a history.
    pub(super) fn of(events: &[Event]) -> Story {
        let mut story = Story::default();
        let finishes = finishes(events);
        for (line, event) in events.iter().enumerate() {
            story.enter(line, event, &finishes);
        }
        let down = story.down_since.map(|from| Stretch { from, until: None, way: Way::Down });
        story.outages.extend(down);
        // After a backward jump of the clock, receipts are no longer in the order of their
        // readings.
        story.arrivals.values_mut().for_each(|arrivals| arrivals.sort_unstable());
        story.end = story.end.or_else(|| events.iter().filter_map(Event::at).max());
        story
    }

    fn enter(&mut self, line: usize, event: &Event, finishes: &Finishes<'_>) {
        match event {
            Event::Create { at, schedule, session, trigger, policy, lifetime } => {
                let mut life = Life::new(line, session.clone());
                life.eras.push(Era { trigger: trigger.clone(), from: *at, until: None });
                life.policies.push((*at, policy.clone()));
                life.lifetimes.push((*at, lifetime.clone()));
                self.lives.insert(schedule.clone(), life);
            }
            Event::Change { at, schedule, trigger, policy, lifetime } => {
                let Some(life) = self.life(schedule) else { return };
                if let Some(trigger) = trigger {
                    life.eras.last_mut().into_iter().for_each(|era| era.until = Some(*at));
                    life.eras.push(Era { trigger: trigger.clone(), from: *at, until: None });
                }
                life.policies.extend(policy.clone().map(|policy| (*at, policy)));
                life.lifetimes.extend(lifetime.clone().map(|lifetime| (*at, lifetime)));
            }
            Event::Cancel { at, schedule } => {
                let Some(life) = self.life(schedule) else { return };
                // The first acknowledgement counts; a repeated cancel must not move it.
                life.cancelled = life.cancelled.or(Some(*at));
            }
            Event::Pause { at, schedule } => {
                let Some(life) = self.life(schedule) else { return };
                open(&mut life.pauses, *at, Way::Pause);
            }
            Event::Resume { at, schedule } => {
                let Some(life) = self.life(schedule) else { return };
                close(&mut life.pauses, *at);
            }
            Event::Hold { at, session } => {
                open(self.holds.entry(session.clone()).or_default(), *at, Way::Hold);
            }
            Event::Release { at, session } => {
                close(self.holds.entry(session.clone()).or_default(), *at);
            }
            Event::Busy { at, session } => {
                open(self.busy.entry(session.clone()).or_default(), *at, Way::Busy);
            }
            Event::Idle { at, session } => close(self.busy.entry(session.clone()).or_default(), *at),
            Event::Down { at } => {
                self.deaths.push(line);
                self.down_since = self.down_since.or(Some(*at));
                // A crash ends all runs: the next delivery to a session is not a second one.
                self.out.clear();
            }
            Event::Up { at } => {
                let down = self.down_since.take();
                let outage = down.map(|from| Stretch { from, until: Some(*at), way: Way::Down });
                self.outages.extend(outage);
            }
            Event::Jump { at, to } => self.jumps.push(Jump { line, at: *at, to: *to }),
            Event::Receive { .. } => self.receive(line, event, finishes),
            // Read beforehand: a run's end is needed at its receipt, which comes earlier.
            Event::Finish { .. } => {}
            Event::Skip { schedule, from, until, count, reason } => {
                let skip = Skip { from: *from, until: *until, count: *count, reason: reason.clone() };
                self.life(schedule).into_iter().for_each(|life| life.skips.push(skip.clone()));
            }
            Event::End { at } => self.end = Some(*at),
        }
    }

    fn receive(&mut self, line: usize, event: &Event, finishes: &Finishes<'_>) {
        let Event::Receive { at, schedule, run, slot, session } = event else { return };
        let down = self.down_since;
        let Some(life) = self.life(schedule) else { return };
        let session = session.clone().or_else(|| life.session.clone());
        let (cancelled, paused) = (life.cancelled, open_since(&life.pauses));
        let held = [None, session.clone()].iter().find_map(|key| open_since(self.holds.get(key)?));
        // In order of strength: if several apply, the first is the cause to report.
        let bars = [(down, Bar::Down), (cancelled, Bar::Cancel), (paused, Bar::Pause), (held, Bar::Hold)];
        let barred = bars.iter().find(|(since, _)| since.is_some_and(|since| since <= *at));
        let finish = finishes.get(&(schedule, run)).copied();
        let is_second =
            session.as_ref().and_then(|session| self.out.get(session)).is_some_and(|end| *end > line);
        if let (Some(session), Some((end_line, end))) = (&session, finish) {
            self.out.insert(session.clone(), end_line);
            let work = Stretch { from: *at, until: Some(end), way: Way::Busy };
            let busy = self.busy.entry(session.clone()).or_default();
            // Inserted before the last one, which may still be open and must stay last for `close`.
            busy.insert(busy.len().saturating_sub(1), work);
        }
        if let Some(session) = &session {
            self.arrivals.entry(session.clone()).or_default().push(*at);
        }
        let receipt = Receipt {
            line,
            at: *at,
            run: run.clone(),
            slot: *slot,
            session,
            finish: finish.map_or(*at, |(_, end)| end.max(*at)),
            barred: barred.map(|(_, bar)| *bar),
            is_second,
            is_clean: true,
        };
        self.life(schedule).into_iter().for_each(|life| life.receipts.push(receipt.clone()));
    }

    /// The backward jumps, after which readings repeat.
    pub(super) fn set_back(&self) -> impl Iterator<Item = &Jump> {
        self.jumps.iter().filter(|jump| jump.to < jump.at)
    }

    /// The readings that the clock skipped during a schedule's time. Readings that it had shown
    /// before a backward jump are not skipped: their slots were delivered then.
    pub(super) fn leaps(&self, life: &Life) -> Vec<Stretch> {
        let mut shown = life.eras.first().map_or(Moment::EPOCH, |era| era.from);
        let mut leaps = Vec::new();
        for jump in self.jumps.iter().filter(|jump| jump.line > life.line) {
            shown = shown.max(jump.at);
            if jump.to > shown {
                leaps.push(Stretch { from: shown, until: Some(jump.to), way: Way::Jump });
                shown = jump.to;
            }
        }
        leaps
    }

    fn life(&mut self, schedule: &str) -> Option<&mut Life> {
        if !self.lives.contains_key(schedule) {
            let unknown = Finding::UnknownSchedule { schedule: schedule.into() };
            if !self.findings.contains(&unknown) {
                self.findings.push(unknown);
            }
        }
        self.lives.get_mut(schedule)
    }
}

impl Life {
    fn new(line: usize, session: Option<String>) -> Life {
        Life {
            line,
            session,
            eras: Vec::new(),
            policies: Vec::new(),
            lifetimes: Vec::new(),
            cancelled: None,
            pauses: Vec::new(),
            receipts: Vec::new(),
            skips: Vec::new(),
        }
    }

    /// The policy in force at a time.
    pub(super) fn policy(&self, t: Moment) -> &Policy {
        in_force(&self.policies, t)
    }

    /// The lifetime in force at a time.
    pub(super) fn lifetime(&self, t: Moment) -> &Lifetime {
        in_force(&self.lifetimes, t)
    }
}

/// The last entry that began by `t`, or else the first. The list is never empty.
fn in_force<T>(list: &[(Moment, T)], t: Moment) -> &T {
    let begun = list.iter().rposition(|(from, _)| *from <= t).unwrap_or_default();
    &list[begun].1
}

/// By schedule and run: the line and the time of the run's end.
type Finishes<'a> = BTreeMap<(&'a String, &'a String), (usize, Moment)>;

fn finishes(events: &[Event]) -> Finishes<'_> {
    let mut finishes = BTreeMap::new();
    for (line, event) in events.iter().enumerate() {
        if let Event::Finish { at, schedule, run } = event {
            finishes.insert((schedule, run), (line, *at));
        }
    }
    finishes
}

fn open(stretches: &mut Vec<Stretch>, from: Moment, way: Way) {
    if open_since(stretches).is_none() {
        stretches.push(Stretch { from, until: None, way });
    }
}

fn close(stretches: &mut [Stretch], until: Moment) {
    let open = stretches.last_mut().filter(|stretch| stretch.until.is_none());
    open.into_iter().for_each(|stretch| stretch.until = Some(until));
}

fn open_since(stretches: &[Stretch]) -> Option<Moment> {
    stretches.last().filter(|stretch| stretch.until.is_none()).map(|stretch| stretch.from)
}
