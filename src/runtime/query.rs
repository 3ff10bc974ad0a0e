//! One query of the graph: planned, then run over one look at the engine. All surfaces come through here.
//!
//! Invariant: what is read between two mutations is read under one hold of the lock, and is of one moment; what a
//! caller may not see does not exist for it, whichever language it asks in.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};

use super::handle::Handle;
use super::hands::CallerHands;
use super::hosts::Hosts;
use crate::domain::{Caller, Code, Now, Transcript};
use crate::edn::{Map, Value};
use crate::engine::SessionRecord;
use crate::graph::attr;
use crate::graph::eql::{Answer, Boundary, Failure, Limits, Refusal};
use crate::graph::registry::{Access, Registry, Seen};
use crate::graph::view::{Hands, Made, Scheduler, Transcripts, View};
use crate::limits;

/// The bounds of one query.
#[expect(clippy::cast_possible_truncation, reason = "the assertions below prove that nothing is cut")]
pub const QUERY_LIMITS: Limits = Limits {
    depth: limits::QUERY_DEPTH.value as u32,
    attributes: limits::QUERY_ATTRIBUTES.value as u32,
    rows: limits::QUERY_ROWS.value as u32,
    calls: limits::QUERY_CALLS.value as u32,
};

const _: () = assert!(QUERY_LIMITS.depth as u64 == limits::QUERY_DEPTH.value);
const _: () = assert!(QUERY_LIMITS.attributes as u64 == limits::QUERY_ATTRIBUTES.value);
const _: () = assert!(QUERY_LIMITS.rows as u64 == limits::QUERY_ROWS.value);
const _: () = assert!(QUERY_LIMITS.calls as u64 == limits::QUERY_CALLS.value);

/// The scheduler's graph: one table for the whole process, because it is the same for every engine.
pub fn registry() -> Arc<Registry<Scheduler>> {
    static REGISTRY: OnceLock<Arc<Registry<Scheduler>>> = OnceLock::new();
    let built = || attr::registry().expect("a test builds the registry and finds no fault");
    Arc::clone(REGISTRY.get_or_init(|| Arc::new(built())))
}

impl Handle {
    /// Answers a request for a caller. One that names no entity is asked within the caller's session.
    ///
    /// # Errors
    /// A bound that the request exceeds.
    pub fn query(&self, caller: &Caller, request: &Boundary, is_lenient: bool) -> Result<Answer, Refusal> {
        let prepared = self.plan(caller, request.clone())?;
        self.run(caller, &prepared, is_lenient)
    }

    /// The way to the engine that queries take.
    pub fn access<'a>(&'a self, caller: &'a Caller) -> QueryAccess<'a> {
        QueryAccess { handle: self, caller, now: self.now() }
    }

    /// The graph that is asked.
    pub fn registry(&self) -> &Arc<Registry<Scheduler>> {
        &self.shared.registry
    }
}

/// One caller's access while one query runs.
pub struct QueryAccess<'a> {
    handle: &'a Handle,
    caller: &'a Caller,
    /// The moment that all of the query is of.
    now: Now,
}

impl Access<Scheduler> for QueryAccess<'_> {
    fn look(&mut self, reading: &mut dyn FnMut(Seen<'_, Scheduler>)) {
        let core = self.handle.core();
        let view = View {
            state: &core.state,
            zones: &self.handle.shared.zones,
            decisions: core.feed.decisions(),
            transcripts: &self.handle.shared.hosts,
            registry: &self.handle.shared.registry,
            scope: &self.caller.scope,
            now: self.now,
            made: Made::default(),
        };
        // Caught, so that the lock is not let go in a panic, which would poison it: readers change nothing.
        let read = catch_unwind(AssertUnwindSafe(|| reading(&view)));
        drop(view);
        drop(core);
        read.unwrap_or_else(|panic| resume_unwind(panic));
    }

    fn act(&mut self, acting: &mut dyn FnMut(&dyn Hands)) {
        acting(&CallerHands::new(self.handle, self.caller));
        self.now = self.handle.now();
    }
}

impl Transcripts for Hosts {
    fn transcript(&self, session: &SessionRecord) -> Option<Transcript> {
        self.find(session.host())?.transcript(session.id())
    }
}

/// The answer as Pathom's boundary would send it, and beside a failure what was missing and why: Pathom keeps that to
/// itself, and who asks at night should not have to guess.
pub fn reply(request: &Boundary, answer: Answer) -> Map {
    match answer {
        Answer::Done(map) => map,
        Answer::Failed(failure) => failed(request, &failure),
    }
}

/// The error map of a request that failed.
pub fn failed(request: &Boundary, failure: &Failure) -> Map {
    let why = Map::new()
        .with("key", failure.key.clone())
        .with("cause", Value::keyword(failure.cause.name()))
        .with("message", failure.error.as_ref().map(|error| error.message.as_str()))
        .with("code", failure.error.as_ref().and_then(|error| error.code).map(Code::name))
        .with("data", failure.error.as_ref().map(|error| error.data.clone()));
    Failure::to_map(&request.query, &request.entity).with("reveille.error/why", why)
}
