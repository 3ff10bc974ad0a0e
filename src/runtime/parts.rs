//! What a runtime is made of.

use std::sync::Arc;

use super::durable::WithoutStore;
use crate::calendar::Zones;
use crate::port::{Clock, EntropySource, Host, Journal};

/// What a runtime is made of.
pub struct Parts {
    /// Reads both clocks.
    pub clock: Arc<dyn Clock>,
    /// Draws randomness.
    pub entropy: Arc<dyn EntropySource>,
    /// The built-in host: it has every session that no connected host has.
    pub local: Arc<dyn Host>,
    /// The time zones that schedules may name.
    pub zones: Arc<Zones>,
    /// What happens to durable work until a store is attached.
    pub without_store: WithoutStore,
    /// Receives every fact in order, if there is one.
    pub journal: Option<Box<dyn Journal>>,
}
