//! Mutations: the declaration, and what the registry stores of it.

use super::{AttrId, ParamFault, ParamGroups, ResolverError, Visibility, World};
use crate::edn::{Map, Value};

/// Parses the parameters of a call. It refuses one that is not declared, and it depends on nothing but the parameters.
pub(in crate::graph) type ReadCall<W> = fn(&Map) -> Result<<W as World>::Call, ParamFault>;

/// Executes a call and returns its answer. It gets an invalid call as its error, and admits the caller before it looks at that: a
/// caller without the right learns nothing about what would be wrong with the parameters.
pub(in crate::graph) type Act<W> = for<'a> fn(
    <W as World>::Hand<'a>,
    Result<<W as World>::Call, ResolverError>,
) -> Result<Value, ResolverError>;

/// The declaration of a mutation.
pub struct Mutation<W: World> {
    pub(in crate::graph) name: &'static str,
    pub(in crate::graph) doc: &'static str,
    pub(in crate::graph) params: ParamGroups,
    pub(in crate::graph) output: &'static [&'static str],
    pub(in crate::graph) visibility: Option<Visibility>,
    pub(in crate::graph) read: ReadCall<W>,
    pub(in crate::graph) act: Act<W>,
}

/// The name, meaning and parameters of a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MutationInfo {
    /// Its symbol.
    pub name: &'static str,
    /// The documentation, for people.
    pub(crate) doc: &'static str,
    /// Its parameters.
    pub params: ParamGroups,
    /// Who may call it.
    pub(crate) visibility: Option<Visibility>,
}

/// A mutation in the registry.
pub(in crate::graph) struct RegisteredMutation<W: World> {
    pub(in crate::graph) declared: Mutation<W>,
    pub(in crate::graph) outputs: Vec<AttrId>,
}

impl<W: World> Mutation<W> {
    /// Declares a mutation by its symbol, with the attributes of its answer.
    pub fn new(name: &'static str, output: &'static [&'static str], read: ReadCall<W>, act: Act<W>) -> Self {
        Self { name, doc: "", params: &[], output, visibility: None, read, act }
    }

    /// Sets the documentation.
    #[must_use]
    pub fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Sets the parameters that are shown; `read` checks those of a call.
    #[must_use]
    pub fn params(self, params: ParamGroups) -> Self {
        Self { params, ..self }
    }

    /// Sets who may call it; for all others it does not exist.
    #[must_use]
    pub fn open_to(self, visibility: Visibility) -> Self {
        Self { visibility: Some(visibility), ..self }
    }

    /// Parses the parameters of a call, before anything is changed.
    pub(in crate::graph) fn read(&self, params: &Map) -> Result<W::Call, ResolverError> {
        (self.read)(params).map_err(|fault| fault.into_error(&self.name))
    }

    /// Executes a parsed call, if the caller may call mutations at all and the parameters are valid.
    pub(in crate::graph) fn call(
        &self,
        hand: W::Hand<'_>,
        call: Result<W::Call, ResolverError>,
    ) -> Result<Value, ResolverError> {
        (self.act)(hand, call)
    }
}
