//! Sorted, disjoint stretches of time in which deliveries were blocked.

use super::moment::{Moment, Span};

/// What blocked deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The process was down.
    Down,
    /// The wall clock jumped over it.
    Jump,
    /// The schedule was paused.
    Pause,
    /// Deliveries were held back.
    Hold,
    /// The session was busy.
    Busy,
}

/// A half-open stretch of time; `until` is `None` if it did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: Moment,
    pub(super) until: Option<Moment>,
    pub(super) way: Way,
}

/// Sorted stretches that do not touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretches(Vec<Stretch>);

impl Stretches {
    /// Joins stretches that overlap or lie at most `gap` apart. The result is a jump only if all
    /// parts are, and downtime if any part is.
    pub(super) fn joined(mut parts: Vec<Stretch>, gap: Span) -> Stretches {
        // A clock set back in between can make a stretch empty or negative: it blocks nothing.
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

    /// The stretch that contains an instant.
    pub(super) fn around(&self, t: Moment) -> Option<&Stretch> {
        let next = self.0.partition_point(|stretch| stretch.from <= t);
        let last = self.0[..next].last()?;
        last.until.is_none_or(|until| t < until).then_some(last)
    }

    /// Whether a stretch ends at exactly this instant.
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

/// `t` plus `span`; saturates at the end of the calendar.
pub(super) fn later(t: Moment, span: Span) -> Moment {
    t.checked_add(span).unwrap_or(t)
}
