//! A mutation, as it is declared and held.

use super::{AttrId, ResolverError, Visibility, World};
use crate::edn::{Map, Value};
use crate::graph::eql::Query;

/// Changes the world as the parameters say, and returns what came of it.
pub(in crate::graph) type Act<W> = for<'a> fn(<W as World>::Hand<'a>, &Map) -> Result<Value, ResolverError>;

/// The declaration of a mutation.
pub struct Mutation<W: World> {
    pub(in crate::graph) name: &'static str,
    pub(in crate::graph) doc: &'static str,
    /// The parameters that it cannot do without, without the colon.
    pub(in crate::graph) params: &'static [&'static str],
    pub(in crate::graph) output: &'static str,
    pub(in crate::graph) visibility: Option<Visibility>,
    pub(in crate::graph) act: Act<W>,
}

/// A mutation as the registry holds it.
pub(in crate::graph) struct Held<W: World> {
    pub(in crate::graph) declared: Mutation<W>,
    pub(in crate::graph) outputs: Vec<(AttrId, Option<Query>)>,
}

impl<W: World> Mutation<W> {
    /// Declares a mutation by its symbol. The output is EQL.
    pub fn new(name: &'static str, output: &'static str, act: Act<W>) -> Self {
        Self { name, doc: "", params: &[], output, visibility: None, act }
    }

    /// Says in one sentence what it does.
    #[must_use]
    pub fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Names the parameters that it cannot do without.
    #[must_use]
    pub fn requires(self, params: &'static [&'static str]) -> Self {
        Self { params, ..self }
    }

    /// Says who may call it; to all others it does not exist.
    #[must_use]
    pub fn open_to(self, visibility: Visibility) -> Self {
        Self { visibility: Some(visibility), ..self }
    }

    /// Calls it, if the parameters are there.
    pub(in crate::graph) fn call(&self, hand: W::Hand<'_>, params: &Map) -> Result<Value, ResolverError> {
        match self.params.iter().find(|name| params.keyword(name).is_none()) {
            None => (self.act)(hand, params),
            Some(name) => {
                let data = Map::new().with("missing", Value::keyword(name));
                Err(ResolverError::new(format!("Mutation {} requires parameter :{name}", self.name), data))
            }
        }
    }
}
