//! The start time of a schedule as a caller gives it, relative or absolute.

use crate::domain::{CountFrom, Every, Moment, Span, Trigger};

/// When a schedule is due, as a caller gives it; it becomes a [`Trigger`] at the moment of
/// creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// This long after the moment of creation.
    After(Span),
    /// At this instant.
    At(Moment),
    /// Periodically, for the first time one period after the moment of creation.
    Each(Span),
    /// By this trigger.
    By(Trigger),
}

impl When {
    /// Returns the trigger for a schedule created at `created`; `None` for an instant outside the
    /// calendar, and for a period out of bounds.
    pub fn resolve(self, created: Moment) -> Option<Trigger> {
        match self {
            When::After(span) => created.checked_add(span).map(Trigger::At),
            When::At(moment) => Some(Trigger::At(moment)),
            // The anchor is one period ahead, so that the first slot is not at once.
            When::Each(period) => {
                Every::new(period, created.checked_add(period)?, CountFrom::Slot).map(Trigger::from)
            }
            When::By(trigger) => Some(trigger),
        }
    }
}
