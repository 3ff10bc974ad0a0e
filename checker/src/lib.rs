//! The history checker: judges from outside whether a scheduler delivered everything it had to, and
//! nothing else.
//!
//! A black-box test, or an operator, records what it did and what it saw: one [`Event`] per line of
//! JSON, in the order in which they happened. [`check`] computes which slots there should have
//! been, matches them with the deliveries, and lists every [`Finding`].
//!
//! Lives here: [`Event`], the slow search for slots ([`slots`]), the verdicts. What lives
//! elsewhere: the laws of the engine's own facts (`laws`). Invariant: it is a second opinion.
//! Nothing here calls the engine or `calendar`: zones come from jiff, cron has its own parser, and
//! every clock reading is tested one by one. So a mistake in one of the two shows up as a
//! difference.
//!
//! ```
//! use reveille_checker::{Event, Moment, Trigger, check};
//!
//! let trigger = Trigger::Cron { expr: "30 2 * * *".into(), zone: "America/New_York".into() };
//! let events = [
//!     Event::Create {
//!         at: Moment::parse("2026-03-07T12:00:00Z")?,
//!         schedule: "backup".into(),
//!         session: None,
//!         trigger,
//!         policy: Default::default(),
//!         lifetime: Default::default(),
//!     },
//!     Event::End { at: Moment::parse("2026-03-08T12:00:00Z")? },
//! ];
//! // 02:30 does not exist that night: the first instant after the gap stands for it, and nothing came.
//! let report = check(&events);
//! assert_eq!(report.findings.len(), 1);
//! assert_eq!(report.findings[0].to_string(), "missing: backup 2026-03-08T07:00:00Z was never received");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod course;
mod cron;
mod drift;
mod event;
mod expected;
mod finding;
mod instants;
mod moment;
mod order;
mod receipts;
mod story;
mod stretch;
mod verdict;

pub use check::{Bounds, check, check_within};
pub use event::{
    Busy, CountFrom, Day, Event, EventError, Lifetime, Missed, Overlap, Policy, Recovery, Trigger, read,
    write,
};
pub use expected::{TriggerError, slots};
pub use finding::{Figures, Finding, Report};
pub use moment::{Moment, MomentError, Span};
