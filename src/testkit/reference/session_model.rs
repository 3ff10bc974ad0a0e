//! Sessions in the model: one delivery queue per open session.
//!
//! What lives elsewhere: how a fact changes it (`session_facts.rs`).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::{Moment, PingName, Pings, SessionConfig, SessionProvenance};
use crate::engine::SessionRow;
use crate::testkit::reference::run_key::{Order, RunKey};

/// The delivery queue of one open session.
#[derive(Clone, Debug, Default)]
pub(in crate::testkit) struct SessionModel {
    pub(in crate::testkit) attached: bool,
    /// When it was opened: what was left in an earlier session of its id is not in its inbox.
    pub(in crate::testkit) opened_at: Option<Moment>,
    pub(in crate::testkit) in_flight: Option<RunKey>,
    /// Runs that wait for the session, in order of delivery.
    pub(in crate::testkit) waiting: BTreeMap<Order, RunKey>,
    /// A connected host accepted a prompt, and the session has not become idle since.
    pub(in crate::testkit) turn_owed: bool,
    /// The session became idle while the delivery was still without a receipt.
    pub(in crate::testkit) idled: bool,
    pub(in crate::testkit) config: Arc<SessionConfig>,
    /// The schedule that opened it, if one did.
    pub(in crate::testkit) provenance: Option<Box<SessionProvenance>>,
    /// A person wrote in it.
    pub(in crate::testkit) has_person: bool,
    /// When the last ping of each name came.
    pub(in crate::testkit) pings: BTreeMap<PingName, Moment>,
}

impl SessionModel {
    /// A session as a store has it: without deliveries.
    pub(in crate::testkit) fn loaded(row: &SessionRow) -> SessionModel {
        SessionModel {
            attached: !row.built_in,
            opened_at: Some(row.opened_at),
            config: Arc::clone(&row.config),
            provenance: row.provenance.clone(),
            has_person: row.last_user_activity.is_some(),
            pings: SessionModel::pings_of(&row.pings),
            ..SessionModel::default()
        }
    }

    /// Pings as the model has them.
    pub(in crate::testkit) fn pings_of(pings: &Pings) -> BTreeMap<PingName, Moment> {
        pings.all().iter().map(|ping| (ping.name.clone(), ping.at)).collect()
    }
}
