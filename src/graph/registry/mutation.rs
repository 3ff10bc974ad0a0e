//! A mutation, as it is declared and held.

use super::{AttrId, Groups, ResolverError, Visibility, World, check};
use crate::edn::{Map, Value};
use crate::graph::eql::Query;

/// Changes the world as the parameters say, and returns what came of it.
pub(in crate::graph) type Act<W> = for<'a> fn(<W as World>::Hand<'a>, &Map) -> Result<Value, ResolverError>;

/// The declaration of a mutation.
pub struct Mutation<W: World> {
    pub(in crate::graph) name: &'static str,
    pub(in crate::graph) doc: &'static str,
    pub(in crate::graph) params: Groups,
    pub(in crate::graph) output: &'static str,
    pub(in crate::graph) visibility: Option<Visibility>,
    pub(in crate::graph) act: Act<W>,
}

/// What a mutation is called, means and takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MutationInfo {
    /// Its symbol.
    pub name: &'static str,
    /// One sentence for people.
    pub doc: &'static str,
    /// Its parameters.
    pub params: Groups,
    /// Who may call it.
    pub visibility: Option<Visibility>,
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

    /// Declares its parameters.
    #[must_use]
    pub fn params(self, params: Groups) -> Self {
        Self { params, ..self }
    }

    /// Says who may call it; to all others it does not exist.
    #[must_use]
    pub fn open_to(self, visibility: Visibility) -> Self {
        Self { visibility: Some(visibility), ..self }
    }

    /// Calls it, if the caller may call any, and if it takes these parameters.
    pub(in crate::graph) fn call(&self, hand: W::Hand<'_>, params: &Map) -> Result<Value, ResolverError> {
        // First who, then what: a caller without the right learns nothing of what would be wrong.
        W::admit(&hand)?;
        check(params, self.params).map_err(|fault| fault.into_error(&self.name))?;
        (self.act)(hand, params)
    }
}
