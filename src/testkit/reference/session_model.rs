//! Sessions in the model: one delivery queue per open session.
//!
//! What lives elsewhere: how a fact changes it (`session_facts.rs`).

use std::collections::BTreeMap;

use crate::testkit::reference::run_key::{Order, RunKey};

/// The delivery queue of one open session.
#[derive(Clone, Debug, Default)]
pub(in crate::testkit) struct SessionModel {
    pub(in crate::testkit) attached: bool,
    pub(in crate::testkit) in_flight: Option<RunKey>,
    /// Runs that wait for the session, in order of delivery.
    pub(in crate::testkit) waiting: BTreeMap<Order, RunKey>,
    /// A connected host accepted a prompt, and the session has not become idle since.
    pub(in crate::testkit) turn_owed: bool,
    /// The session became idle while the delivery was still without a receipt.
    pub(in crate::testkit) idled: bool,
}
