//! The schema as our executor sees it: types by number, fields with where their values come from.
//!
//! Lives here: the types, and finding a field by name. Does not live here: making them (`schema.rs`), and the same
//! schema as async-graphql's (`async_graphql_schema.rs`).
//!
//! Invariant: a number of a type that stands in a model is an index into it.

use std::collections::BTreeMap;

use crate::edn::{Keyword, Symbol, Value};

/// The schema of one kind of viewer.
pub(super) struct SchemaModel {
    pub(super) objects: Vec<Object>,
    pub(super) enums: Vec<Enum>,
    pub(super) inputs: Vec<InputObject>,
    pub(super) query: usize,
    pub(super) mutation: Option<usize>,
    pub(super) subscription: Option<usize>,
}

/// An object type.
pub(super) struct Object {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) fields: Vec<Field>,
    pub(super) by_name: BTreeMap<String, usize>,
    /// Whether it is read off one map, which is an attribute's value.
    pub(super) is_record: bool,
}

/// A field of an object type.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) is_deprecated: bool,
    pub(super) args: Vec<Input>,
    pub(super) out: Out,
    pub(super) source: FieldSource,
    pub(super) entries: Entries,
}

/// What a field yields. Entries of a list are never null.
#[derive(Clone, Copy)]
pub(super) struct Out {
    pub(super) leaf: Leaf,
    pub(super) is_list: bool,
    pub(super) is_nullable: bool,
}

/// How many entries a field is reckoned with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entries {
    /// One; or those of a page, which have been counted where it is asked for.
    One,
    /// Those of a list of unknown length.
    Listed,
    /// As many as are asked for.
    Page,
}

/// What one value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaf {
    Scalar(Scalar),
    /// Number of an enum.
    Enum(usize),
    /// Number of an object, or, of an input, of an input object.
    Object(usize),
}

/// The scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Int,
    Long,
    Float,
    Boolean,
    String,
    Id,
    DateTime,
    Json,
}

/// Where a field's value comes from.
pub(super) enum FieldSource {
    /// An attribute of the row.
    Attr(Value),
    /// True, whatever there is.
    True,
    /// The row once more: of a payload, the entity; of the root, a part of it; of an edge, the node.
    Itself,
    /// The entity whose key the only argument gives. It is there when the witness is.
    Entity { key: Keyword, witness: Option<Value>, is_integer: bool },
    /// A mutation's result.
    Mutation(Symbol),
    /// What a source of events pushes.
    Subscription,
}

/// An enum type: the keywords' names with their constants.
pub(super) struct Enum {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) values: Vec<(String, String)>,
}

/// An input object type.
pub(super) struct InputObject {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) fields: Vec<Input>,
}

/// An argument, or a field of an input object.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) doc: String,
    /// What it is called once it is taken in.
    pub(super) param: Value,
    pub(super) ty: In,
    pub(super) handed: KeyForm,
}

/// How a value is handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyForm {
    AsIs,
    /// The keys of its maps as keywords, whether they are written `tool-ids` or `toolIds`.
    Keyed,
}

/// What is taken in. Entries of a list are never null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct In {
    pub(super) leaf: Leaf,
    pub(super) is_list: bool,
    pub(super) is_required: bool,
}

impl SchemaModel {
    /// Finds the type with this name that variables may have.
    pub(super) fn input_leaf(&self, name: &str) -> Option<Leaf> {
        let scalar = SCALARS.iter().find(|(scalar, _)| *scalar == name);
        let inputs = || self.inputs.iter().position(|input| input.name == name).map(Leaf::Object);
        let enums = || self.enums.iter().position(|each| each.name == name).map(Leaf::Enum);
        scalar.map(|(_, scalar)| Leaf::Scalar(*scalar)).or_else(inputs).or_else(enums)
    }

    /// The name of what a value is.
    pub(super) fn leaf_name(&self, leaf: Leaf) -> &str {
        match leaf {
            Leaf::Scalar(scalar) => scalar.name(),
            Leaf::Enum(number) => &self.enums[number].name,
            Leaf::Object(number) => &self.objects[number].name,
        }
    }

    /// The name of what a value that is taken in is.
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
    pub(super) fn field(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

impl Scalar {
    pub(super) fn name(self) -> &'static str {
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
