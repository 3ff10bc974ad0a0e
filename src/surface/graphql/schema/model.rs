//! The schema in the executor's form: types by number, and fields with the sources of their values.
//!
//! Lives here: the types, and lookup by name. Does not live here: building them (`build.rs`), and async-graphql's form
//! of the schema (`async_graphql_schema.rs`).
//!
//! Invariant: every type number in a model is an index into the model's list of that kind.

use std::collections::BTreeMap;

use crate::edn::{Keyword, Symbol, Value};

/// The schema of one kind of viewer.
pub(in crate::surface::graphql) struct SchemaModel {
    pub(in crate::surface::graphql) objects: Vec<Object>,
    pub(in crate::surface::graphql) enums: Vec<Enum>,
    pub(in crate::surface::graphql) inputs: Vec<InputObject>,
    pub(in crate::surface::graphql) query: usize,
    pub(in crate::surface::graphql) mutation: Option<usize>,
    pub(in crate::surface::graphql) subscription: Option<usize>,
}

/// An object type.
pub(in crate::surface::graphql) struct Object {
    pub(in crate::surface::graphql) name: String,
    pub(super) doc: String,
    pub(in crate::surface::graphql) fields: Vec<Field>,
    pub(super) by_name: BTreeMap<String, usize>,
    /// Whether its fields are read from a map that is one attribute's value.
    pub(in crate::surface::graphql) is_record: bool,
}

/// A field of an object type.
pub(in crate::surface::graphql) struct Field {
    pub(in crate::surface::graphql) name: String,
    pub(super) doc: String,
    pub(super) is_deprecated: bool,
    pub(in crate::surface::graphql) args: Vec<Input>,
    pub(in crate::surface::graphql) out: Out,
    pub(in crate::surface::graphql) source: FieldSource,
    pub(in crate::surface::graphql) entries: Entries,
}

/// The type of a field. Entries of a list are never null.
#[derive(Clone, Copy)]
pub(in crate::surface::graphql) struct Out {
    pub(in crate::surface::graphql) leaf: Leaf,
    pub(in crate::surface::graphql) is_list: bool,
    pub(in crate::surface::graphql) is_nullable: bool,
}

/// How the entries of a field count towards the complexity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::surface::graphql) enum Entries {
    /// As one: a single value, or the list within a page, whose entries were counted at the page.
    One,
    /// As a list of assumed length.
    Listed,
    /// As many as the request asks for.
    Page,
}

/// The type of one value, apart from lists and null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::surface::graphql) enum Leaf {
    Scalar(Scalar),
    /// The number of an enum.
    Enum(usize),
    /// The number of an object type; in inputs, of an input object.
    Object(usize),
}

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::surface::graphql) enum Scalar {
    Int,
    Long,
    Float,
    Boolean,
    String,
    Id,
    DateTime,
    Json,
}

/// The source of a field's value.
pub(in crate::surface::graphql) enum FieldSource {
    /// An attribute of the row.
    Attr(Value),
    /// The row itself under another type: the entity of a payload, a part of the root, or the node of an edge.
    Itself,
    /// The entity whose key is the only argument. It exists if its witness, an attribute that is never null, does.
    Entity { key: Keyword, witness: Option<Value>, is_integer: bool },
    /// The result of a mutation.
    Mutation(Symbol),
    /// The item that a subscription pushes.
    Subscription,
}

/// An enum type: the names of keywords, with their constants.
pub(in crate::surface::graphql) struct Enum {
    pub(in crate::surface::graphql) name: String,
    pub(super) doc: String,
    pub(in crate::surface::graphql) values: Vec<(String, String)>,
}

/// An input object type.
pub(in crate::surface::graphql) struct InputObject {
    pub(in crate::surface::graphql) name: String,
    pub(super) doc: String,
    pub(in crate::surface::graphql) fields: Vec<Input>,
}

/// An argument, or a field of an input object.
pub(in crate::surface::graphql) struct Input {
    pub(in crate::surface::graphql) name: String,
    pub(super) doc: String,
    pub(in crate::surface::graphql) target: ArgTarget,
    pub(in crate::surface::graphql) ty: In,
    pub(in crate::surface::graphql) handed: KeyForm,
}

/// Where the value of an argument goes.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::surface::graphql) enum ArgTarget {
    /// To the parameter of this keyword.
    Param(Value),
    /// The argument is an object, and its fields go to the parameters of the call itself.
    Spread,
}

/// How the keys of maps in an argument are passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::surface::graphql) enum KeyForm {
    /// Unchanged.
    AsIs,
    /// As keywords, whether they are written `tool-ids` or `toolIds`.
    Keyed,
}

/// The type of an argument. Entries of a list are never null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::surface::graphql) struct In {
    pub(in crate::surface::graphql) leaf: Leaf,
    pub(in crate::surface::graphql) is_list: bool,
    pub(in crate::surface::graphql) is_required: bool,
}

impl SchemaModel {
    /// Finds the input type with this name: one that a variable may have.
    pub(in crate::surface::graphql) fn input_leaf(&self, name: &str) -> Option<Leaf> {
        let scalar = SCALARS.iter().find(|(scalar, _)| *scalar == name);
        let inputs = || self.inputs.iter().position(|input| input.name == name).map(Leaf::Object);
        let enums = || self.enums.iter().position(|each| each.name == name).map(Leaf::Enum);
        scalar.map(|(_, scalar)| Leaf::Scalar(*scalar)).or_else(inputs).or_else(enums)
    }

    /// Returns the name of an output type.
    pub(super) fn leaf_name(&self, leaf: Leaf) -> &str {
        match leaf {
            Leaf::Scalar(scalar) => scalar.name(),
            Leaf::Enum(number) => &self.enums[number].name,
            Leaf::Object(number) => &self.objects[number].name,
        }
    }

    /// Returns the name of an input type.
    pub(super) fn input_name(&self, leaf: Leaf) -> &str {
        match leaf {
            Leaf::Scalar(scalar) => scalar.name(),
            Leaf::Enum(number) => &self.enums[number].name,
            Leaf::Object(number) => &self.inputs[number].name,
        }
    }
}

impl Object {
    /// Finds a field by its name.
    pub(in crate::surface::graphql) fn field(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

impl Scalar {
    pub(in crate::surface::graphql) fn name(self) -> &'static str {
        SCALARS.iter().find(|(_, scalar)| *scalar == self).map_or("Json", |(name, _)| name)
    }
}

const SCALARS: [(&str, Scalar); 8] = [
    ("Int", Scalar::Int),
    ("Long", Scalar::Long),
    ("Float", Scalar::Float),
    ("Boolean", Scalar::Boolean),
    ("String", Scalar::String),
    ("ID", Scalar::Id),
    ("DateTime", Scalar::DateTime),
    ("Json", Scalar::Json),
];
