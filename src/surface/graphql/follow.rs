//! What the scheduler's subscriptions push: decisions, patches of a list, messages.
//!
//! Shape: a place in the feed of decisions, and what has been seen so far. Nothing is kept for a reader: one that is
//! slow finds the feed's oldest forgotten, and is told so.
//!
//! Invariant: what is pushed exists for the caller at the moment of pushing; `after` goes on without a gap, or the first
//! thing pushed says that there is one.

use std::sync::Arc;

use super::error::{Code, GraphqlError, refusal};
use super::request::GraphqlRequest;
use super::scheduler::{CHANGED, LAGGED, REMOVED, TRUNCATED, WHOLE};
use super::service::GraphqlService;
use super::subscription::Subscribed;
use crate::domain::{Caller, Code as Class, Cursor, Decision, DecisionKind};
use crate::edn::{Keyword, Map, Value};
use crate::engine::State;
use crate::graph::eql::{Boundary, Expr, ExprKey, Join, JoinTarget, Prop, Query, QueryAnswer};
use crate::limits::GRAPHQL_BATCH;
use crate::runtime::{Stopper, Subscription};
use crate::service::Service;

/// A subscription that is under way.
pub struct Follower {
    graphql: Arc<GraphqlService>,
    caller: Caller,
    subscribed: Subscribed,
    feed: Subscription,
    what: Followed,
    /// Answers that are to be pushed before the feed is asked.
    first: Vec<String>,
    has_begun: bool,
}

/// What is followed.
enum Followed {
    Events,
    /// The list of schedules that this filter finds.
    Schedules(Map),
    /// A session, and the message that was seen last.
    Messages {
        session: Value,
        last: Option<Value>,
    },
}

impl Follower {
    /// Begins to follow.
    ///
    /// # Errors
    /// What is wrong with the subscription.
    pub fn begin(
        graphql: &Arc<GraphqlService>,
        caller: &Caller,
        request: &GraphqlRequest,
    ) -> Result<Self, Vec<GraphqlError>> {
        let subscribed = graphql.subscribe(caller, request)?;
        let after = subscribed.params.keyword("after").filter(|after| !after.is_nil()).cloned();
        let handle = graphql.service().handle();
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
            _ => {
                let session = subscribed.params.keyword("session-id").cloned().unwrap_or(Value::Nil);
                (now, Followed::Messages { session, last: after.clone() })
            }
        };
        let feed = handle.subscribe(from);
        let (graphql, caller) = (Arc::clone(graphql), caller.clone());
        let (first, has_begun) = (Vec::new(), false);
        let mut follower = Self { graphql, caller, subscribed, feed, what, first, has_begun };
        follower.open(after.is_some())?;
        Ok(follower)
    }

    /// What ends it from another thread.
    pub fn stopper(&self) -> Stopper {
        self.feed.stopper()
    }

    /// Waits for answers; `None` when there will be no more.
    pub fn wait(&mut self) -> Option<Vec<String>> {
        if !self.first.is_empty() {
            return Some(std::mem::take(&mut self.first));
        }
        loop {
            let batch = self.feed.next_batch(usize::try_from(GRAPHQL_BATCH.value).unwrap_or(usize::MAX))?;
            let answers = self.answers(&batch.decisions, batch.truncated);
            self.has_begun = true;
            if !answers.is_empty() {
                return Some(answers);
            }
        }
    }

    /// What is pushed to begin with.
    fn open(&mut self, is_resumed: bool) -> Result<(), Vec<GraphqlError>> {
        match &mut self.what {
            Followed::Events => {}
            Followed::Schedules(_) if is_resumed => {}
            Followed::Schedules(_) => self.first = vec![self.whole(None)],
            Followed::Messages { session, last } => {
                let Some(ids) = messages(self.graphql.service(), &self.caller, session, last.as_ref()) else {
                    return Err(vec![GraphqlError::new(Class::NotFound, "session not found")]);
                };
                if is_resumed {
                    self.first = self.pushed(ids);
                } else {
                    *last = ids.last().cloned();
                }
            }
        }
        Ok(())
    }

    fn answers(&mut self, decisions: &[Decision], is_cut: bool) -> Vec<String> {
        let mark = is_cut.then_some(if self.has_begun { LAGGED } else { TRUNCATED });
        let mine: Vec<&Decision> = decisions.iter().filter(|decision| self.concerns(decision)).collect();
        match &self.what {
            Followed::Events => {
                let at = |cursor: Cursor| Map::new().with(CURSOR, integer(cursor));
                // The gap stands right before the first decision that is kept.
                let first = decisions.first().map_or(self.feed.cursor(), |first| first.cursor);
                let before = Cursor::new(first.number().saturating_sub(1));
                let gap = mark.map(|mark| at(before).with(mark, true));
                let items = gap.into_iter().chain(mine.iter().map(|decision| at(decision.cursor)));
                items.map(|item| self.answer(&item)).collect()
            }
            Followed::Schedules(_) if mark.is_some() => vec![self.whole(mark)],
            Followed::Schedules(filter) => {
                let mut ids: Vec<Value> = mine
                    .iter()
                    .filter_map(|decision| Some(decision.schedule()?.to_string().into()))
                    .collect();
                ids.sort();
                ids.dedup();
                if ids.is_empty() {
                    return Vec::new();
                }
                let found = schedules(self.graphql.service(), &self.caller, filter);
                let (changed, removed): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| found.contains(id));
                {
                    let item = patch(self.feed.cursor(), changed).with(WHOLE, false).with(REMOVED, removed);
                    vec![self.answer(&item)]
                }
            }
            Followed::Messages { session, last } => {
                let ids = messages(self.graphql.service(), &self.caller, session, last.as_ref())
                    .unwrap_or_default();
                self.pushed(ids)
            }
        }
    }

    /// The list as a whole.
    fn whole(&self, mark: Option<&str>) -> String {
        let Followed::Schedules(filter) = &self.what else {
            return String::new();
        };
        let found = schedules(self.graphql.service(), &self.caller, filter);
        let item = patch(self.feed.cursor(), found).with(WHOLE, true).with(REMOVED, Vec::<Value>::new());
        self.answer(&mark.into_iter().fold(item, |item, mark| item.with(mark, true)))
    }

    /// Messages that follow the last one. Where some between are no longer kept, an error says so.
    fn pushed(&mut self, ids: Vec<Value>) -> Vec<String> {
        let Followed::Messages { last, .. } = &mut self.what else {
            return Vec::new();
        };
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

    fn answer(&self, item: &Map) -> String {
        self.graphql.event(&self.caller, &self.subscribed, item)
    }

    fn concerns(&self, decision: &Decision) -> bool {
        match &decision.session {
            Some(session) => self.caller.scope.covers(session),
            None => self.caller.scope.session().is_none() || decision.kind == DecisionKind::EngineStopping,
        }
    }
}

fn patch(cursor: Cursor, changed: Vec<Value>) -> Map {
    let changed = changed.into_iter().map(|id| Value::from(Map::new().with(SCHEDULE, id)));
    Map::new().with(CURSOR, integer(cursor)).with(CHANGED, changed.collect::<Vec<_>>())
}

/// The ids of the schedules that a filter finds.
fn schedules(service: &Service, caller: &Caller, filter: &Map) -> Vec<Value> {
    let join = join("psi.scheduler/schedules", filter.clone(), prop(SCHEDULE));
    let row = ask(service, caller, join.into_iter().collect());
    column(row.as_ref(), "psi.scheduler/schedules", SCHEDULE)
}

/// The ids of a session's messages behind one of them; nothing where there is no such session.
fn messages(service: &Service, caller: &Caller, session: &Value, last: Option<&Value>) -> Option<Vec<Value>> {
    let params = Map::new().with("after", last.cloned().unwrap_or(Value::Nil));
    let mut exprs: Vec<Expr> = prop("psi.agent-session/busy?");
    exprs.extend(join("psi.agent-session/messages", params, prop(MESSAGE)));
    let ident = ExprKey::Ident(Keyword::new("psi.agent-session/session-id").ok()?, session.clone());
    let target = JoinTarget::Query(Query { exprs, meta: None });
    let key = ident.to_value();
    let row = ask(service, caller, vec![Expr::Join(Join { key: ident, params: None, target })])?;
    let found = row.get(&key)?.as_map()?;
    found.keyword("psi.agent-session/busy?")?;
    Some(column(Some(found), "psi.agent-session/messages", MESSAGE))
}

fn ask(service: &Service, caller: &Caller, exprs: Vec<Expr>) -> Option<Map> {
    let request =
        Boundary { query: Query { exprs, meta: None }, entity: Map::new(), lenient: Some(true), as_of: None };
    match service.query(caller, &request, true) {
        Ok(QueryAnswer::Done(row)) => Some(row),
        Ok(QueryAnswer::Failed(_)) | Err(_) => None,
    }
}

fn column(row: Option<&Map>, list: &str, attr: &str) -> Vec<Value> {
    let items = row.and_then(|row| row.keyword(list)).and_then(Value::as_items).unwrap_or_default();
    items.iter().filter_map(|item| item.as_map()?.keyword(attr).cloned()).collect()
}

fn prop(attr: &str) -> Vec<Expr> {
    let prop = |attr| Expr::Prop(Prop { key: ExprKey::Attr(attr), params: None });
    Keyword::new(attr).map(prop).into_iter().collect()
}

fn join(attr: &str, params: Map, exprs: Vec<Expr>) -> Option<Expr> {
    let target = JoinTarget::Query(Query { exprs, meta: None });
    Some(Expr::Join(Join { key: ExprKey::Attr(Keyword::new(attr).ok()?), params: Some(params), target }))
}

/// The place in the feed that a client hands back.
fn place(after: &Value) -> Option<Cursor> {
    after.as_str()?.parse().ok().map(Cursor::new)
}

/// The place of a message, which stands behind the session's id.
fn number(id: &Value) -> Option<u64> {
    id.as_str()?.rsplit_once('#')?.1.parse().ok()
}

fn integer(cursor: Cursor) -> i64 {
    i64::try_from(cursor.number()).unwrap_or(i64::MAX)
}

const CURSOR: &str = "reveille.decision/cursor";
const SCHEDULE: &str = "psi.scheduler/schedule-id";
const MESSAGE: &str = "reveille.message/id";
