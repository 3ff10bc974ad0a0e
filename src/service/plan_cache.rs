//! The plans of requests, cached by their text: dashboards send the same request again and again.
//!
//! Shape: a sorted map, cleared when it is full. Invariant: an entry depends on the text and on the kind of caller, never on
//! data; clearing the cache costs only time.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::{Caller, Scope};
use crate::edn::ReadError;
use crate::graph::eql::{Boundary, ParseError, Plan, QueryRefusal};
use crate::limits;

/// A request that is parsed and planned, for callers of one kind.
pub struct Prepared {
    /// The request.
    pub boundary: Boundary,
    pub(super) plan: Plan,
    /// Whether it runs within the caller's session, because it names no entity.
    pub(super) is_within: bool,
    /// The length of the last answer in bytes: a hint for the next one's buffer.
    pub(super) room: AtomicUsize,
}

/// Why a text cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// It is not EDN.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is not a query.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// It exceeds a limit.
    #[error(transparent)]
    Refused(#[from] QueryRefusal),
}

/// Plans by the text of the request.
type Table = BTreeMap<Box<[u8]>, Arc<Prepared>>;

/// The cached plans. Sessions and operators see different attributes, so each kind of caller has a table.
#[derive(Default)]
pub(super) struct PlanCache {
    tables: Mutex<[Table; 2]>,
}

impl PlanCache {
    pub(super) fn get(&self, caller: &Caller, text: &[u8]) -> Option<Arc<Prepared>> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables[kind(caller)].get(text).map(Arc::clone)
    }

    /// Caches a plan, unless its text is too long to be worth it.
    pub(super) fn insert(&self, caller: &Caller, text: &[u8], prepared: &Arc<Prepared>) {
        // The cache counts its entries and not their bytes, so the length of each entry has a bound.
        if text.len() as u64 > limits::PLAN_BYTES.value {
            return;
        }
        let table = &mut self.tables.lock().unwrap_or_else(PoisonError::into_inner)[kind(caller)];
        // Clearing is simpler than an eviction order, and a dashboard refills it in one round.
        if table.len() as u64 >= limits::PLANS_KEPT.value {
            table.clear();
        }
        table.insert(text.into(), Arc::clone(prepared));
        debug_assert!(table.len() as u64 <= limits::PLANS_KEPT.value, "{} plans", table.len());
    }
}

fn kind(caller: &Caller) -> usize {
    usize::from(caller.scope == Scope::Operator)
}
