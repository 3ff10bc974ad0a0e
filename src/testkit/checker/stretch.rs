//! Stretches of time in which something stood in the way, in order and apart from each other.

use crate::domain::{Moment, Span};

/// What stood in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The process was down.
    Down,
    /// The wall clock went over it at once.
    Jump,
    /// The schedule was paused.
    Pause,
    /// Deliveries were held back.
    Hold,
    /// The session was at work.
    Busy,
}

/// From an instant, included, to another, not included; `None` if it did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: Moment,
    pub(super) until: Option<Moment>,
    pub(super) way: Way,
}

/// Stretches in order that do not touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretches(Vec<Stretch>);

impl Stretches {
    /// Joins what overlaps, and what is no further apart than `gap`. It is a jump only if all of it is,
    /// and the process died if it did in some part.
    pub(super) fn joined(mut parts: Vec<Stretch>, gap: Span) -> Stretches {
        // A clock that was set back between the two ends leaves nothing to say.
        parts.retain(|part| part.until.is_none_or(|until| until > part.from));
        parts.sort_by_key(|part| part.from);
        let mut joined: Vec<Stretch> = Vec::new();
        for part in parts {
            match joined.last_mut() {
                Some(last) if last.until.is_none_or(|until| part.from <= later(until, gap)) => {
                    last.until = last.until.zip(part.until).map(|(a, b)| a.max(b));
                    if last.way == Way::Jump || part.way == Way::Down {
                        last.way = part.way;
                    }
                }
                Some(_) | None => joined.push(part),
            }
        }
        Stretches(joined)
    }

    /// The stretch that an instant lies in.
    pub(super) fn around(&self, t: Moment) -> Option<&Stretch> {
        let next = self.0.partition_point(|stretch| stretch.from <= t);
        let last = self.0[..next].last()?;
        last.until.is_none_or(|until| t < until).then_some(last)
    }

    /// Whether a stretch ends at this very instant.
    pub(super) fn is_end(&self, t: Moment) -> bool {
        let next = self.0.partition_point(|stretch| stretch.from < t);
        self.0[..next].last().is_some_and(|stretch| stretch.until == Some(t))
    }

    /// The first stretch that begins after `t` and before `until`.
    pub(super) fn beginning_in(&self, t: Moment, until: Moment) -> Option<&Stretch> {
        let next = self.0.partition_point(|stretch| stretch.from <= t);
        self.0.get(next).filter(|stretch| stretch.from < until)
    }
}

/// So much later; at the end of the calendar it stays there.
pub(super) fn later(t: Moment, span: Span) -> Moment {
    t.checked_add(span).unwrap_or(t)
}
