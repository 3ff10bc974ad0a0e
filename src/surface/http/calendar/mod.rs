//! Calendars: the slots to come, for a calendar program, by a link that is its own proof.
//!
//! A calendar program sends no token, so its address has to have one. `link.rs` is that proof; `ical.rs` is the text of a
//! calendar. What lives elsewhere: who gets a link, and what a calendar is made of (`handlers/calendar.rs`).

mod ical;
mod link;

pub(super) use ical::{Event, ical};
pub use link::CalendarKey;
pub(super) use link::CalendarOf;
