//! A mutation, as it is declared and held.

use super::{AttrId, ParamFault, ParamGroups, ResolverError, Visibility, World};
use crate::edn::{Map, Value};

/// Reads the parameters of a call. It refuses one that is not declared, and it looks at nothing else.
pub(in crate::graph) type ReadCall<W> = fn(&Map) -> Result<<W as World>::Call, ParamFault>;

/// Changes the world as the call says, and returns what came of it.
pub(in crate::graph) type Act<W> =
    for<'a> fn(<W as World>::Hand<'a>, <W as World>::Call) -> Result<Value, ResolverError>;

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

/// What a mutation is called, means and takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MutationInfo {
    /// Its symbol.
    pub name: &'static str,
    /// One sentence for people.
    pub doc: &'static str,
    /// Its parameters.
    pub params: ParamGroups,
    /// Who may call it.
    pub visibility: Option<Visibility>,
}

/// A mutation as the registry holds it.
pub(in crate::graph) struct RegisteredMutation<W: World> {
    pub(in crate::graph) declared: Mutation<W>,
    pub(in crate::graph) outputs: Vec<AttrId>,
}

impl<W: World> Mutation<W> {
    /// Declares a mutation by its symbol, with the attributes that it answers.
    pub fn new(name: &'static str, output: &'static [&'static str], read: ReadCall<W>, act: Act<W>) -> Self {
        Self { name, doc: "", params: &[], output, visibility: None, read, act }
    }

    /// Says in one sentence what it does.
    #[must_use]
    pub fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Declares its parameters, as they are shown; `read` checks them.
    #[must_use]
    pub fn params(self, params: ParamGroups) -> Self {
        Self { params, ..self }
    }

    /// Says who may call it; to all others it does not exist.
    #[must_use]
    pub fn open_to(self, visibility: Visibility) -> Self {
        Self { visibility: Some(visibility), ..self }
    }

    /// Reads the parameters of a call, before anything is changed.
    pub(in crate::graph) fn read(&self, params: &Map) -> Result<W::Call, ResolverError> {
        (self.read)(params).map_err(|fault| fault.into_error(&self.name))
    }

    /// Carries out a call that was read, if the caller may call any and there is nothing wrong with it.
    pub(in crate::graph) fn call(
        &self,
        hand: W::Hand<'_>,
        call: Result<W::Call, ResolverError>,
    ) -> Result<Value, ResolverError> {
        // First who, then what: a caller without the right learns nothing of what would be wrong.
        W::admit(&hand)?;
        (self.act)(hand, call?)
    }
}
