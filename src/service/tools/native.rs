//! One call of the crate's own tools: arguments in, the tool's own answer out.
//!
//! Changes are made by the graph's mutations, and answers are read from the graph, so that the walls between sessions
//! are the graph's. What lives elsewhere: words and shapes (`dialect::native`), rules (`engine`).

use super::super::Service;
use super::super::admission::Admitted;
use super::super::mutations::{CallerMutator, refused, wrong};
use crate::calendar::PhraseContext;
use crate::dialect::native::{self, Call, ListParams, ScheduleRef, Tool};
use crate::dialect::{Answer, Notation, REQUEST_CAPS, brief, psi};
use crate::domain::{Caller, Code, Dialect, Refusal, ScheduleId, Status};
use crate::edn::{Map, Value, read};
use crate::engine::{SessionRecord, State, Verdict};
use crate::graph::eql::{self, Boundary};
use crate::graph::mutation::{
    ChangeRequest, CountParams, CreateSchedule, Mutation, PauseRequest, ReasonParams, Reschedule,
    SessionParams, TakeRequest, WhichParams,
};
use crate::graph::params::IdText;
use crate::graph::registry::ResolverError;
use crate::graph::view::AdmittedMutation as _;
use crate::runtime::Handle;

/// A call of one of our own tools.
pub(super) struct NativeCall<'a> {
    pub(super) service: &'a Service,
    pub(super) admitted: Admitted<'a>,
}

impl<'a> NativeCall<'a> {
    fn handle(&self) -> &'a Handle {
        self.service.handle()
    }

    fn caller(&self) -> &'a Caller {
        self.admitted.caller()
    }

    fn mutator(&self) -> CallerMutator<'a> {
        CallerMutator { service: self.service, admitted: self.admitted, tool: Some(Dialect::Native) }
    }

    pub(super) fn call(&self, tool: Tool, args: &Value, notation: Notation) -> Answer {
        let call = match native::parse(tool, args, notation) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let done = match call {
            Call::Create(params) => self.create(*params),
            Call::List(listing) => self.list(&listing),
            Call::Cancel(which) => self.cancel(&which),
            Call::Change(which, change, revision) => self.change(&which, (*change, revision)),
            Call::Pause(which, paused, revision) => self.pause(&which, (paused, revision)),
            Call::Explain(which, at) => self.explain(&which, at.map(|at| at.to_string())),
            Call::Inbox { first, waits } => self.take(first, waits),
            Call::Query(boundary) => self.query(&boundary),
        };
        done.unwrap_or_else(|error| {
            let (now, zones) = (self.handle().now().wall, self.handle().zones());
            let own = self.handle().view(|state| state.zone_of(self.caller().scope.session()).cloned());
            let asked = PhraseContext { now, zone: zones.usual(own.as_ref()).clone(), zones };
            native::refused(tool, args, notation, &error, &asked)
        })
    }

    fn create(&self, params: CreateSchedule) -> Result<Answer, ResolverError> {
        let made = self.act(Mutation::Create(Box::new(params)))?;
        let schedule = self.shown(&made);
        Ok(native::created(&made, &schedule))
    }

    fn list(&self, listing: &ListParams) -> Result<Answer, ResolverError> {
        let mut params = Map::new().with("first", i64::try_from(listing.first).unwrap_or(i64::MAX));
        if let Some(after) = &listing.after {
            params = params.with("after", &**after);
        }
        if !listing.all {
            let status = |status: &Status| Value::keyword(status.name());
            params = params.with("status", LIVE.iter().map(status).collect::<Vec<_>>());
        }
        let page = self.ask(PAGE, &joined(PAGE, params, LISTED))?;
        let page = page.as_map().ok_or_else(|| absent("there is no such session"))?;
        let is_empty = page.keyword(TOTAL).and_then(Value::as_int) == Some(0);
        let asked = self.caller().scope.session();
        // Of a message a list shows the beginning, so the graph is not asked for fifty whole ones.
        self.handle().view(|state| {
            // One that was closed may have schedules that outlived it.
            let session = asked.and_then(|session| state.session(session));
            if let Some(asked) = asked.filter(|_| is_empty && session.is_none()) {
                return Err(refused(&Refusal::UnknownSession { session: asked.clone() }));
            }
            let message = |id: &str| {
                let record = state.schedule(&ScheduleId::new(id).ok()?)?;
                Some(brief::text(record.schedule().payload.text()))
            };
            let inbox = session.map_or(0, SessionRecord::inbox_len);
            Ok(native::listed(page, message, inbox, self.handle().now().wall))
        })
    }

    fn cancel(&self, which: &ScheduleRef) -> Result<Answer, ResolverError> {
        // A cancel has no revision: what the schedule says by now does not matter to a caller that wants it gone.
        let params = self.which(which, None)?;
        let id = params.schedule.0.clone();
        self.act(Mutation::Cancel(Box::new(params)))?;
        Ok(native::cancelled(&id))
    }

    fn change(
        &self,
        which: &ScheduleRef,
        (change, revision): (ChangeRequest, Option<u32>),
    ) -> Result<Answer, ResolverError> {
        let params = Reschedule { which: self.which(which, revision)?, change };
        let made = self.act(Mutation::Reschedule(Box::new(params)))?;
        // Read through the graph, so that the answer shows only what the caller may see.
        let schedule = self.shown(&made);
        Ok(native::updated(&made, &schedule))
    }

    fn pause(
        &self,
        which: &ScheduleRef,
        (paused, revision): (bool, Option<u32>),
    ) -> Result<Answer, ResolverError> {
        let which = self.which(which, revision)?;
        let mutation = if paused {
            Mutation::Pause(Box::new(PauseRequest { which, why: ReasonParams { reason: None } }))
        } else {
            Mutation::Resume(Box::new(which))
        };
        let made = self.act(mutation)?;
        let schedule = self.shown(&made);
        Ok(native::updated(&made, &schedule))
    }

    fn explain(&self, which: &ScheduleRef, at: Option<String>) -> Result<Answer, ResolverError> {
        let mut params = Map::new().with("schedule-id", self.named(which)?.to_string());
        if let Some(at) = at {
            params = params.with("at", at);
        }
        let explained = self.ask(EXPLAIN, &joined(EXPLAIN, params, EXPLAINED))?;
        let verdict = explained.as_map().and_then(|map| map.keyword("reveille.explanation/verdict"));
        let verdict = verdict.and_then(Value::as_keyword).and_then(|word| Verdict::parse(word.as_str()));
        // For the graph an unknown schedule is a verdict, for a tool it is an error.
        if verdict == Some(Verdict::UnknownSchedule) {
            return Err(absent("schedule not found"));
        }
        let id = explained.as_map().and_then(|map| map.keyword("reveille.explanation/schedule-id"));
        let id = id.and_then(Value::as_str).unwrap_or_default();
        // Absent if the schedule has been dropped, and only the log knows of it.
        let schedule = self.ask("", &ident(ID, id, TOLD)).unwrap_or(Value::Nil);
        Ok(native::explained(&explained, schedule.as_map().unwrap_or(&Map::new())))
    }

    fn take(&self, first: u32, waits: bool) -> Result<Answer, ResolverError> {
        let request =
            TakeRequest { of: SessionParams { session: None }, count: CountParams { first: Some(first) } };
        Ok(native::taken(&self.act(Mutation::TakeMessages(Box::new(request)))?, waits))
    }

    fn query(&self, boundary: &Boundary) -> Result<Answer, ResolverError> {
        // The tool is declared to read only, and a model may call it without approval.
        let reader = self.caller().reading();
        match self.service.query(&reader, boundary, true) {
            Ok(answer) => Ok(psi::queried(boundary, answer)),
            Err(refusal) => Err(exceeded(&refusal)),
        }
    }

    fn act(&self, mutation: Mutation) -> Result<Map, ResolverError> {
        // The call of the tool was admitted as this operation, so the mutation is not admitted again.
        let made = self.mutator().carry_out(mutation)?;
        Ok(made.as_map().cloned().unwrap_or_default())
    }

    /// The schedule that was named, as a parameter of mutations.
    fn which(&self, which: &ScheduleRef, base_revision: Option<u32>) -> Result<WhichParams, ResolverError> {
        let schedule = IdText(self.named(which)?.to_string().into());
        Ok(WhichParams { schedule, base_revision })
    }

    /// The current state of the schedule that a mutation has created or changed. If it cannot be read, only the id: the change is
    /// made, and a caller that gets an error makes it again.
    fn shown(&self, made: &Map) -> Map {
        let id = made.keyword(ID).and_then(Value::as_str).unwrap_or_default();
        let query = ident(ID, id, SHOWN);
        let shown = boundary(&query)
            .and_then(|boundary| answered("", self.service.query_changed(self.admitted, &boundary)));
        let shown = shown.ok().and_then(|schedule| schedule.as_map().cloned());
        shown.unwrap_or_else(|| Map::new().with(ID, id))
    }

    /// The id of the schedule that was named. A key is looked up within the caller's session only.
    fn named(&self, which: &ScheduleRef) -> Result<ScheduleId, ResolverError> {
        let key = match which {
            ScheduleRef::Id(id) => return Ok(id.clone()),
            ScheduleRef::Key(key) => key,
        };
        let session = self.caller().scope.session();
        let session = session.ok_or_else(|| wrong("key", "left out by who speaks for no session", None))?;
        let of_key = |state: &State| {
            let record = state.schedule_by_key(session, Dialect::Native, key);
            record.map(|record| record.schedule().id.clone())
        };
        self.handle().view(of_key).ok_or_else(|| absent("there is no schedule of this key"))
    }

    /// The result of a query with one join. `attribute` is the join's, or empty for an ident.
    fn ask(&self, attribute: &str, query: &str) -> Result<Value, ResolverError> {
        answered(attribute, self.service.query(self.caller(), &boundary(query)?, false))
    }
}

fn boundary(query: &str) -> Result<Boundary, ResolverError> {
    let form = read(query.as_bytes(), &REQUEST_CAPS).map_err(|error| unread(&error.to_string()))?;
    Boundary::read(&form).map_err(|error| unread(&error.to_string()))
}

/// The result of the only join of a query.
fn answered(
    attribute: &str,
    answer: Result<eql::QueryAnswer, eql::QueryRefusal>,
) -> Result<Value, ResolverError> {
    match answer {
        Ok(eql::QueryAnswer::Done(map)) => {
            let value = if attribute.is_empty() {
                map.iter().next().map(|(_, value)| value)
            } else {
                map.keyword(attribute)
            };
            Ok(value.cloned().unwrap_or(Value::Nil))
        }
        Ok(eql::QueryAnswer::Failed(failure)) => {
            Err(failure.error.unwrap_or_else(|| absent("schedule not found")))
        }
        Err(refusal) => Err(exceeded(&refusal)),
    }
}

/// A query with one join by an ident.
fn ident(attribute: &str, id: &str, shape: &str) -> String {
    format!("[{{[:{attribute} {}] {shape}}}]", Value::from(id))
}

/// A query with one join with parameters.
fn joined(attribute: &str, params: Map, shape: &str) -> String {
    format!("[{{(:{attribute} {}) {shape}}}]", Value::Map(params))
}

fn absent(message: &str) -> ResolverError {
    ResolverError::new(message, Map::new()).coded(Code::NotFound)
}

fn exceeded(refusal: &eql::QueryRefusal) -> ResolverError {
    ResolverError::new(refusal.to_string(), refusal.to_map()).coded(Code::Limit)
}

/// The error for an argument that makes the query unreadable.
fn unread(error: &str) -> ResolverError {
    ResolverError::new(error, Map::new()).coded(Code::Validation)
}

const ID: &str = "psi.scheduler/schedule-id";
const PAGE: &str = "psi.scheduler/schedule-page";
const TOTAL: &str = "reveille.schedule-page/total-count";
const EXPLAIN: &str = "reveille/explain";
/// The statuses of schedules that have not ended.
const LIVE: [Status; 3] = [Status::Pending, Status::Queued, Status::Paused];
const SHOWN: &str = "[:psi.scheduler/schedule-id :psi.scheduler/label :psi.scheduler/status :psi.scheduler/when \
                     :psi.scheduler/zone :psi.scheduler/upcoming :psi.scheduler/revision :psi.scheduler/durability]";
const LISTED: &str = "[:reveille.schedule-page/total-count :reveille.schedule-page/has-next? \
                      :reveille.schedule-page/end-cursor {:reveille.schedule-page/schedules \
                      [:psi.scheduler/schedule-id :psi.scheduler/label :psi.scheduler/status :psi.scheduler/when \
                      :psi.scheduler/next-fire-at]}]";
const TOLD: &str = "[:psi.scheduler/label :psi.scheduler/when :psi.scheduler/status :psi.scheduler/message]";
const EXPLAINED: &str = "[:reveille.explanation/schedule-id :reveille.explanation/sentence \
                         :reveille.explanation/verdict :reveille.explanation/reason \
                         :reveille.explanation/slot :reveille.explanation/at :reveille.explanation/late-ms \
                         :reveille.explanation/run-id :reveille.explanation/obstacles \
                         :reveille.explanation/next-fire-at]";
