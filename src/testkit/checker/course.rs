//! The way of one slot to its session: when it could first go, and by when it has to have arrived.

use super::story::{Era, Life, Story};
use super::stretch::{Stretch, Stretches, Way, later};
use crate::domain::{Moment, Span};

/// What stands in the way of one schedule's deliveries.
#[derive(Debug)]
pub(super) struct Road {
    /// The process down, the clock jumping, the schedule paused, deliveries held back: slots in it are missed.
    blocks: Stretches,
    /// The session at work: slots in it wait.
    busy: Stretches,
    /// The process down, and nothing else.
    downs: Stretches,
    /// When deliveries reached the session, of whatever schedule; in order.
    arrivals: Vec<Moment>,
    prompt: Span,
}

/// What a slot meets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// The first instant at which there is nothing that makes it missed; `None` if that never came.
    pub(super) first: Option<Moment>,
    /// The first instant from which it had time enough to arrive; `None` if that never came.
    pub(super) ready: Option<Moment>,
    /// The stretch that the slot itself lies in.
    pub(super) block: Option<Stretch>,
    /// Whether it is, or may be, one of the missed: it lies in a block, or one began before it had to have arrived.
    pub(super) is_touched: bool,
    /// Whether a process died over it, so that nobody may know what became of it.
    pub(super) is_in_doubt: bool,
    /// Whether it had to wait for its session.
    pub(super) is_delayed: bool,
}

impl Road {
    /// What stood in the way of a schedule.
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
            // Deliveries that queue for one session follow each other with as much between them as each may take.
            busy: Stretches::joined(busy.cloned().unwrap_or_default(), prompt),
            prompt,
        }
    }

    /// The way of a slot. One that had passed when its trigger came into force sets out then.
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

    /// The stretch in which a slot would be missed, or may be: it began before the slot had to have arrived.
    pub(super) fn met(&self, slot: Moment) -> Option<&Stretch> {
        self.blocks.around(slot).or_else(|| self.blocks.beginning_in(slot, later(slot, self.prompt)))
    }

    /// The stretch in which the session is at work.
    pub(super) fn work(&self, t: Moment) -> Option<&Stretch> {
        self.busy.around(t)
    }

    /// Whether the session was at work until that very instant: who looked at it then may have looked before.
    pub(super) fn work_just_ended(&self, t: Moment) -> bool {
        self.busy.is_end(t)
    }

    /// Whether a delivery may have been out to the session at that moment, and not have been answered yet.
    pub(super) fn is_taken(&self, t: Moment) -> bool {
        let next = self.arrivals.partition_point(|arrival| *arrival < t);
        let within = |one: Moment, other: Moment| other.since(one) <= self.prompt;
        let after = self.arrivals.get(next).is_some_and(|arrival| within(t, *arrival));
        after || next.checked_sub(1).is_some_and(|last| within(self.arrivals[last], t))
    }

    /// When a process was ready again that did not live to hear of the end of a run: it died while that went on, or before
    /// the word of it was safe.
    pub(super) fn heard_late(&self, (began, ended): (Moment, Moment)) -> Option<Moment> {
        let died = self.downs.beginning_in(began, later(ended, self.prompt));
        died.or_else(|| self.downs.around(ended))?.until
    }
}
