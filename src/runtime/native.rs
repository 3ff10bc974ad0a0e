//! One call of the crate's own tools: arguments in, the tool's own answer out.
//!
//! What is changed is changed by the graph's mutations, and what is shown is read off the graph, so that the walls between
//! sessions are the graph's. What lives elsewhere: words and shapes (`dialect::native`), rules (`engine`).

use super::handle::Handle;
use super::hands::{CallerHands, wrong};
use crate::dialect::native::{self, Call, Listing, Named, Tool};
use crate::dialect::{Answer, Notation, REQUEST_CAPS, psi};
use crate::domain::{Caller, Code, Dialect, Durability, Right, ScheduleId, Status};
use crate::edn::{Map, Value, read};
use crate::engine::{State, Verdict};
use crate::graph::eql::{self, Boundary};
use crate::graph::mutation::{
    Change, CreateSchedule, Mutation, Pause, ReasonParams, Reschedule, WhichParams,
};
use crate::graph::params::IdText;
use crate::graph::registry::ResolverError;
use crate::graph::view::Mutator as _;

impl Handle {
    pub(super) fn call_native(
        &self,
        tool: Tool,
        caller: &Caller,
        args: &Value,
        notation: Notation,
    ) -> Answer {
        let call = match native::parse(tool, args, notation) {
            Ok(call) => call,
            Err(answer) => return answer,
        };
        let done = match call {
            Call::Create(params) => self.create_native(caller, *params),
            Call::List(listing) => self.list_native(caller, &listing),
            Call::Cancel(which) => self.cancel_native(caller, &which),
            Call::Change(which, change, revision) => self.change_native(caller, &which, (*change, revision)),
            Call::Pause(which, paused) => self.pause_native(caller, &which, paused),
            Call::Explain(which, at) => self.explain_native(caller, &which, at.map(|at| at.to_string())),
            Call::Query(boundary) => self.query_native(caller, &boundary),
        };
        done.unwrap_or_else(|error| native::refused(tool, args, notation, &error))
    }

    fn create_native(&self, caller: &Caller, mut params: CreateSchedule) -> Result<Answer, ResolverError> {
        // On disk where there is one; the answer says so where there is none.
        let keeps = self.store_health().is_some();
        let durability = if keeps { Durability::Durable } else { Durability::Volatile };
        params.new.durability = Some(durability);
        let made = self.act_native(caller, Mutation::Create(Box::new(params)))?;
        let schedule = self.shown_native(caller, &made)?;
        Ok(native::created(&made, &schedule))
    }

    fn list_native(&self, caller: &Caller, listing: &Listing) -> Result<Answer, ResolverError> {
        let mut params = Map::new().with("first", i64::try_from(listing.first).unwrap_or(i64::MAX));
        if let Some(after) = &listing.after {
            params = params.with("after", &**after);
        }
        if !listing.all {
            let status = |status: &Status| Value::keyword(status.name());
            params = params.with("status", LIVE.iter().map(status).collect::<Vec<_>>());
        }
        let page = self.ask_native(caller, PAGE, &joined(PAGE, params, LISTED))?;
        let page = page.as_map().ok_or_else(|| absent("there is no such session"))?;
        Ok(native::listed(page))
    }

    fn cancel_native(&self, caller: &Caller, which: &Named) -> Result<Answer, ResolverError> {
        let params = self.which_native(caller, which, None)?;
        let id = params.schedule.0.clone();
        self.act_native(caller, Mutation::Cancel(Box::new(params)))?;
        Ok(native::cancelled(&id))
    }

    fn change_native(
        &self,
        caller: &Caller,
        which: &Named,
        (change, revision): (Change, Option<u32>),
    ) -> Result<Answer, ResolverError> {
        let params = Reschedule { which: self.which_native(caller, which, revision)?, change };
        let made = self.act_native(caller, Mutation::Reschedule(Box::new(params)))?;
        let schedule = self.shown_native(caller, &made)?;
        Ok(native::updated(&made, &schedule))
    }

    fn pause_native(&self, caller: &Caller, which: &Named, paused: bool) -> Result<Answer, ResolverError> {
        let which = self.which_native(caller, which, None)?;
        let mutation = if paused {
            Mutation::Pause(Box::new(Pause { which, why: ReasonParams { reason: None } }))
        } else {
            Mutation::Resume(Box::new(which))
        };
        let made = self.act_native(caller, mutation)?;
        let schedule = self.shown_native(caller, &made)?;
        Ok(native::updated(&made, &schedule))
    }

    fn explain_native(
        &self,
        caller: &Caller,
        which: &Named,
        at: Option<String>,
    ) -> Result<Answer, ResolverError> {
        let mut params = Map::new().with("schedule-id", self.named_native(caller, which)?.to_string());
        if let Some(at) = at {
            params = params.with("at", at);
        }
        let explained = self.ask_native(caller, EXPLAIN, &joined(EXPLAIN, params, EXPLAINED))?;
        let verdict = explained.as_map().and_then(|map| map.keyword("reveille.explanation/verdict"));
        let verdict = verdict.and_then(Value::as_keyword).and_then(|word| Verdict::parse(word.as_str()));
        if verdict == Some(Verdict::UnknownSchedule) {
            return Err(absent("schedule not found"));
        }
        Ok(native::explained(&explained))
    }

    fn query_native(&self, caller: &Caller, boundary: &Boundary) -> Result<Answer, ResolverError> {
        // This tool is said to change nothing, and a model may call it without being asked.
        let reader = Caller { right: Right::Read, ..caller.clone() };
        match self.query(&reader, boundary, true) {
            Ok(answer) => Ok(psi::queried(boundary, answer)),
            Err(refusal) => Err(exceeded(&refusal)),
        }
    }

    fn act_native(&self, caller: &Caller, mutation: Mutation) -> Result<Map, ResolverError> {
        let hands = CallerHands { tool: Some(Dialect::Native), ..CallerHands::new(self, caller) };
        hands.admit()?;
        let made = hands.execute(mutation)?;
        Ok(made.as_map().cloned().unwrap_or_default())
    }

    /// The schedule that is meant, as mutations take it.
    fn which_native(
        &self,
        caller: &Caller,
        which: &Named,
        base_revision: Option<u32>,
    ) -> Result<WhichParams, ResolverError> {
        let schedule = IdText(self.named_native(caller, which)?.to_string().into());
        Ok(WhichParams { schedule, base_revision })
    }

    /// The schedule that a mutation has made or changed, as it stands.
    fn shown_native(&self, caller: &Caller, made: &Map) -> Result<Map, ResolverError> {
        let id = made.keyword(ID).and_then(Value::as_str).unwrap_or_default();
        let schedule = self.ask_native(caller, "", &ident(ID, id, SHOWN))?;
        Ok(schedule.as_map().cloned().unwrap_or_default())
    }

    /// The schedule that is meant; one of another session does not exist.
    fn named_native(&self, caller: &Caller, which: &Named) -> Result<ScheduleId, ResolverError> {
        let key = match which {
            Named::Id(id) => return Ok(id.clone()),
            Named::Key(key) => key,
        };
        let session = caller.scope.session();
        let session = session.ok_or_else(|| wrong("key", "left out by who speaks for no session", None))?;
        let of_key = |state: &State| {
            let record = state.asked_as(session, Dialect::Native, key);
            record.map(|record| record.schedule().id.clone())
        };
        self.view(of_key).ok_or_else(|| absent("there is no schedule of this key"))
    }

    /// What a query of one join leads to; `attribute` is the join's, and empty where it is an ident.
    fn ask_native(&self, caller: &Caller, attribute: &str, query: &str) -> Result<Value, ResolverError> {
        let form = read(query.as_bytes(), &REQUEST_CAPS).map_err(|error| unread(&error.to_string()))?;
        let boundary = Boundary::read(&form).map_err(|error| unread(&error.to_string()))?;
        match self.query(caller, &boundary, false) {
            Ok(eql::Answer::Done(map)) => {
                let value = if attribute.is_empty() {
                    map.iter().next().map(|(_, value)| value)
                } else {
                    map.keyword(attribute)
                };
                Ok(value.cloned().unwrap_or(Value::Nil))
            }
            Ok(eql::Answer::Failed(failure)) => {
                Err(failure.error.unwrap_or_else(|| absent("schedule not found")))
            }
            Err(refusal) => Err(exceeded(&refusal)),
        }
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

fn exceeded(refusal: &eql::Refusal) -> ResolverError {
    ResolverError::new(refusal.to_string(), refusal.to_map()).coded(Code::Limit)
}

/// A query of ours that cannot be read: an argument that no query can hold.
fn unread(error: &str) -> ResolverError {
    ResolverError::new(error, Map::new()).coded(Code::Validation)
}

const ID: &str = "psi.scheduler/schedule-id";
const PAGE: &str = "psi.scheduler/schedule-page";
const EXPLAIN: &str = "reveille/explain";
/// What has not ended.
const LIVE: [Status; 3] = [Status::Pending, Status::Queued, Status::Paused];
const SHOWN: &str = "[:psi.scheduler/schedule-id :psi.scheduler/label :psi.scheduler/status :psi.scheduler/when \
                     :psi.scheduler/zone :psi.scheduler/upcoming :psi.scheduler/revision :psi.scheduler/durability]";
const LISTED: &str = "[:reveille.schedule-page/total-count :reveille.schedule-page/has-next? \
                      :reveille.schedule-page/end-cursor {:reveille.schedule-page/schedules \
                      [:psi.scheduler/schedule-id :psi.scheduler/label :psi.scheduler/status :psi.scheduler/when \
                      :psi.scheduler/next-fire-at]}]";
const EXPLAINED: &str = "[:reveille.explanation/sentence :reveille.explanation/verdict :reveille.explanation/reason \
                         :reveille.explanation/slot :reveille.explanation/at :reveille.explanation/late-ms \
                         :reveille.explanation/run-id :reveille.explanation/obstacles \
                         :reveille.explanation/next-fire-at]";
