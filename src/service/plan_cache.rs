//! The plans of requests, cached by their text: dashboards send the same request again and again.
//!
//! Shape: a sorted map, cleared when it is full. Invariant: an entry depends on the text and on the kind of caller, never on
//! data; clearing the cache costs only time.

use std::collections::BTreeMap;
#[cfg(feature = "http")]
use std::sync::atomic::Ordering;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::Caller;
use crate::edn::ReadError;
use crate::graph::eql::{Boundary, ParseError, Plan, QueryRefusal};
use crate::graph::registry::Viewer;
use crate::graph::view::viewer;
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
    /// How long the last run took, in microseconds; `u64::MAX` before the first.
    pub(super) took_us: AtomicU64,
}

impl Prepared {
    /// Whether the request is short enough to be answered where requests are read: it names a few entities and lists
    /// nothing, or took less than a millisecond the last time.
    #[cfg(feature = "http")]
    pub(crate) fn is_quick(&self) -> bool {
        // What a mutation waits for is the disk.
        let may_be_slow = self.plan.has_mutations();
        self.boundary.as_of.is_none() && is_quick(Some(&self.plan), &self.took_us, may_be_slow)
    }
}

/// Whether a plan is quick, by what it names and by how long its last run took; never if the log may have to be read for it.
/// With `may_be_slow`, a long last run does not count against it, because that run may have waited for the disk.
#[cfg(feature = "http")]
pub(crate) fn is_quick(plan: Option<&Plan>, took_us: &AtomicU64, may_be_slow: bool) -> bool {
    // Its last run may have read nothing, and the next one waits for the disk.
    if plan.is_some_and(|plan| plan.reads_log) {
        return false;
    }
    let took = took_us.load(Ordering::Relaxed);
    let is_small = || plan.is_none_or(|plan| plan.entities_named().is_some_and(|count| count <= NAMED));
    // A plan that has run is judged by its time, any other by what it names.
    took < QUICK_US || ((took == u64::MAX || may_be_slow) && is_small())
}

/// A request that has run counts as quick below this time, in microseconds.
#[cfg(feature = "http")]
const QUICK_US: u64 = 1_000;
/// One that has not counts as quick if it names no more entities than this.
#[cfg(feature = "http")]
const NAMED: usize = 4;

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
    tables: Mutex<[Table; 3]>,
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
    match viewer(&caller.scope) {
        Viewer::Operator => 0,
        Viewer::Host => 1,
        Viewer::Session | Viewer::Nobody => 2,
    }
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;
    use crate::edn::read_keeping_meta;
    use crate::graph::eql::{Planning, plan};
    use crate::service::query::{QUERY_LIMITS, registry};

    /// A handful of these would hold up every request.
    #[test]
    fn what_may_have_to_read_the_log_is_never_quick() {
        let registry = registry();
        let (mut from_log, mut quick) = (Vec::new(), 0);
        for (attribute, _) in registry.described() {
            // What it is about has to be said, or it is refused before anything is read.
            let text = match attribute.ident {
                "reveille/explain" => "[(:reveille/explain {:schedule-id \"x\"})]".to_owned(),
                ident => format!("[:{ident}]"),
            };
            let form = read_keeping_meta(text.as_bytes(), &crate::dialect::REQUEST_CAPS).expect("it is EDN");
            let boundary = Boundary::read(&form).expect("it is a query");
            let planning = Planning { seeds: &[], viewer: Viewer::Operator, limits: QUERY_LIMITS };
            let planned = plan(&boundary.query, &registry, &planning).expect("it is within the limits");
            let is_quick = |took| is_quick(Some(&planned), &AtomicU64::new(took), true);
            if attribute.reads_log {
                from_log.push(attribute.ident);
                assert!(!is_quick(u64::MAX) && !is_quick(0), "{text}");
            }
            quick += usize::from(is_quick(0));
        }
        from_log.sort_unstable();
        let read_it = ["psi.scheduler/explain", "reveille.engine/accounting-by-day", "reveille/explain"];
        assert_eq!(from_log, read_it, "those that read `log_lookback`");
        assert!(quick > from_log.len(), "others are quick if they were");
    }
}
