//! What a law is: a function that judges one observation, or the state after a step, by the model.
//!
//! What lives elsewhere: the laws themselves (the files beside this one), and running them (`laws.rs`).

use crate::domain::Now;
use crate::engine::State;
use crate::testkit::history::Observation;
use crate::testkit::reference::model::ReferenceModel;

pub(in crate::testkit) type EventLaw = fn(&ReferenceModel, &Observation) -> LawResult;
pub(in crate::testkit) type StateLaw = fn(&ReferenceModel, &StateView<'_>) -> LawResult;

/// The verdict of a law; what broke it, if it is broken.
pub(in crate::testkit) type LawResult = Result<(), String>;

/// The engine's state after a step, as the laws see it.
#[derive(Clone, Copy, Debug)]
pub struct StateView<'a> {
    /// The engine's state.
    pub state: &'a State,
    /// The clocks.
    pub now: Now,
    /// Whether the engine has processed everything due at this very time.
    pub turned: bool,
    /// The limit of live schedules per session, if all callers were under one limit.
    pub session_live_max: Option<u32>,
}

pub(in crate::testkit) fn hold(holds: bool, detail: impl FnOnce() -> String) -> LawResult {
    if holds { Ok(()) } else { Err(detail()) }
}
