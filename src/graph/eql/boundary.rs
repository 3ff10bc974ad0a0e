//! Pathom's boundary interface: a query or a map around it, and one answer.
//!
//! Lives here: reading the request, and from parsing to answering in one call. Does not live here: any
//! transport.
//!
//! Source: `com.wsscode.pathom3.interface.eql`, `boundary-interface`.

use super::failure::{ERROR_DATA, ERROR_MESSAGE};
use super::{Answer, Failure, Limits, ParseError, ParseErrorKind, Planning, Query, Refusal, Request};
use super::{parse, plan, run};
use crate::domain::Moment;
use crate::edn::{Keyword, Map, Value};
use crate::graph::registry::{Access, Registry, Viewer, World};

/// A request as it came: `[…]`, or `{:pathom/eql […] :pathom/entity {…} :pathom/lenient-mode? true :reveille/as-of #inst …}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// What is asked.
    pub query: Query,
    /// What is known to begin with.
    pub entity: Map,
    /// The mode, if the request names one.
    pub lenient: Option<bool>,
    /// The instant as of which it is asked, if not now: ours, not Pathom's.
    pub as_of: Option<Moment>,
}

/// Who asks, and within which bounds.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// Who asks.
    pub viewer: Viewer,
    /// The mode of requests that name none.
    pub is_lenient: bool,
    /// The bounds.
    pub limits: Limits,
    /// Asked now and then: whether to give up.
    pub stop: &'a dyn Fn() -> bool,
}

impl Boundary {
    /// Reads a request.
    ///
    /// # Errors
    ///
    /// What is no query, with its place in the query; or a wrong part of the map around it.
    pub fn read(form: &Value) -> Result<Self, ParseError> {
        let Some(map) = form.as_map() else {
            return Ok(Self { query: parse(form)?, entity: Map::new(), lenient: None, as_of: None });
        };
        let part = |name: &str| map.keyword(name).filter(|value| !value.is_nil());
        let query = match (part("pathom/eql"), part("pathom/ast")) {
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
        let lenient = part("pathom/lenient-mode?").map(Value::is_truthy);
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
    /// A limit that it exceeds, or the callback's word to stop.
    pub fn answer<W: World>(
        &self,
        registry: &Registry<W>,
        caller: &Caller<'_>,
        access: &mut dyn Access<W>,
    ) -> Result<Answer, Refusal> {
        let seeds: Vec<Keyword> = self.entity.keys().filter_map(|key| key.as_keyword().cloned()).collect();
        let planning = Planning { seeds: &seeds, viewer: caller.viewer, limits: caller.limits };
        let plan = plan(&self.query, registry, &planning)?;
        let request = Request {
            plan: &plan,
            entity: &self.entity,
            is_lenient: self.lenient.unwrap_or(caller.is_lenient),
            limits: caller.limits,
            stop: caller.stop,
        };
        run(registry, &request, access)
    }

    /// Returns what Pathom's boundary would send: the answer, or the error map of a failed request.
    pub fn reply(&self, answer: Answer) -> Map {
        match answer {
            Answer::Done(map) => map,
            Answer::Failed(_) => Failure::to_map(&self.query, &self.entity),
        }
    }
}

impl ParseError {
    /// Returns what Pathom's boundary would send, with the place added.
    pub fn to_map(&self) -> Map {
        Map::new().with(ERROR_MESSAGE, self.eql_message()).with(ERROR_DATA, self.eql_data())
    }
}

/// An instant, as `#inst` or as an ISO string.
pub(in crate::graph) fn instant_of(value: &Value) -> Option<Moment> {
    let inst = value.as_inst().and_then(|inst| Moment::new(inst.seconds(), inst.nanos()));
    inst.or_else(|| Moment::parse(value.as_str()?).ok())
}

/// The key of the instant as of which a request is asked.
const AS_OF: &str = "reveille/as-of";

fn fault(kind: ParseErrorKind, form: &Value, key: Option<&str>) -> ParseError {
    let path = key.map(Value::keyword).into_iter().collect();
    ParseError { kind, form: form.clone(), path }
}
