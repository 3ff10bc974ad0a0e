//! The scheduling rules, as pure functions: no clock, randomness, I/O, thread or lock.
//!
//! [`decide`](fn@decide) computes the facts and effects that follow from an input, and changes nothing.
//! [`State::apply`] applies a fact to the state, and cannot fail. [`State::next_wake`] returns the
//! next deadline. Effects are data that the runtime performs. Replaying a log runs the same code as
//! live operation, so the state "as of" a cursor is a prefix of the fold.
//!
//! What lives elsewhere: locks, threads and hosts (`runtime`, `adapter`), tools and their wording
//! (`dialect`).

mod apply;
#[cfg(feature = "embed")]
mod before;
mod bulletin_text;
mod chains;
mod channels;
mod chronicle;
mod condition;
mod deadlines;
mod decide;
mod destination;
mod effect;
mod envelope;
mod family;
mod foresight;
mod gauges;
pub(crate) mod guard;
mod guard_call;
mod host_record;
mod inbox;
mod index;
mod input;
mod invocation;
mod json_text;
mod last_approval;
mod ledger;
mod local_fact;
mod lost;
mod new_schedule;
mod outcomes;
mod pause;
mod plain;
mod print;
mod progress;
mod quiet;
mod readiness;
mod reading;
mod ready_jobs;
mod recall;
mod record;
mod reporter;
mod row;
mod session_zone;
mod slab;
mod state;
mod step;
mod step_builder;
mod still_out;
mod store_failure;
mod task;
mod task_outcomes;
mod timers;
mod undo;
mod wakes;
mod waking;
mod watching;
mod written;

pub use bulletin_text::{Details, Headline, bulletin_text, reminder_text, result_line};
pub use channels::ChannelPauses;
pub use chronicle::{Chronicle, Known, Learned};
pub(crate) use condition::parse_stored_condition;
pub use condition::{
    Circumstances, ConditionError, ConditionFault, Judgement, judge, parse_condition, parse_path,
};
pub use decide::decide;
#[cfg(feature = "embed")]
pub(crate) use decide::decide_into;
pub use effect::{Delivery, Effect, GuardQuestion, Opening, Parcel, QuestionAnswer};
pub use foresight::forecast::{Forecast, ForecastQuery, WhatIf};
pub use foresight::forecast_slot::{ForecastSlot, SlotOutcome};
pub use foresight::schedule_history::DecisionSource;
pub use foresight::schedule_sim::Outage;
pub(crate) use foresight::verdict::length;
pub use foresight::verdict::{Explanation, Obstacle, Verdict};
pub use foresight::what_if::{Difference, Differences};
pub use gauges::Gauges;
pub use inbox::Reception;
pub use input::{Command, Input, Report, ScheduleChange, StoreInput, Which};
pub use invocation::Invocation;
pub(crate) use json_text::json_line;
pub use last_approval::{Approved, LastApproval};
pub use ledger::Ledger;
pub use local_fact::{LocalFact, StateFact};
pub use new_schedule::NewSchedule;
pub use outcomes::Outcomes;
pub use pause::{Holds, Pause};
pub use progress::Progress;
pub use quiet::Quiet;
pub use readiness::Readiness;
pub use reading::{Look, read_outcome};
pub(crate) use recall::recall_block;
pub use record::{ChannelRecord, RunRecord, ScheduleRecord, SessionRecord};
pub use row::{ScheduleRow, SessionRow, StoredRow};
pub use slab::Key;
pub use state::{Mode, State};
pub(crate) use step::retry_waits;
pub use step_builder::{Env, Step};
pub use store_failure::StoreFailure;
pub use task::Task;
pub use undo::Undo;
pub use watching::{Checked, next_wait, remember_check, summed_up, weigh};
