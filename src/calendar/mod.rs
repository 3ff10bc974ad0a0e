//! Calendar arithmetic: the slots of a trigger, time zones, cron, and time phrases.
//!
//! Lives here: [`Zones`] (what the name of a zone means), [`Slots`] (the slots of a trigger), the
//! grammar of cron ([`parse_cron`]), phrases ([`understand`]), and triggers as phrases and as EDN
//! ([`print`](fn@print), [`to_edn`]). Does not live here: which slot is missed, late or skipped
//! (`engine`), reading a system's time zone database (`adapter`).
//!
//! Invariants:
//! 1. The slots of a trigger are strictly increasing, and are the same from wherever the search begins.
//! 2. A clock reading that a zone skips (a gap) stands for the first instant after the gap, once;
//!    one that it repeats (an overlap) stands for the earlier instant. Triggers on every hour have
//!    no slot in a gap, and triggers that give minutes or hours by `*` or a step have slots in both
//!    passes of an overlap.
//! 3. Every search ends: the parsers refuse triggers without any slot, and the calendar bounds the
//!    others.
//! 4. Whatever is printed here parses back equal; the words for an event, which has no phrase, are the one exception.
//!
//! ```
//! use reveille::calendar::{Slots, Zones, parse_cron};
//! use reveille::domain::{Moment, Trigger, Zone};
//!
//! let zones = Zones::bundled();
//! let trigger = Trigger::Cron(parse_cron("30 2 * * *")?.into(), Zone::parse("America/New_York")?.into());
//! let slots = Slots::new(&trigger, &zones);
//! // 02:30 does not exist on 8 March 2026, so the clock's next reading stands for it.
//! let eve = Moment::parse("2026-03-07T12:00:00Z")?;
//! assert_eq!(slots.first_after(eve).map(|slot| slot.to_string()).as_deref(), Some("2026-03-08T07:00:00Z"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod cron;
mod edn;
mod pattern;
mod phrase;
mod print;
mod slots;
mod zone_names;
mod zones;

pub use cron::{CronError, Field, parse_cron};
pub use edn::{TriggerError, from_edn, to_edn};
pub use phrase::{Part, PhraseContext, PhraseError, Understood, print_duration, understand};
pub(crate) use phrase::{delay_in_words, repair_offset, repair_phrase, repair_zone};
pub(crate) use print::brief_words;
pub use print::print;
pub use slots::{Count, Slots, Window};
pub use zone_names::ZoneFault;
pub use zones::{TzData, Warning, Zones};
