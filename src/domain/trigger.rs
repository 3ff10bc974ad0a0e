//! When a schedule's slots come.

use super::{Moment, Span};

/// The rule that yields a schedule's slots. One-shot schedules have a single slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// One slot, at this instant; an instant already past is due at once.
    At(Moment),
}

impl Trigger {
    /// The first slot.
    pub fn first_slot(&self) -> Moment {
        match self {
            Trigger::At(slot) => *slot,
        }
    }
}

/// When, as a caller says it; it becomes a [`Trigger`] at the moment of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// So long from the moment of creation.
    After(Span),
    /// At this instant.
    At(Moment),
}

impl When {
    /// The instant meant, for a schedule created at `created`; `None` where it would leave the calendar.
    pub fn resolve(self, created: Moment) -> Option<Moment> {
        match self {
            When::After(span) => created.checked_add(span),
            When::At(moment) => Some(moment),
        }
    }
}
