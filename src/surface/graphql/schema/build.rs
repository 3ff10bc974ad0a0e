//! Builds the schema of one kind of viewer from the registry and the roots.
//!
//! Lives here: object types and root fields. Enums and inputs are built in `inputs.rs`, records in `record.rs`. Only
//! types that the roots lead to are built, and nothing that the viewer may not see.
//!
//! Invariant: a model is returned only if there is no fault at all; every name in it is valid in GraphQL, and no name
//! occurs twice within its type.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::model::{
    ArgTarget, Entries, Field, FieldSource, In, Input, KeyForm, Leaf, Object, Out, Scalar, SchemaModel,
};
use super::names;
use super::roots::{MutationRoot, Pages, QueryKind, RootPayload, Roots};
use crate::edn::{Keyword, Symbol, Value};
use crate::graph::registry::{
    Attribute, Cardinality, EntityInfo, MutationInfo, ParamType, Registry, Stability, Type, Viewer, World,
};

/// A fault in the declarations of a schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SchemaFault {
    /// The name is not valid in GraphQL.
    Name(String),
    /// Two fields, arguments or values of one type have equal names.
    Clash {
        /// The type, and the field if the names are of arguments.
        within: String,
        /// The name.
        name: String,
    },
    /// A root names an entity, attribute or mutation that the registry does not have, or that is of another kind.
    Unknown {
        /// The declaration that names it.
        by: String,
        /// The unknown name.
        name: String,
    },
    /// async-graphql rejects the schema.
    Refused(String),
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(out, "{name:?} is not a valid name in GraphQL"),
            Self::Clash { within, name } => write!(out, "{within} has {name:?} twice"),
            Self::Unknown { by, name } => {
                write!(out, "{by} names {name}, which is missing or of another kind")
            }
            Self::Refused(why) => write!(out, "async-graphql rejects the schema: {why}"),
        }
    }
}

/// A schema under construction.
pub(in crate::surface::graphql) struct SchemaBuilder<'r> {
    pub(in crate::surface::graphql) attributes: BTreeMap<&'static str, (&'r Attribute, &'r EntityInfo)>,
    /// Every attribute, visible to the viewer or not.
    declared: BTreeSet<&'static str>,
    pub(super) by_entity: BTreeMap<&'static str, Vec<&'r Attribute>>,
    pub(in crate::surface::graphql) entities: BTreeMap<&'static str, &'r EntityInfo>,
    mutations: BTreeMap<&'static str, MutationInfo>,
    pub(in crate::surface::graphql) roots: &'r Roots,
    pub(super) model: SchemaModel,
    /// The numbers of object types, by name.
    pub(in crate::surface::graphql) objects: BTreeMap<String, usize>,
    pub(super) faults: Vec<SchemaFault>,
}

/// Builds the schema that a viewer sees, or returns all faults.
pub(in crate::surface::graphql) fn model<W: World>(
    registry: &Registry<W>,
    roots: &Roots,
    viewer: Viewer,
) -> Result<SchemaModel, Vec<SchemaFault>> {
    let mut builder = SchemaBuilder::new(registry, roots, viewer);
    builder.model.query = builder.query();
    if !roots.mutations.is_empty() {
        let fields = roots.mutations.iter().filter_map(|mutation| builder.mutation(mutation)).collect();
        builder.model.mutation = Some(builder.object("Mutation", "The mutations.", fields));
    }
    if !roots.subscriptions.is_empty() {
        let fields = builder.subscriptions();
        builder.model.subscription = Some(builder.object("Subscription", "The subscriptions.", fields));
    }
    // Several roots may lead to one fault.
    builder.faults.sort();
    builder.faults.dedup();
    if builder.faults.is_empty() { Ok(builder.model) } else { Err(builder.faults) }
}

impl<'r> SchemaBuilder<'r> {
    fn new<W: World>(registry: &'r Registry<W>, roots: &'r Roots, viewer: Viewer) -> Self {
        let mut builder = SchemaBuilder {
            attributes: BTreeMap::new(),
            declared: BTreeSet::new(),
            by_entity: BTreeMap::new(),
            entities: registry.entities().iter().map(|entity| (entity.name, entity)).collect(),
            mutations: registry.described_mutations().map(|info| (info.name, info)).collect(),
            roots,
            model: SchemaModel {
                objects: Vec::new(),
                enums: Vec::new(),
                inputs: Vec::new(),
                query: 0,
                mutation: None,
                subscription: None,
            },
            objects: BTreeMap::new(),
            faults: Vec::new(),
        };
        for (attribute, entity) in registry.attributes() {
            builder.declared.insert(attribute.ident);
            // Security: an attribute without a rule is visible to no viewer.
            if attribute.visibility.is_some_and(|rule| rule.admits(viewer)) {
                builder.attributes.insert(attribute.ident, (attribute, entity));
                builder.by_entity.entry(entity.name).or_default().push(attribute);
            }
        }
        builder
    }

    /// Adds the type `Query`.
    fn query(&mut self) -> usize {
        let mut fields = Vec::new();
        for query in &self.roots.queries {
            let field = match &query.kind {
                QueryKind::Entity(entity) => self.by_key(query.name, entity),
                QueryKind::Attribute(ident) => self.attribute(ident),
                QueryKind::Root(entity) => self.part(query.name, entity),
            };
            // The root has a name and a text of its own; type and arguments are the attribute's.
            fields.extend(field.map(|field| Field {
                name: query.name.to_owned(),
                doc: query.doc.to_owned(),
                ..field
            }));
        }
        self.object("Query", "The queries.", fields)
    }

    /// Adds an object type with its fields.
    fn object(&mut self, name: &str, doc: &str, fields: Vec<Field>) -> usize {
        let number = self.reserve(name, doc);
        self.fill(number, fields);
        number
    }

    /// Adds an object type without fields, so that its fields can refer to it.
    pub(super) fn reserve(&mut self, name: &str, doc: &str) -> usize {
        let number = self.model.objects.len();
        let (name, doc) = (name.to_owned(), doc.to_owned());
        if self.objects.insert(name.clone(), number).is_some() {
            self.faults.push(SchemaFault::Clash { within: "the schema".into(), name: name.clone() });
        }
        self.check_name(&name);
        let object = Object { name, doc, fields: Vec::new(), by_name: BTreeMap::new(), is_record: false };
        self.model.objects.push(object);
        number
    }

    /// Sets the fields of an object type, and checks that names are valid and distinct.
    pub(super) fn fill(&mut self, number: usize, fields: Vec<Field>) {
        let within = self.model.objects[number].name.clone();
        let mut by_name = BTreeMap::new();
        for (place, field) in fields.iter().enumerate() {
            self.check_name(&field.name);
            if by_name.insert(field.name.clone(), place).is_some() {
                self.faults.push(SchemaFault::Clash { within: within.clone(), name: field.name.clone() });
            }
            let names: Vec<&str> = field.args.iter().map(|arg| arg.name.as_str()).collect();
            self.check_distinct(&format!("{within}.{}", field.name), &names);
        }
        let object = &mut self.model.objects[number];
        (object.fields, object.by_name) = (fields, by_name);
    }

    pub(super) fn check_name(&mut self, name: &str) {
        if !names::is_valid(name) {
            self.faults.push(SchemaFault::Name(name.to_owned()));
        }
    }

    pub(super) fn check_distinct(&mut self, within: &str, names: &[&str]) {
        for (place, name) in names.iter().enumerate() {
            self.check_name(name);
            if names[..place].contains(name) {
                let (within, name) = (within.to_owned(), (*name).to_owned());
                self.faults.push(SchemaFault::Clash { within, name });
            }
        }
    }

    pub(in crate::surface::graphql) fn unknown(&mut self, by: &str, name: &str) {
        self.faults.push(SchemaFault::Unknown { by: by.to_owned(), name: name.to_owned() });
    }

    /// Returns the type of an entity, and adds it on first use. Returns `None` if the viewer sees none of its attributes.
    fn entity(&mut self, by: &str, name: &str) -> Option<usize> {
        let type_name = names::object(name);
        if let Some(number) = self.objects.get(&type_name) {
            return Some(*number);
        }
        let Some(info) = self.entities.get(name).copied() else {
            self.unknown(by, name);
            return None;
        };
        // A copy of references, because `self` is borrowed mutably below.
        let attributes = self.by_entity.get(name).cloned()?;
        // Reserved before its fields exist, because entities refer to each other in cycles.
        let number = self.reserve(&type_name, info.doc);
        let shown = attributes.iter().filter(|attribute| !self.roots.hidden.contains(&attribute.ident));
        let shown: Vec<&str> = shown.map(|attribute| attribute.ident).collect();
        let fields = shown.into_iter().filter_map(|ident| self.attribute(ident));
        let fields = fields.collect();
        self.fill(number, fields);
        Some(number)
    }

    /// Returns the field of an attribute, or `None` if the viewer may not see the attribute or the entity it refers to.
    fn attribute(&mut self, ident: &str) -> Option<Field> {
        let Some((attribute, entity)) = self.attributes.get(ident).copied() else {
            // An attribute that this viewer may not see is no fault.
            if !self.declared.contains(ident) {
                self.unknown("a root or an entity", ident);
            }
            return None;
        };
        let leaf = self.leaf(attribute, entity)?;
        let args = self.inputs(attribute.params);
        let doc = match attribute.unit {
            Some(unit) => format!("{} Unit: {unit}.", attribute.doc),
            None => attribute.doc.to_owned(),
        };
        let out = Out {
            leaf,
            is_list: attribute.cardinality == Cardinality::Many,
            is_nullable: attribute.nullable,
        };
        // A page counts with the length that is requested, a plain list with an assumed one.
        let is_page = matches!(attribute.kind, Type::Reference(name) if self.pages(name).is_some());
        Some(Field {
            name: names::field(ident),
            doc,
            is_deprecated: attribute.stability == Stability::Deprecated,
            args,
            out,
            source: FieldSource::Attr(Value::keyword(ident)),
            entries: if is_page {
                Entries::Page
            } else if out.is_list {
                Entries::Listed
            } else {
                Entries::One
            },
        })
    }

    /// Returns the declaration of an entity as a page, if there is one.
    fn pages(&self, name: &str) -> Option<&'r Pages> {
        self.roots.pages.iter().find(|pages| pages.entity == name)
    }

    /// Returns the output type of an attribute's values, or `None` if the viewer may not see the entity they refer to.
    pub(in crate::surface::graphql) fn leaf(
        &mut self,
        attribute: &Attribute,
        entity: &EntityInfo,
    ) -> Option<Leaf> {
        let is_key = entity.key == Some(attribute.ident);
        Some(match attribute.kind {
            // A key is an `ID` whatever its type, because clients should treat it as opaque.
            _ if is_key => Leaf::Scalar(Scalar::Id),
            // By convention, an attribute whose name ends in `-id` identifies something.
            Type::String if attribute.ident.ends_with("-id") => Leaf::Scalar(Scalar::Id),
            Type::String | Type::Keyword | Type::Symbol => Leaf::Scalar(Scalar::String),
            Type::Enum(values) => self.enumeration(attribute, entity, values),
            Type::Boolean => Leaf::Scalar(Scalar::Boolean),
            Type::Integer if Self::is_long(attribute) => Leaf::Scalar(Scalar::Long),
            Type::Integer => Leaf::Scalar(Scalar::Int),
            Type::Float => Leaf::Scalar(Scalar::Float),
            Type::Instant => Leaf::Scalar(Scalar::DateTime),
            Type::Reference(name) => Leaf::Object(match self.pages(name) {
                Some(pages) => self.connection(pages)?,
                None => self.entity(attribute.ident, name)?,
            }),
            Type::Record(record) => Leaf::Object(self.record(record)),
            Type::Map | Type::Any => Leaf::Scalar(Scalar::Json),
        })
    }

    /// Returns whether an integer may exceed 32 bits. Counts of our own things cannot, because `limits.rs` bounds them;
    /// lengths, times and numbers without a unit may.
    fn is_long(attribute: &Attribute) -> bool {
        attribute.unit.is_none_or(|unit| LONG_UNITS.contains(&unit))
    }

    /// Returns a field that finds an entity by its key.
    fn by_key(&mut self, by: &str, name: &str) -> Option<Field> {
        let key = self.entities.get(name).and_then(|entity| entity.key);
        let Some(key) = key.and_then(|key| self.attributes.get(key)).map(|(key, _)| *key) else {
            self.unknown(by, name);
            return None;
        };
        let number = self.entity(by, name)?;
        // The witness proves that the entity exists: it is never null, and unlike the key and seeds it is read from the
        // entity, not given with the query.
        let is_witness = |attribute: &&&Attribute| {
            !attribute.nullable && !attribute.is_seed && attribute.ident != key.ident
        };
        let witness = self.by_entity.get(name).and_then(|attributes| attributes.iter().find(is_witness));
        let witness = witness.map(|attribute| Value::keyword(attribute.ident));
        let param = Input {
            name: names::field(key.ident),
            doc: key.doc.to_owned(),
            target: ArgTarget::Param(Value::keyword(key.ident)),
            ty: In { leaf: Leaf::Scalar(Scalar::Id), is_list: false, is_required: true },
            handed: KeyForm::AsIs,
        };
        let source = FieldSource::Entity {
            key: Keyword::new(key.ident).ok()?,
            witness,
            is_integer: key.kind == Type::Integer,
        };
        Some(Field {
            args: vec![param],
            // Null if no entity has the key.
            ..field("", Out { leaf: Leaf::Object(number), is_list: false, is_nullable: true }, source)
        })
    }

    /// Returns a field that shows the row itself as an entity.
    fn part(&mut self, by: &str, name: &str) -> Option<Field> {
        let number = self.entity(by, name)?;
        Some(field("", one(Leaf::Object(number)), FieldSource::Itself))
    }

    /// Returns the connection type of a page, and adds it on first use.
    fn connection(&mut self, pages: &Pages) -> Option<usize> {
        let entries = self.attributes.get(pages.entries).map(|(attribute, _)| attribute.kind);
        let Some(Type::Reference(entry)) = entries else {
            self.unknown(pages.entity, pages.entries);
            return None;
        };
        let name = names::object(entry);
        let connection_name = format!("{name}Connection");
        if let Some(number) = self.objects.get(&connection_name) {
            return Some(*number);
        }
        // Reserved before its fields exist, because the fields of an entry may lead back to this connection.
        let number = self.reserve(&connection_name, "A page of a list, with the cursors to continue from.");
        let node = one(Leaf::Object(self.entity(pages.entity, entry)?));
        // `Pages` demands that the other attributes of a page are in the namespace of its entries.
        let namespace = pages.entries.split('/').next().unwrap_or_default();
        let part = |name: &str, of: &str, leaf| {
            field(name, one(leaf), FieldSource::Attr(Value::keyword(&format!("{namespace}/{of}"))))
        };
        let text = Leaf::Scalar(Scalar::String);
        let nullable = |field: Field| Field { out: Out { is_nullable: true, ..field.out }, ..field };
        let info = vec![
            part("hasNextPage", "has-next?", Leaf::Scalar(Scalar::Boolean)),
            part("hasPreviousPage", "has-previous?", Leaf::Scalar(Scalar::Boolean)),
            // An empty page has no entries, and so no cursors.
            nullable(part("startCursor", "start-cursor", text)),
            nullable(part("endCursor", "end-cursor", text)),
        ];
        let info = self.twin("PageInfo", "The position of a page in its list.", info);
        let cursor = FieldSource::Attr(Value::keyword(pages.cursor));
        let edge = vec![field("node", node, FieldSource::Itself), field("cursor", one(text), cursor)];
        let edge = self.object(&format!("{name}Edge"), "An entry of a page, with its cursor.", edge);
        let entries = || FieldSource::Attr(Value::keyword(pages.entries));
        let many = |leaf| Out { is_list: true, ..one(leaf) };
        let fields = vec![
            // One attribute, which the fast path reads for one of the two only. Both count as one value: the length of the page
            // is counted at the field that leads to the connection.
            field("edges", many(Leaf::Object(edge)), entries()),
            field("nodes", Out { is_list: true, ..node }, entries()),
            field("pageInfo", one(Leaf::Object(info)), FieldSource::Itself),
            part("totalCount", "total-count", Leaf::Scalar(Scalar::Int)),
        ];
        self.fill(number, fields);
        Some(number)
    }

    /// Adds a type with the name and the fields of an earlier one but other sources: each connection has a `PageInfo` that
    /// reads its own page. Clients see one type.
    fn twin(&mut self, name: &str, doc: &str, fields: Vec<Field>) -> usize {
        // Otherwise the repeated name would count as a clash.
        self.objects.remove(name);
        self.object(name, doc, fields)
    }

    /// Returns the field of a mutation, and adds its payload type.
    fn mutation(&mut self, mutation: &MutationRoot) -> Option<Field> {
        let type_name = names::object(mutation.name);
        let Some(declared) = self.mutations.get(mutation.symbol).copied() else {
            self.unknown(mutation.name, mutation.symbol);
            return None;
        };
        let args = if mutation.has_input {
            self.input(&format!("{type_name}Input"), declared.params)
        } else {
            self.inputs(declared.params)
        };
        let fields = self.payload(mutation.name, &mutation.payload);
        let payload = self.object(&format!("{type_name}Payload"), "The result of the mutation.", fields);
        let Ok(symbol) = Symbol::new(mutation.symbol) else {
            self.unknown(mutation.name, mutation.symbol);
            return None;
        };
        // Nullable: otherwise the failure of one mutation would null the results of all others in its operation.
        let out = Out { is_nullable: true, ..one(Leaf::Object(payload)) };
        let source = FieldSource::Mutation(symbol);
        Some(Field { doc: declared.doc.to_owned(), args, ..field(mutation.name, out, source) })
    }

    /// Returns the fields of a payload.
    fn payload(&mut self, by: &str, parts: &[(&'static str, RootPayload)]) -> Vec<Field> {
        let mut fields = Vec::new();
        let nullable = |field: Field| Field { out: Out { is_nullable: true, ..field.out }, ..field };
        for (name, part) in parts {
            let made = match part {
                RootPayload::Entity(entity) => self.part(by, entity).map(nullable),
                RootPayload::Attribute(ident) => self.attribute(ident),
                RootPayload::Maybe(ident) => self.attribute(ident).map(nullable),
                RootPayload::Entities(entity, keyword) => self.entity(by, entity).map(|number| {
                    let out = Out { is_list: true, ..one(Leaf::Object(number)) };
                    Field {
                        entries: Entries::Listed,
                        ..field("", out, FieldSource::Attr(Value::keyword(keyword)))
                    }
                }),
                RootPayload::Given(keyword, kind) => {
                    let is_list = matches!(kind, ParamType::List(_));
                    let out = Out { leaf: self.shown(*kind), is_list, is_nullable: true };
                    Some(field("", out, FieldSource::Attr(Value::keyword(keyword))))
                }
            };
            fields.extend(made.map(|made| Field { name: (*name).to_owned(), ..made }));
        }
        fields
    }

    /// Returns the fields of `Subscription`, and adds the types of what they push.
    fn subscriptions(&mut self) -> Vec<Field> {
        let mut fields = Vec::new();
        for subscription in &self.roots.subscriptions {
            let args = self.inputs(subscription.params);
            let (name, parts) = &subscription.payload;
            let payload = self.payload(subscription.name, parts);
            // Without fields, the payload is an entity.
            let number = if parts.is_empty() {
                self.entity(subscription.name, name)
            } else {
                Some(self.object(name, "An item that the subscription pushes.", payload))
            };
            let Some(number) = number else {
                continue;
            };
            let doc = subscription.doc.to_owned();
            let out = one(Leaf::Object(number));
            fields.push(Field { doc, args, ..field(subscription.name, out, FieldSource::Subscription) });
        }
        fields
    }
}

fn field(name: &str, out: Out, source: FieldSource) -> Field {
    let (name, doc) = (name.to_owned(), String::new());
    Field { name, doc, is_deprecated: false, args: Vec::new(), out, source, entries: Entries::One }
}

fn one(leaf: Leaf) -> Out {
    Out { leaf, is_list: false, is_nullable: false }
}

/// Units whose numbers may exceed 32 bits.
const LONG_UNITS: [&str; 5] = ["ms", "us", "ns", "s", "bytes"];
