//! Pathom's boundary interface: the request (a query, or a map around one) and its answer.
//!
//! Contains: parsing the request, and a call that goes from there to the answer. Transports are elsewhere.
//!
//! Source: `com.wsscode.pathom3.interface.eql`, `boundary-interface`.

use super::failure::{ERROR_DATA, ERROR_MESSAGE};
use super::request_keys::{AS_OF, is_known};
use super::{
    Limits, ParseError, ParseErrorKind, Planning, Query, QueryAnswer, QueryFailure, QueryRefusal,
    QueryRequest,
};
use super::{parse, plan, run};
use crate::domain::Moment;
use crate::edn::{Keyword, Map, Value};
use crate::graph::registry::{Access, Registry, Viewer, World};

/// A parsed request: `[…]`, or `{:pathom/eql […] :pathom/entity {…} :pathom/lenient-mode? true :reveille/as-of #inst
/// …}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// The query.
    pub query: Query,
    /// The attributes that the caller provides for the root.
    pub entity: Map,
    /// Lenient or strict, if the request says which.
    pub lenient: Option<bool>,
    /// The past instant to query, if not now. This is ours, not Pathom's.
    pub as_of: Option<Moment>,
}

/// The caller of a query and the bounds that apply to it.
#[derive(Clone, Copy)]
pub struct QueryCaller<'a> {
    /// The caller.
    pub viewer: Viewer,
    /// Whether requests that do not choose a mode are lenient.
    pub is_lenient: bool,
    /// The bounds.
    pub limits: Limits,
    /// Polled while the query runs; true cancels it.
    pub stop: &'a dyn Fn() -> bool,
}

impl Boundary {
    /// Parses a request.
    ///
    /// # Errors
    ///
    /// Returns the form that is no valid query, with its path in the query, or the invalid entry of the request's
    /// map.
    pub fn read(form: &Value) -> Result<Self, ParseError> {
        let Some(map) = form.as_map() else {
            return Ok(Self { query: parse(form)?, entity: Map::new(), lenient: None, as_of: None });
        };
        if let Some(key) = map.keys().find(|key| !is_known(key)) {
            return Err(fault(ParseErrorKind::RequestKey, key, None));
        }
        // A nil entry counts as absent, as it does for Clojure callers.
        let part = |name: &str| map.keyword(name).filter(|value| !value.is_nil());
        let query = match (part("pathom/eql"), part("pathom/ast")) {
            // The query wins if a request has both.
            (Some(query), _) => parse(query)?,
            (None, Some(ast)) => Query::from_ast(ast)?,
            (None, None) => return Err(fault(ParseErrorKind::Request, form, None)),
        };
        let entity = match part("pathom/entity") {
            None => Map::new(),
            Some(entity) => match entity.as_map() {
                Some(map) => map.clone(),
                None => return Err(fault(ParseErrorKind::Entity, entity, Some("pathom/entity"))),
            },
        };
        let flag = |name| match part(name) {
            None => Ok(None),
            Some(given) => match given.as_bool() {
                Some(flag) => Ok(Some(flag)),
                None => Err(fault(ParseErrorKind::Flag, given, Some(name))),
            },
        };
        let lenient = flag("pathom/lenient-mode?")?;
        // Pathom's clients send it. It asks for figures as metadata, of which there are none here.
        flag("pathom/include-stats?")?;
        let as_of = match part(AS_OF) {
            None => None,
            Some(instant) => {
                let moment = instant_of(instant);
                Some(moment.ok_or_else(|| fault(ParseErrorKind::AsOf, instant, Some(AS_OF)))?)
            }
        };
        Ok(Self { query, entity, lenient, as_of })
    }

    /// Plans and runs the request.
    ///
    /// # Errors
    ///
    /// Returns the limit that the request exceeds, or [`QueryRefusal::Stopped`] if the `stop` callback returned true.
    pub fn answer<W: World>(
        &self,
        registry: &Registry<W>,
        caller: &QueryCaller<'_>,
        access: &mut dyn Access<W>,
    ) -> Result<QueryAnswer, QueryRefusal> {
        // A plan depends on which attributes are given, not on their values. A key that is no keyword is no attribute.
        let seeds: Vec<Keyword> = self.entity.keys().filter_map(|key| key.as_keyword().cloned()).collect();
        let planning = Planning { seeds: &seeds, viewer: caller.viewer, limits: caller.limits };
        let plan = plan(&self.query, registry, &planning)?;
        let request = QueryRequest {
            plan: &plan,
            entity: &self.entity,
            // What the request says comes first: the mode is part of Pathom's protocol.
            is_lenient: self.lenient.unwrap_or(caller.is_lenient),
            limits: caller.limits,
            stop: caller.stop,
        };
        run(registry, &request, access)
    }

    /// Returns what Pathom's boundary would send: the answer, or the error map of a failed request.
    pub fn reply(&self, answer: QueryAnswer) -> Map {
        match answer {
            QueryAnswer::Done(map) => map,
            QueryAnswer::Failed(_) => QueryFailure::to_map(&self.query, &self.entity),
        }
    }
}

impl ParseError {
    /// Returns the error map that Pathom's boundary would send, with the path of the form added to its data.
    pub fn to_map(&self) -> Map {
        Map::new().with(ERROR_MESSAGE, self.eql_message()).with(ERROR_DATA, self.eql_data())
    }
}

/// Parses an instant: `#inst` or an ISO string.
pub(in crate::graph) fn instant_of(value: &Value) -> Option<Moment> {
    let inst = value.as_inst().and_then(|inst| Moment::new(inst.seconds(), inst.nanos()));
    inst.or_else(|| Moment::parse(value.as_str()?).ok())
}

fn fault(kind: ParseErrorKind, form: &Value, key: Option<&str>) -> ParseError {
    let path = key.map(Value::keyword).into_iter().collect();
    ParseError { kind, form: form.clone(), path }
}
