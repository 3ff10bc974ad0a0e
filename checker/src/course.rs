//! Computes when a slot could first be delivered, and by when it must have arrived.

use super::moment::{Moment, Span};
use super::story::{Era, Life, Story};
use super::stretch::{Stretch, Stretches, Way, later};

/// Everything that blocks the deliveries of one schedule.
#[derive(Debug)]
pub(super) struct Road {
    /// Downtime, clock jumps, pauses and holds: slots in these stretches are missed.
    blocks: Stretches,
    /// Stretches in which the session is busy: slots in them wait.
    busy: Stretches,
    /// Downtime alone.
    downs: Stretches,
    /// The times at which any delivery reached the session, in order.
    arrivals: Vec<Moment>,
    prompt: Span,
}

/// How one slot fares on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// The first instant at which no block makes it missed; `None` if there was none.
    pub(super) first: Option<Moment>,
    /// The first instant from which it had enough time to arrive; `None` if there was none.
    pub(super) ready: Option<Moment>,
    /// The block that the slot itself lies in.
    pub(super) block: Option<Stretch>,
    /// Whether it is or may be missed: a block contains it, or began before it had to arrive.
    pub(super) is_touched: bool,
    /// Whether a process crashed while it was on its way, so that its outcome may be unknown.
    pub(super) is_in_doubt: bool,
    /// Whether it had to wait for its session.
    pub(super) is_delayed: bool,
}

impl Road {
    /// Collects everything that blocks the deliveries of a schedule.
    pub(super) fn of(story: &Story, life: &Life, prompt: Span) -> Road {
        let session = life.session.as_ref();
        let held = |key: Option<&String>| story.holds.get(&key.cloned()).into_iter().flatten();
        let own = session.into_iter().flat_map(|session| held(Some(session)));
        let leaps = story.leaps(life);
        let all = story.outages.iter().chain(&leaps).chain(&life.pauses).chain(held(None)).chain(own);
        let busy = session.and_then(|session| story.busy.get(session));
        let downs = story.outages.iter().filter(|outage| outage.way == Way::Down);
        Road {
            blocks: Stretches::joined(all.copied().collect(), Span::ZERO),
            arrivals: session.and_then(|session| story.arrivals.get(session)).cloned().unwrap_or_default(),
            downs: Stretches::joined(downs.copied().collect(), Span::ZERO),
            // Queued deliveries follow one another within the tolerance each, so the session counts
            // as busy in between.
            busy: Stretches::joined(busy.cloned().unwrap_or_default(), prompt),
            prompt,
        }
    }

    /// Follows a slot through all blocks. A slot before its trigger came into force starts then.
    pub(super) fn course(&self, slot: Moment, era: &Era) -> Course {
        let mut course = Course {
            first: None,
            ready: None,
            block: self.blocks.around(slot.max(era.from)).copied(),
            is_touched: false,
            is_in_doubt: false,
            is_delayed: false,
        };
        let mut t = slot.max(era.from);
        loop {
            // Each round moves `t` to the end of the next obstacle, so the loop ends with the last
            // one.
            let arrival = later(t, self.prompt);
            if let Some(block) = self.blocks.around(t) {
                course.is_touched = true;
                let Some(until) = block.until else { return course };
                t = until;
                continue;
            }
            course.first = course.first.or(Some(t));
            if let Some(work) = self.busy.around(t) {
                course.is_delayed = true;
                let Some(until) = work.until else { return course };
                t = until;
            } else if let Some(block) = self.blocks.beginning_in(t, arrival) {
                course.is_touched = true;
                course.is_in_doubt |= block.way == Way::Down;
                let Some(until) = block.until else { return course };
                t = until;
            } else {
                course.ready = Some(t);
                return course;
            }
        }
    }

    /// The block that makes a slot missed, or may: it began before the slot had to arrive.
    pub(super) fn met(&self, slot: Moment) -> Option<&Stretch> {
        self.blocks.around(slot).or_else(|| self.blocks.beginning_in(slot, later(slot, self.prompt)))
    }

    /// The stretch at this time in which the session is busy.
    pub(super) fn work(&self, t: Moment) -> Option<&Stretch> {
        self.busy.around(t)
    }

    /// Whether the session's work ended at exactly this time. Then the scheduler may still have
    /// seen it busy.
    pub(super) fn work_just_ended(&self, t: Moment) -> bool {
        self.busy.is_end(t)
    }

    /// Whether a delivery to the session may have been unanswered at this time.
    pub(super) fn is_taken(&self, t: Moment) -> bool {
        let next = self.arrivals.partition_point(|arrival| *arrival < t);
        let within = |one: Moment, other: Moment| other.since(one) <= self.prompt;
        let after = self.arrivals.get(next).is_some_and(|arrival| within(t, *arrival));
        after || next.checked_sub(1).is_some_and(|last| within(self.arrivals[last], t))
    }

    /// When the process was ready again, if it crashed during a run or before the run's end was
    /// committed.
    pub(super) fn heard_late(&self, (began, ended): (Moment, Moment)) -> Option<Moment> {
        let died = self.downs.beginning_in(began, later(ended, self.prompt));
        died.or_else(|| self.downs.around(ended))?.until
    }
}
