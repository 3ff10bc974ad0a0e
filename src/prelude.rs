//! The names that an embedding program uses most.

pub use crate::domain::{
    Durability, Lifetime, Message, Moment, Policy, Refusal, ScheduleId, SessionConfig, SessionId, Span,
    Status, Trigger, When, Zone,
};
pub use crate::edn::Value;
pub use crate::embed::{Builder, Create, Deliveries, Delivery, Due, Ended, Error, Reveille, Summary};
