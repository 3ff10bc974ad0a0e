//! The scheduler's subscriptions: which decisions, patches of a list, messages and turns they push, and when.
//!
//! Shape: a position in the feed of decisions, and what the client has seen so far. Nothing is reserved for a reader:
//! if a slow one finds that the feed has dropped decisions, it gets a mark instead.
//!
//! Invariant: everything that is pushed exists for the caller at the moment of pushing. A subscription with `after`
//! continues without a gap, or the first pushed item reports one. A subscription whose lists cannot be read ends with the error:
//! a list that lacks what is there would be wrong, and the client can resume after what it has got.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::subscription::Subscribed;
use crate::domain::{Caller, Code as Class, Cursor, Decision, DecisionKind};
use crate::edn::{Keyword, Map, Value};
use crate::engine::State;
use crate::graph::eql::{Boundary, Expr, ExprKey, Join, JoinTarget, Prop, Query, QueryAnswer};
use crate::limits::GRAPHQL_BATCH;
use crate::runtime::{Stopper, Subscription};
use crate::service::Service;
use crate::surface::graphql::error::{Code, GraphqlError, refusal};
use crate::surface::graphql::execution::execute::failed;
use crate::surface::graphql::operation::prepare::refused;
use crate::surface::graphql::operation::request::GraphqlRequest;
use crate::surface::graphql::schema::scheduler::{CHANGED, LAGGED, REMOVED, TRUNCATED, WHOLE};
use crate::surface::graphql::service::GraphqlService;

/// A running subscription.
pub struct Follower {
    graphql: Arc<GraphqlService>,
    caller: Caller,
    subscribed: Subscribed,
    feed: Subscription,
    what: Followed,
    /// Answers to push before the feed is read.
    first: Vec<String>,
    /// Whether a batch of the feed has been read.
    has_begun: bool,
    /// Whether nothing more is pushed.
    is_over: bool,
}

/// The content of a subscription.
enum Followed {
    /// The decisions that concern the caller.
    Events,
    /// The list of schedules that match this filter.
    Schedules(Map),
    /// The messages of a session, after the last one that the client has seen.
    Messages { session: Value, last: Option<Value> },
    /// The turn of a run, with what was pushed last.
    Turn { run: Value, pushed: String },
}

impl Follower {
    /// Starts a subscription.
    ///
    /// # Errors
    /// Returns what is wrong with the subscription.
    pub fn begin(
        graphql: &Arc<GraphqlService>,
        caller: &Caller,
        request: &GraphqlRequest,
    ) -> Result<Self, Vec<GraphqlError>> {
        let subscribed = graphql.subscribe(caller, request)?;
        let after = subscribed.params.keyword("after").filter(|after| !after.is_nil()).cloned();
        let handle = graphql.service().handle();
        // Taken before `open` reads the state, so that a change in between may be pushed twice but is never lost.
        let now = handle.view(State::cursor);
        let cursor = |after: &Option<Value>| match after.as_ref().map(place) {
            None => Ok(now),
            Some(Some(cursor)) => Ok(cursor),
            Some(None) => {
                Err(vec![GraphqlError::new(Class::Validation, "`after` is the cursor of what was seen last")])
            }
        };
        let (from, what) = match subscribed.field.as_str() {
            "events" => (cursor(&after)?, Followed::Events),
            "schedules" => {
                let is_filter = |(key, _): &(Value, Value)| *key != Value::keyword("after");
                let filter = subscribed.params.clone().into_iter().filter(is_filter).collect();
                (cursor(&after)?, Followed::Schedules(filter))
            }
            "turn" => {
                // A turn has no cursor: each answer shows the whole of it.
                let run = subscribed.params.keyword("run-id").cloned().unwrap_or(Value::Nil);
                (now, Followed::Turn { run, pushed: String::new() })
            }
            _ => {
                // Here `after` is the id of a message. The feed only tells when to look for new ones, so it starts now.
                let session = subscribed.params.keyword("session-id").cloned().unwrap_or(Value::Nil);
                (now, Followed::Messages { session, last: after.clone() })
            }
        };
        let feed = graphql.service().follow(caller, from);
        let feed = feed.map_err(|denial| vec![GraphqlError::new(Class::Forbidden, denial.to_string())])?;
        let (graphql, caller) = (Arc::clone(graphql), caller.clone());
        let (first, has_begun, is_over) = (Vec::new(), false, false);
        let mut follower = Self { graphql, caller, subscribed, feed, what, first, has_begun, is_over };
        follower.open(after.is_some()).map_err(|error| vec![error])?;
        Ok(follower)
    }

    /// Returns a handle that ends the subscription from another thread.
    pub fn stopper(&self) -> Stopper {
        self.feed.stopper()
    }

    /// Waits for answers. Returns `None` once the subscription has ended.
    pub fn wait(&mut self) -> Option<Vec<String>> {
        if !self.first.is_empty() {
            return Some(std::mem::take(&mut self.first));
        }
        // Bounded, so that a client which is far behind gets its answers in parts.
        let most = usize::try_from(GRAPHQL_BATCH.value).unwrap_or(usize::MAX);
        loop {
            if self.is_over {
                return None;
            }
            let batch = match self.what {
                // A turn goes on without decisions.
                Followed::Turn { .. } => self.feed.next_news(most)?,
                Followed::Events | Followed::Schedules(_) | Followed::Messages { .. } => {
                    self.feed.next_batch(most)?
                }
            };
            let answers = self.answers(&batch.decisions, batch.truncated).unwrap_or_else(|error| {
                // The client resumes after what it has got, so nothing may be pushed beyond this batch.
                self.is_over = true;
                vec![refusal(&[error])]
            });
            self.has_begun = true;
            // A batch may contain nothing for this caller.
            if !answers.is_empty() {
                return Some(answers);
            }
        }
    }

    /// Prepares the answers that are pushed before the feed is read.
    fn open(&mut self, is_resumed: bool) -> Result<(), GraphqlError> {
        // To open a subscription to a list is a query, so it waits for query time as every query does. What is pushed later is
        // asked for when the engine decides something, and not when the caller likes.
        if !matches!(self.what, Followed::Events) {
            let admitted = self.graphql.service().admit_query(&self.caller, None);
            admitted.map_err(|refusal| refused(&refusal))?;
        }
        match &mut self.what {
            Followed::Events => {}
            // A client that resumes has the list, and gets patches only.
            Followed::Schedules(_) if is_resumed => {}
            Followed::Schedules(_) => self.first = vec![self.whole(None)?],
            Followed::Turn { run, .. } => {
                if turn(self.graphql.service(), &self.caller, run)?.is_none() {
                    return Err(GraphqlError::new(Class::NotFound, "run not found"));
                }
                self.first = self.changed()?;
            }
            Followed::Messages { session, last } => {
                let Some(ids) = messages(self.graphql.service(), &self.caller, session, last.as_ref())?
                else {
                    return Err(GraphqlError::new(Class::NotFound, "session not found"));
                };
                if is_resumed {
                    self.first = self.pushed(ids);
                } else {
                    // Without `after`, only messages from now on are pushed.
                    *last = ids.last().cloned();
                }
            }
        }
        Ok(())
    }

    /// Returns the answers to a batch of decisions; `is_cut` says that decisions before it are missing.
    ///
    /// # Errors
    /// Why what is followed cannot be read.
    fn answers(&mut self, decisions: &[Decision], is_cut: bool) -> Result<Vec<String>, GraphqlError> {
        // A gap in the first batch comes from an old cursor, a later one from a client that reads too slowly.
        let mark = is_cut.then_some(if self.has_begun { LAGGED } else { TRUNCATED });
        let mine: Vec<&Decision> = decisions.iter().filter(|decision| self.concerns(decision)).collect();
        match &self.what {
            Followed::Events => {
                let at = |cursor: Cursor| Map::new().with(CURSOR, integer(cursor));
                // The mark has the cursor right before the first decision that is left, so that a client that resumes
                // from it misses nothing else.
                let first = decisions.first().map_or(self.feed.cursor(), |first| first.cursor);
                let before = Cursor::new(first.number().saturating_sub(1));
                let gap = mark.map(|mark| at(before).with(mark, true));
                let items = gap.into_iter().chain(mine.iter().map(|decision| at(decision.cursor)));
                Ok(items.map(|item| self.answer(&item)).collect())
            }
            // The missing decisions may be about any schedule, so only the whole list is correct after a gap.
            Followed::Schedules(_) if mark.is_some() => Ok(vec![self.whole(mark)?]),
            Followed::Schedules(filter) => {
                let mut ids: Vec<Value> = mine
                    .iter()
                    .filter_map(|decision| Some(decision.schedule()?.to_string().into()))
                    .collect();
                // One patch per batch has each schedule once, however often it changed.
                ids.sort();
                ids.dedup();
                if ids.is_empty() {
                    return Ok(Vec::new());
                }
                let listed = schedules(self.graphql.service(), &self.caller, filter)?;
                // Of the list, which may have thousands, only the few that changed; their ids are sorted.
                let found: BTreeSet<Value> =
                    listed.into_iter().filter(|id| ids.binary_search(id).is_ok()).collect();
                // A schedule outside the list counts as removed even if this client never had it: the server does not
                // remember what each client has.
                let (changed, removed): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| found.contains(id));
                let item = patch(self.feed.cursor(), changed).with(WHOLE, false).with(REMOVED, removed);
                Ok(vec![self.answer(&item)])
            }
            Followed::Messages { session, last } => {
                // A session that has been closed has no more messages.
                let ids = messages(self.graphql.service(), &self.caller, session, last.as_ref())?;
                Ok(self.pushed(ids.unwrap_or_default()))
            }
            Followed::Turn { .. } => self.changed(),
        }
    }

    /// Returns the turn that is followed, if there is one and what is selected of it has changed.
    fn changed(&mut self) -> Result<Vec<String>, GraphqlError> {
        let Followed::Turn { run, .. } = &self.what else { return Ok(Vec::new()) };
        // Asked before the answer is read, so that an end that comes in between is seen the next time.
        let stands = turn(self.graphql.service(), &self.caller, run)?.unwrap_or(TurnStands::NONE);
        let item = Map::new().with(TURN, run.clone());
        let answer = if stands.has_begun { self.answer(&item) } else { String::new() };
        self.is_over = stands.is_over;
        let Followed::Turn { pushed, .. } = &mut self.what else { return Ok(Vec::new()) };
        if answer.is_empty() || answer == *pushed {
            return Ok(Vec::new());
        }
        pushed.clone_from(&answer);
        Ok(vec![answer])
    }

    /// Returns the whole list as an answer, with a mark if it follows a gap.
    fn whole(&self, mark: Option<&str>) -> Result<String, GraphqlError> {
        let Followed::Schedules(filter) = &self.what else {
            return Ok(String::new());
        };
        let found = schedules(self.graphql.service(), &self.caller, filter)?;
        let item = patch(self.feed.cursor(), found).with(WHOLE, true).with(REMOVED, Vec::<Value>::new());
        Ok(self.answer(&mark.into_iter().fold(item, |item, mark| item.with(mark, true))))
    }

    /// Returns the answers for messages after the last one. An error comes first if messages in between are gone.
    fn pushed(&mut self, ids: Vec<Value>) -> Vec<String> {
        let Followed::Messages { last, .. } = &mut self.what else {
            return Vec::new();
        };
        // Messages of a session are numbered without gaps, so a larger number shows that some are missing.
        let expected = last.as_ref().and_then(number).map(|last| last.saturating_add(1));
        let has_gap =
            expected.zip(ids.first().and_then(number)).is_some_and(|(expected, first)| first > expected);
        if let Some(newest) = ids.last() {
            *last = Some(newest.clone());
        }
        let data = Map::new().with("truncated", true);
        let gap = GraphqlError {
            data: data.into(),
            ..GraphqlError::new(Code::Internal, "messages before this are no longer kept")
        };
        let gap = has_gap.then(|| refusal(&[gap]));
        let answers = ids.into_iter().map(|id| self.answer(&Map::new().with(MESSAGE, id)));
        gap.into_iter().chain(answers).collect()
    }

    /// Answers the subscription's selection for one item.
    fn answer(&self, item: &Map) -> String {
        self.graphql.event(&self.caller, &self.subscribed, item)
    }

    /// Returns whether a decision is for this caller.
    fn concerns(&self, decision: &Decision) -> bool {
        match &decision.session {
            Some(session) => self.caller.scope.covers(session),
            // Decisions about the engine are for operators, except that all clients learn that it stops.
            None => self.caller.scope.session().is_none() || decision.kind == DecisionKind::EngineStopping,
        }
    }
}

/// Creates a patch with these changed schedules.
fn patch(cursor: Cursor, changed: Vec<Value>) -> Map {
    let changed = changed.into_iter().map(|id| Value::from(Map::new().with(SCHEDULE, id)));
    Map::new().with(CURSOR, integer(cursor)).with(CHANGED, changed.collect::<Vec<_>>())
}

/// Returns the ids of the schedules that match a filter.
fn schedules(service: &Service, caller: &Caller, filter: &Map) -> Result<Vec<Value>, GraphqlError> {
    let join = join("psi.scheduler/schedules", filter.clone(), prop(SCHEDULE));
    // Strict: a list that its reader refuses is an error, and not an empty list.
    let row = ask(service, caller, join.into_iter().collect(), false)?;
    column(&row, "psi.scheduler/schedules", SCHEDULE)
}

/// Returns the ids of a session's messages after `last`, or `None` if the session does not exist for the caller.
fn messages(
    service: &Service,
    caller: &Caller,
    session: &Value,
    last: Option<&Value>,
) -> Result<Option<Vec<Value>>, GraphqlError> {
    let params = Map::new().with("after", last.cloned().unwrap_or(Value::Nil));
    let mut exprs: Vec<Expr> = prop("psi.agent-session/busy?");
    exprs.extend(join("psi.agent-session/messages", params, prop(MESSAGE)));
    // Strict, so that a wrong `after` is an error, and not an empty list. Every session has the first attribute, so that only a
    // session that does not exist is not found.
    let found = match entity(service, caller, ("psi.agent-session/session-id", session), exprs, false) {
        Err(error) if error.code == Some(Class::NotFound.into()) => return Ok(None),
        found => found?,
    };
    found.map(|found| column(&found, "psi.agent-session/messages", MESSAGE)).transpose()
}

/// How the turn of a run stands.
struct TurnStands {
    has_begun: bool,
    is_over: bool,
}

impl TurnStands {
    /// There is no turn, and there will be none.
    const NONE: TurnStands = TurnStands { has_begun: false, is_over: true };
}

/// Returns how the turn of a run stands, or `None` if the run does not exist for the caller.
fn turn(service: &Service, caller: &Caller, run: &Value) -> Result<Option<TurnStands>, GraphqlError> {
    let mut exprs: Vec<Expr> =
        ["reveille.run/state", "reveille.run/finished-at"].into_iter().flat_map(prop).collect();
    let of_turn = [TURN, "reveille.turn/ended-at"].into_iter().flat_map(prop).collect();
    exprs.extend(join("reveille.run/turn", Map::new(), of_turn));
    // Lenient, because a strict query fails for a run that does not exist, and nothing here can be refused for its parameters.
    let found = entity(service, caller, ("reveille.run/id", run), exprs, true)?;
    // Every run has this attribute, so its absence means that there is no such run.
    Ok(found.filter(|found| found.keyword("reveille.run/state").is_some()).as_ref().map(turn_of))
}

/// Returns how the turn of a run stands, by what was asked of the run.
fn turn_of(found: &Map) -> TurnStands {
    let is_set = |map: &Map, attribute: &str| map.keyword(attribute).is_some_and(|value| !value.is_nil());
    let turn = found.keyword("reveille.run/turn").and_then(Value::as_map);
    let has_begun = turn.is_some_and(|turn| is_set(turn, TURN));
    let is_over = match turn.filter(|_| has_begun) {
        Some(turn) => is_set(turn, "reveille.turn/ended-at"),
        // A run that ended before its turn began never has one.
        None => is_set(found, "reveille.run/finished-at"),
    };
    TurnStands { has_begun, is_over }
}

/// Returns these attributes of one entity. An entity that does not exist has none of them, or is not found in a strict query.
fn entity(
    service: &Service,
    caller: &Caller,
    (attribute, id): (&str, &Value),
    exprs: Vec<Expr>,
    is_lenient: bool,
) -> Result<Option<Map>, GraphqlError> {
    let Ok(attribute) = Keyword::new(attribute) else { return Ok(None) };
    let ident = ExprKey::Ident(attribute, id.clone());
    let target = JoinTarget::Query(Query { exprs, meta: None });
    let key = ident.to_value();
    let exprs = vec![Expr::Join(Join { key: ident, params: None, target })];
    let row = ask(service, caller, exprs, is_lenient)?;
    Ok(row.get(&key).and_then(Value::as_map).cloned())
}

/// Runs an EQL query as the caller, as part of what is pushed to it.
///
/// # Errors
/// Why there is no answer: a limit that is exceeded, or what the reader of an attribute refuses.
fn ask(service: &Service, caller: &Caller, exprs: Vec<Expr>, is_lenient: bool) -> Result<Map, GraphqlError> {
    let lenient = Some(is_lenient);
    let request = Boundary { query: Query { exprs, meta: None }, entity: Map::new(), lenient, as_of: None };
    // Admitted as the item itself is. Its time counts, so the caller's next query waits for it.
    let answer = service.admit_item(caller).and_then(|access| service.query_with(access, &request));
    match answer.map_err(|refusal| refused(&refusal))? {
        QueryAnswer::Done(row) => Ok(row),
        QueryAnswer::Failed(failure) => Err(failed(failure)),
    }
}

/// Returns one attribute of each entity in a list.
///
/// # Errors
/// There is no list, because its reader failed.
fn column(row: &Map, list: &str, attr: &str) -> Result<Vec<Value>, GraphqlError> {
    let unread = || GraphqlError::new(Code::Internal, format!("the list {list} cannot be read"));
    let items = row.keyword(list).and_then(Value::as_items).ok_or_else(unread)?;
    Ok(items.iter().filter_map(|item| item.as_map()?.keyword(attr).cloned()).collect())
}

fn prop(attr: &str) -> Vec<Expr> {
    let prop = |attr| Expr::Prop(Prop { key: ExprKey::Attr(attr), params: None });
    Keyword::new(attr).map(prop).into_iter().collect()
}

fn join(attr: &str, params: Map, exprs: Vec<Expr>) -> Option<Expr> {
    let target = JoinTarget::Query(Query { exprs, meta: None });
    Some(Expr::Join(Join { key: ExprKey::Attr(Keyword::new(attr).ok()?), params: Some(params), target }))
}

/// Parses the cursor that a client sends back.
fn place(after: &Value) -> Option<Cursor> {
    after.as_str()?.parse().ok().map(Cursor::new)
}

/// Returns the number of a message, which follows the session's id and a `#`.
fn number(id: &Value) -> Option<u64> {
    id.as_str()?.rsplit_once('#')?.1.parse().ok()
}

fn integer(cursor: Cursor) -> i64 {
    i64::try_from(cursor.number()).unwrap_or(i64::MAX)
}

const CURSOR: &str = "reveille.decision/cursor";
const SCHEDULE: &str = "psi.scheduler/schedule-id";
const MESSAGE: &str = "reveille.message/id";
const TURN: &str = "reveille.turn/run-id";
