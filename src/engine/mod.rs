//! The scheduler itself, without clock, randomness, I/O, thread or lock.
//!
//! [`decide`] says what follows from an input and changes nothing; [`State::apply`] folds the facts it answered with,
//! and cannot fail; [`State::next_wake`] tells when to come back. Effects are data that the runtime performs. Replay is
//! the same code as running, and "as of" is a prefix of the fold.
//!
//! What lives elsewhere: locks, threads and hosts (`runtime`, `adapter`), tools and their words (`dialect`).

mod apply;
mod channels;
mod deadlines;
mod decide;
mod draft;
mod effect;
mod envelope;
mod explain;
mod forecast;
mod gauges;
mod guard;
mod index;
mod input;
mod ledger;
mod lines;
mod local_fact;
mod outlook;
mod place;
mod print;
mod ready_jobs;
mod record;
mod row;
mod slab;
mod state;
mod step;
mod story;
mod timers;
mod verdict;
mod what_if;

pub use decide::{decide, decide_into};
pub use draft::{Given, Step};
pub use effect::{Delivery, Effect, GuardQuestion, Opening, Parcel};
pub use forecast::{Ask, Coming, Fate, Forecast, Outage, WhatIf};
pub use gauges::Gauges;
pub use input::{Command, Input, NewSchedule, Report, ScheduleChange, StoreInput, Which};
pub use ledger::Ledger;
pub use local_fact::{LocalFact, StateFact, StoredRow};
pub use record::{Course, Pause, RunRecord, ScheduleRecord, SessionRecord};
pub use row::{ScheduleRow, SessionRow};
pub use slab::Key;
pub use state::{Mode, State};
pub use story::History;
pub use verdict::{Explanation, Obstacle, Verdict};
pub use what_if::{Difference, Differences};
