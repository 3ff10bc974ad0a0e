//! Queries in EQL: read, planned, and run over one consistent reading of the engine.
//!
//! Invariant: everything between two mutations of a request is read under one hold of the lock, and is of one moment. What a
//! caller may not see does not exist for it, in any query language.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::Service;
use super::access::QueryAccess;
use super::admission::Admitted;
use super::plan_cache::{PrepareError, Prepared};
use crate::dialect::REQUEST_CAPS;
use crate::domain::{Caller, CallerRole, Code};
use crate::edn::{Keyword, Map, Value, read_keeping_meta};
use crate::graph::attr;
use crate::graph::eql::{
    self, Boundary, Limits, Planning, QueryAnswer, QueryFailure, QueryRefusal, QueryRequest, WriteOutcome,
    plan, write,
};
use crate::graph::registry::Registry;
use crate::graph::view::{Scheduler, viewer};
use crate::limits;

/// The bounds of one query of a caller: a session's own token gets shorter answers.
pub(crate) fn limits_of(caller: &Caller) -> Limits {
    match caller.role {
        CallerRole::Session | CallerRole::Channel => Limits { bytes: SESSION_BYTES, ..QUERY_LIMITS },
        CallerRole::Operator | CallerRole::Observer | CallerRole::Host => QUERY_LIMITS,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the assertion below proves that nothing is cut")]
const SESSION_BYTES: u32 = limits::SESSION_QUERY_BYTES.value as u32;
const _: () = assert!(SESSION_BYTES as u64 == limits::SESSION_QUERY_BYTES.value);

/// The bounds of one query of an operator.
#[expect(clippy::cast_possible_truncation, reason = "the assertions below prove that nothing is cut")]
pub const QUERY_LIMITS: Limits = Limits {
    depth: limits::QUERY_DEPTH.value as u32,
    attributes: limits::QUERY_ATTRIBUTES.value as u32,
    rows: limits::QUERY_ROWS.value as u32,
    calls: limits::QUERY_CALLS.value as u32,
    bytes: limits::QUERY_BYTES.value as u32,
};

const _: () = assert!(QUERY_LIMITS.depth as u64 == limits::QUERY_DEPTH.value);
const _: () = assert!(QUERY_LIMITS.attributes as u64 == limits::QUERY_ATTRIBUTES.value);
const _: () = assert!(QUERY_LIMITS.rows as u64 == limits::QUERY_ROWS.value);
const _: () = assert!(QUERY_LIMITS.calls as u64 == limits::QUERY_CALLS.value);
const _: () = assert!(QUERY_LIMITS.bytes as u64 == limits::QUERY_BYTES.value);

/// The scheduler's graph: one table for the process, because all engines have the same attributes.
pub fn registry() -> Arc<Registry<Scheduler>> {
    static REGISTRY: OnceLock<Arc<Registry<Scheduler>>> = OnceLock::new();
    let built = || attr::registry().expect("a test builds the registry and finds no fault");
    Arc::clone(REGISTRY.get_or_init(|| Arc::new(built())))
}

impl Service {
    /// Answers a request for a caller. A request that names no entity runs within the caller's session.
    ///
    /// # Errors
    /// A limit that the request exceeds.
    pub fn query(
        &self,
        caller: &Caller,
        request: &Boundary,
        is_lenient: bool,
    ) -> Result<QueryAnswer, QueryRefusal> {
        let prepared = self.plan_request(caller, request.clone())?;
        self.run(caller, &prepared, is_lenient)
    }

    /// Answers a request with the access of a caller that was admitted: to query, or to be pushed an item.
    ///
    /// # Errors
    /// A limit that the request exceeds.
    #[cfg(feature = "graphql")]
    pub(crate) fn query_with(
        &self,
        access: QueryAccess<'_>,
        request: &Boundary,
    ) -> Result<QueryAnswer, QueryRefusal> {
        let prepared = self.plan_request(access.caller(), request.clone())?;
        // What is asked for an item has no default: the request says whether it is lenient.
        run_with(self, access, &prepared, false)
    }

    /// Answers a request about what an admitted operation has just changed. It is not refused for the time that the caller's
    /// queries took of late: the change is made by now, and a caller that gets an error makes it again. Its time counts.
    ///
    /// # Errors
    /// A limit that the request exceeds.
    pub(super) fn query_changed(
        &self,
        admitted: Admitted<'_>,
        request: &Boundary,
    ) -> Result<QueryAnswer, QueryRefusal> {
        let prepared = self.plan_request(admitted.caller(), request.clone())?;
        run_with(self, self.access(admitted), &prepared, false)
    }

    /// Reads and plans a request in EDN, or takes its plan from the cache.
    ///
    /// # Errors
    /// What is wrong with the request.
    pub fn prepare(&self, caller: &Caller, text: &[u8]) -> Result<Arc<Prepared>, PrepareError> {
        let plans = &self.shared.plans;
        if let Some(prepared) = plans.get(caller, text) {
            return Ok(prepared);
        }
        let form = read_keeping_meta(text, &REQUEST_CAPS)?;
        let prepared = Arc::new(self.plan_request(caller, Boundary::read(&form)?)?);
        plans.insert(caller, text, &prepared);
        Ok(prepared)
    }

    fn plan_request(&self, caller: &Caller, boundary: Boundary) -> Result<Prepared, QueryRefusal> {
        // The caller's session counts as given, so that its attributes can be planned without naming it.
        let is_within = boundary.entity.is_empty();
        let given = boundary.entity.keys().filter_map(|key| key.as_keyword().cloned());
        let own = caller.scope.session().filter(|_| is_within).and_then(|_| Keyword::new(SESSION_ID).ok());
        let seeds: Vec<Keyword> = given.chain(own).collect();
        let planning = Planning { seeds: &seeds, viewer: viewer(&caller.scope), limits: limits_of(caller) };
        let plan = plan(&boundary.query, self.registry(), &planning)?;
        Ok(Prepared {
            boundary,
            plan,
            is_within,
            room: AtomicUsize::new(0),
            took_us: AtomicU64::new(u64::MAX),
        })
    }

    /// Answers a prepared request as a value. It is strict unless the request itself or `is_lenient` says otherwise.
    ///
    /// # Errors
    /// A limit that the request exceeds.
    pub fn run(
        &self,
        caller: &Caller,
        prepared: &Prepared,
        is_lenient: bool,
    ) -> Result<QueryAnswer, QueryRefusal> {
        run_with(self, self.admit_query(caller, prepared.boundary.as_of)?, prepared, is_lenient)
    }

    /// Like [`Service::run`], but writes the answer as EDN text to `out`.
    ///
    /// # Errors
    /// A limit that the request exceeds; nothing is written then.
    pub fn answer(
        &self,
        caller: &Caller,
        prepared: &Prepared,
        is_lenient: bool,
        out: &mut String,
    ) -> Result<WriteOutcome, QueryRefusal> {
        let access = self.admit_query(caller, prepared.boundary.as_of)?;
        with_request(self, access, prepared, is_lenient, |request, access| {
            let start = out.len();
            // Dashboards repeat a request, and its answers hardly differ in length.
            out.reserve(prepared.room.load(Ordering::Relaxed));
            let written = write(self.registry(), request, access, out);
            // The first run may have missed decisions that only the log has: they are there now, so write the answer
            // again.
            let written = if access.fetch_missing() {
                out.truncate(start);
                write(self.registry(), request, access, out)
            } else {
                written
            };
            prepared.room.store((out.len() - start).min(ROOM_MAX), Ordering::Relaxed);
            written
        })
    }
}

fn run_with(
    service: &Service,
    access: QueryAccess<'_>,
    prepared: &Prepared,
    is_lenient: bool,
) -> Result<QueryAnswer, QueryRefusal> {
    with_request(service, access, prepared, is_lenient, |request, access| {
        // As in `Service::answer`: decisions that only the log has are there for the second run.
        let answer = eql::run(service.registry(), request, access);
        if access.fetch_missing() { eql::run(service.registry(), request, access) } else { answer }
    })
}

fn with_request<T>(
    service: &Service,
    mut access: QueryAccess<'_>,
    prepared: &Prepared,
    is_lenient: bool,
    answer: impl FnOnce(&QueryRequest<'_>, &mut QueryAccess<'_>) -> Result<T, QueryRefusal>,
) -> Result<T, QueryRefusal> {
    let caller = access.caller();
    let began = service.handle().now().boot;
    let stop = access.stop();
    // The plan is shared by all callers of one kind, so the id of the caller's session comes in only here.
    let own = caller.scope.session().filter(|_| prepared.is_within);
    let within: Option<Map> = own.map(|own| Map::new().with(SESSION_ID, Value::string(own.as_str())));
    let request = QueryRequest {
        plan: &prepared.plan,
        entity: within.as_ref().unwrap_or(&prepared.boundary.entity),
        is_lenient: prepared.boundary.lenient.unwrap_or(is_lenient),
        limits: limits_of(caller),
        stop: &stop,
    };
    let answered = answer(&request, &mut access);
    let took = service.handle().now().boot.since(began);
    prepared.took_us.store(took.nanos() / 1_000, Ordering::Relaxed);
    answered
}

/// The answer in the shape of Pathom's boundary interface. A failure also says what was missing and why, which Pathom
/// does not reveal: without it, the cause of a failed request would have to be guessed.
pub fn reply(request: &Boundary, answer: QueryAnswer) -> Map {
    match answer {
        QueryAnswer::Done(map) => map,
        QueryAnswer::Failed(failure) => failed(request, &failure),
    }
}

/// The error map of a request that failed.
pub fn failed(request: &Boundary, failure: &QueryFailure) -> Map {
    let why = Map::new()
        .with("key", failure.key.clone())
        .with("cause", Value::keyword(failure.cause.name()))
        .with("message", failure.error.as_ref().map(|error| error.message.as_str()))
        .with("code", failure.error.as_ref().and_then(|error| error.code).map(Code::name))
        .with("data", failure.error.as_ref().map(|error| error.data.clone()));
    QueryFailure::to_map(&request.query, &request.entity).with("reveille.error/why", why)
}

/// Maximum initial size of an answer's buffer, in bytes: one answer may be much longer than the next.
const ROOM_MAX: usize = 1 << 16;
const SESSION_ID: &str = "psi.agent-session/session-id";
