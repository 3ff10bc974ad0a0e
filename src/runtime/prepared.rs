//! Requests that were read and planned, kept by their text: dashboards ask the same thing again and again.
//!
//! Shape: a sorted map, emptied when it is full. Invariant: what is kept depends on the text and on who asks, never on
//! data; whoever empties it changes nothing but the time that the next request takes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::handle::Handle;
use super::query::{QUERY_LIMITS, QueryAccess};
use super::sync::{Mutex, UNPOISONED};
use crate::dialect::REQUEST_CAPS;
use crate::domain::{Caller, Scope};
use crate::edn::{Keyword, Map, ReadError, Value, read_keeping_meta};
use crate::graph::eql::{
    Answer, Boundary, ParseError, Plan, Planning, Refusal, Request, Written, plan, run, write,
};
use crate::graph::view::viewer;
use crate::limits;

/// A request, ready to be answered for callers of one kind.
pub struct Prepared {
    /// What was asked.
    pub boundary: Boundary,
    plan: Plan,
    /// Whether it is asked within the caller's session, because it names no entity.
    is_within: bool,
    /// How long the last answer was: the next is likely to be as long.
    room: AtomicUsize,
}

/// Why a text is no request that can be answered.
#[derive(Debug, thiserror::Error)]
pub enum Unprepared {
    /// It is no EDN.
    #[error(transparent)]
    Unread(#[from] ReadError),
    /// It is no query.
    #[error(transparent)]
    Unparsed(#[from] ParseError),
    /// It exceeds a bound.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// By the text of the request.
type Table = BTreeMap<Box<[u8]>, Arc<Prepared>>;

/// Those that are kept; sessions and operators see different attributes.
#[derive(Default)]
pub(super) struct Kept {
    table: Mutex<[Table; 2]>,
}

impl Handle {
    /// Reads and plans a request in EDN.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn prepare(&self, caller: &Caller, text: &[u8]) -> Result<Arc<Prepared>, Unprepared> {
        let kind = usize::from(caller.scope == Scope::Operator);
        let kept = &self.shared.prepared.table;
        if let Some(prepared) = kept.lock().expect(UNPOISONED)[kind].get(text) {
            return Ok(Arc::clone(prepared));
        }
        let form = read_keeping_meta(text, &REQUEST_CAPS)?;
        let prepared = Arc::new(self.plan(caller, Boundary::read(&form)?)?);
        if text.len() as u64 <= limits::PLAN_BYTES.value {
            let table = &mut kept.lock().expect(UNPOISONED)[kind];
            if table.len() as u64 >= limits::PLANS_KEPT.value {
                table.clear();
            }
            table.insert(text.into(), Arc::clone(&prepared));
        }
        Ok(prepared)
    }

    /// Plans a request. One that names no entity is asked within the caller's session.
    ///
    /// # Errors
    /// A bound that it exceeds.
    pub fn plan(&self, caller: &Caller, boundary: Boundary) -> Result<Prepared, Refusal> {
        let is_within = boundary.entity.is_empty();
        let given = boundary.entity.keys().filter_map(|key| key.as_keyword().cloned());
        let own = caller.scope.session().filter(|_| is_within).and_then(|_| Keyword::new(SESSION_ID).ok());
        let seeds: Vec<Keyword> = given.chain(own).collect();
        let planning = Planning { seeds: &seeds, viewer: viewer(&caller.scope), limits: QUERY_LIMITS };
        let plan = plan(&boundary.query, &self.shared.registry, &planning)?;
        Ok(Prepared { boundary, plan, is_within, room: AtomicUsize::new(0) })
    }

    /// Answers a request into a text; strict unless the request itself or `is_lenient` says otherwise.
    ///
    /// # Errors
    /// A bound that it exceeds; nothing is written then.
    pub fn answer(
        &self,
        caller: &Caller,
        prepared: &Prepared,
        is_lenient: bool,
        out: &mut String,
    ) -> Result<Written, Refusal> {
        self.with_request(caller, prepared, is_lenient, |request, access| {
            let start = out.len();
            out.reserve(prepared.room.load(Ordering::Relaxed));
            let written = write(&self.shared.registry, request, access, out);
            let written = if access.reach_back() {
                out.truncate(start);
                write(&self.shared.registry, request, access, out)
            } else {
                written
            };
            prepared.room.store((out.len() - start).min(ROOM_MAX), Ordering::Relaxed);
            written
        })
    }

    /// Answers a request as a value.
    ///
    /// # Errors
    /// A bound that it exceeds.
    pub fn run(&self, caller: &Caller, prepared: &Prepared, is_lenient: bool) -> Result<Answer, Refusal> {
        self.with_request(caller, prepared, is_lenient, |request, access| {
            let answer = run(&self.shared.registry, request, access);
            if access.reach_back() { run(&self.shared.registry, request, access) } else { answer }
        })
    }

    fn with_request<T>(
        &self,
        caller: &Caller,
        prepared: &Prepared,
        is_lenient: bool,
        answer: impl FnOnce(&Request<'_>, &mut QueryAccess<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut access = match prepared.boundary.as_of {
            None => self.access(caller),
            Some(at) => self.access_as_of(caller, at)?,
        };
        let stop = access.stop();
        let own = caller.scope.session().filter(|_| prepared.is_within);
        let within: Option<Map> = own.map(|own| Map::new().with(SESSION_ID, Value::string(own.as_str())));
        let request = Request {
            plan: &prepared.plan,
            entity: within.as_ref().unwrap_or(&prepared.boundary.entity),
            is_lenient: prepared.boundary.lenient.unwrap_or(is_lenient),
            limits: QUERY_LIMITS,
            stop: &stop,
        };
        answer(&request, &mut access)
    }
}

/// No more room than that is made at once: one answer may be much longer than the next.
const ROOM_MAX: usize = 1 << 16;
const SESSION_ID: &str = "psi.agent-session/session-id";
