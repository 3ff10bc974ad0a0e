//! One query of the graph: planned, then run over one look at the engine. All surfaces come through here.
//!
//! Invariant: what is read between two mutations is read under one hold of the lock, and is of one moment; what a
//! caller may not see does not exist for it, whichever language it asks in.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use super::core::Core;
use super::handle::Handle;
use super::hands::CallerHands;
use super::hosts::Hosts;
use super::log;
use super::past::{Past, TranscriptsUntil};
use crate::domain::{BootTime, Caller, Code, Moment, Now, Transcript};
use crate::edn::{Map, Value};
use crate::engine::SessionRecord;
use crate::graph::attr;
use crate::graph::eql::{Answer, Boundary, Failure, Limits, Refusal};
use crate::graph::mutation::Mutation;
use crate::graph::older::Older;
use crate::graph::registry::{Access, Registry, ResolverError, Seen};
use crate::graph::view::{Made, Mutator, Scheduler, Transcripts, View};
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
        let now = self.now();
        let (since, older) = (Rc::new(Cell::new(now.boot)), Older::default());
        QueryAccess { handle: self, caller, now, since, past: None, older, has_acted: false }
    }

    /// The way to the engine as it was at an instant.
    ///
    /// # Errors
    /// [`Refusal::Past`]: what was at that instant is not kept.
    pub fn access_as_of<'a>(&'a self, caller: &'a Caller, at: Moment) -> Result<QueryAccess<'a>, Refusal> {
        let past = Some(self.past(at)?);
        Ok(QueryAccess { past, ..self.access(caller) })
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
    /// When it got hold of the engine last.
    since: Rc<Cell<BootTime>>,
    /// What is looked at, where that is not the present.
    past: Option<Past>,
    older: Older,
    has_acted: bool,
}

impl<'a> QueryAccess<'a> {
    /// Says when the query has kept all others waiting for too long. What it waited itself, for the lock or for a disk, does
    /// not count: who has just been promised something is not told that there was no time for the answer.
    pub fn stop(&self) -> impl Fn() -> bool + use<'a> {
        let (handle, since) = (self.handle, Rc::clone(&self.since));
        move || handle.now().boot.since(since.get()).millis() > limits::QUERY_MS.value
    }

    /// Fetches what the looks so far lacked; whether the query is to be asked again, because there was something. One that
    /// has changed anything is not.
    pub fn reach_back(&mut self) -> bool {
        let lacking = self.older.take_lacking();
        if self.has_acted || lacking.is_empty() {
            return false;
        }
        let Some(store) = self.handle.core().keeper.as_ref().map(|keeper| Arc::clone(&keeper.store)) else {
            return false;
        };
        let mut found = false;
        for schedule in lacking {
            // What cannot be read is not told; the doctor says what is wrong with it.
            if let Ok(told) = log::about(&*store, &schedule) {
                found |= !told.is_empty();
                self.older.tell(schedule, told);
            }
        }
        found
    }

    fn show(&self, core: &Core, reading: &mut dyn FnMut(Seen<'_, Scheduler>)) {
        let hosts = &self.handle.shared.hosts;
        let until = self.past.as_ref().map(|past| TranscriptsUntil { hosts, at: past.now.wall });
        let view = View {
            state: self.past.as_ref().map_or(&core.state, |past| &past.state),
            zones: &self.handle.shared.zones,
            decisions: self.past.as_ref().map_or(core.feed.decisions(), |past| &past.decisions),
            transcripts: until.as_ref().map_or(hosts, |until| until as &dyn Transcripts),
            registry: &self.handle.shared.registry,
            scope: &self.caller.scope,
            now: self.past.as_ref().map_or(self.now, |past| past.now),
            older: &self.older,
            untold: self.past.as_ref().map(|past| past.untold),
            undelivered: self.past.is_none().then(|| core.figures.undelivered()),
            made: Made::default(),
        };
        reading(&view);
    }
}

impl Access<Scheduler> for QueryAccess<'_> {
    fn look(&mut self, reading: &mut dyn FnMut(Seen<'_, Scheduler>)) {
        let core = self.handle.core();
        self.since.set(self.handle.now().boot);
        self.show(&core, reading);
    }

    fn act(&mut self, acting: &mut dyn FnMut(&dyn Mutator)) {
        if self.past.is_some() {
            return acting(&Bound);
        }
        self.has_acted = true;
        acting(&CallerHands::new(self.handle, self.caller));
        self.now = self.handle.now();
        self.since.set(self.now.boot);
    }
}

/// Hands on the past.
struct Bound;

impl Mutator for Bound {
    fn admit(&self) -> Result<(), ResolverError> {
        let message = "what was cannot be changed; ask without an instant in the past";
        Err(ResolverError::new(message, Map::new()).coded(Code::Conflict))
    }

    fn execute(&self, _mutation: Mutation) -> Result<Value, ResolverError> {
        self.admit().map(|()| Value::Nil)
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
