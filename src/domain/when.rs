//! When, as a caller says it.

use super::{CountFrom, Every, Moment, Span, Trigger};

/// When, as a caller says it; it becomes a [`Trigger`] at the moment of creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// So long from the moment of creation.
    After(Span),
    /// At this instant.
    At(Moment),
    /// So often, for the first time one such span after the moment of creation.
    Each(Span),
    /// By this trigger, counted from the moment of creation.
    By(Trigger),
}

impl When {
    /// The trigger meant, for a schedule created at `created`; `None` where it would leave the calendar, and for
    /// a period out of bounds.
    pub fn resolve(self, created: Moment) -> Option<Trigger> {
        match self {
            When::After(span) => created.checked_add(span).map(Trigger::At),
            When::At(moment) => Some(Trigger::At(moment)),
            When::Each(period) => {
                Every::new(period, created.checked_add(period)?, CountFrom::Slot).map(Trigger::from)
            }
            When::By(trigger) => Some(trigger),
        }
    }
}
