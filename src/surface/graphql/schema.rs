//! From the registry and the roots to the schema of one kind of viewer.
//!
//! Lives here: object types and roots. Enums and what is taken in are made in `inputs.rs`. Only what the roots lead
//! to becomes a type, and what the viewer may not see becomes none.
//!
//! Invariant: a model comes out only when there is no fault at all; every name in it is one that GraphQL takes, and
//! none stands twice in its type.

use std::collections::BTreeMap;
use std::fmt;

use super::model::{Entries, Field, FieldSource, In, Input, KeyForm, Leaf, Object, Out, Scalar, SchemaModel};
use super::names;
use super::roots::{MutationRoot, Pages, QueryKind, RootPayload, Roots};
use crate::edn::{Keyword, Symbol, Value};
use crate::graph::registry::{
    Attribute, Cardinality, EntityInfo, MutationInfo, ParamType, Registry, Stability, Type, Viewer, World,
};

/// What is wrong with the declarations of a schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SchemaFault {
    /// GraphQL does not take the name.
    Name(String),
    /// Two fields, arguments or values of one type are called alike.
    Clash {
        /// The type, and the field where it is about arguments.
        within: String,
        /// The name.
        name: String,
    },
    /// A root names an entity, attribute or mutation that the registry does not have, or not so.
    Unknown {
        /// Who names it.
        by: String,
        /// What is named.
        name: String,
    },
    /// async-graphql does not take the schema.
    Refused(String),
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(out, "{name:?} is no name for GraphQL"),
            Self::Clash { within, name } => write!(out, "{within} has {name:?} twice"),
            Self::Unknown { by, name } => write!(out, "{by} names {name}, which is not there, or not so"),
            Self::Refused(why) => write!(out, "the schema is not taken: {why}"),
        }
    }
}

/// A schema in the making.
pub(super) struct SchemaBuilder<'r> {
    pub(super) attributes: BTreeMap<&'static str, (&'r Attribute, &'r EntityInfo)>,
    pub(super) by_entity: BTreeMap<&'static str, Vec<&'r Attribute>>,
    pub(super) entities: BTreeMap<&'static str, &'r EntityInfo>,
    mutations: BTreeMap<&'static str, MutationInfo>,
    pub(super) roots: &'r Roots,
    pub(super) model: SchemaModel,
    /// Types by name.
    pub(super) objects: BTreeMap<String, usize>,
    pub(super) faults: Vec<SchemaFault>,
}

/// Makes the schema that a viewer sees.
pub(super) fn model<W: World>(
    registry: &Registry<W>,
    roots: &Roots,
    viewer: Viewer,
) -> Result<SchemaModel, Vec<SchemaFault>> {
    let mut making = SchemaBuilder::new(registry, roots, viewer);
    making.model.query = making.query();
    if !roots.mutations.is_empty() {
        let fields = roots.mutations.iter().filter_map(|mutation| making.mutation(mutation)).collect();
        making.model.mutation = Some(making.object("Mutation", "What can be changed.", fields));
    }
    if !roots.subscriptions.is_empty() {
        let fields = making.subscriptions();
        making.model.subscription = Some(making.object("Subscription", "What can be followed.", fields));
    }
    making.faults.sort();
    making.faults.dedup();
    if making.faults.is_empty() { Ok(making.model) } else { Err(making.faults) }
}

impl<'r> SchemaBuilder<'r> {
    fn new<W: World>(registry: &'r Registry<W>, roots: &'r Roots, viewer: Viewer) -> Self {
        let mut making = SchemaBuilder {
            attributes: BTreeMap::new(),
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
            if attribute.visibility.is_some_and(|rule| rule.admits(viewer)) {
                making.attributes.insert(attribute.ident, (attribute, entity));
                making.by_entity.entry(entity.name).or_default().push(attribute);
            }
        }
        making
    }

    fn query(&mut self) -> usize {
        let mut fields = Vec::new();
        for query in &self.roots.queries {
            let field = match &query.kind {
                QueryKind::Entity(entity) => self.by_key(query.name, entity),
                QueryKind::Attribute(ident) => self.attribute(ident),
                QueryKind::Root(entity) => self.part(query.name, entity),
            };
            fields.extend(field.map(|field| Field {
                name: query.name.to_owned(),
                doc: query.doc.to_owned(),
                ..field
            }));
        }
        self.object("Query", "What can be asked.", fields)
    }

    /// Adds an object type; fields and arguments have to be called differently.
    fn object(&mut self, name: &str, doc: &str, fields: Vec<Field>) -> usize {
        let number = self.reserve(name, doc);
        self.fill(number, fields);
        number
    }

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

    pub(super) fn unknown(&mut self, by: &str, name: &str) {
        self.faults.push(SchemaFault::Unknown { by: by.to_owned(), name: name.to_owned() });
    }

    /// The type of an entity, made when it is needed first; none where the viewer sees nothing of it.
    fn entity(&mut self, by: &str, name: &str) -> Option<usize> {
        let type_name = names::object(name);
        if let Some(number) = self.objects.get(&type_name) {
            return Some(*number);
        }
        let Some(info) = self.entities.get(name).copied() else {
            self.unknown(by, name);
            return None;
        };
        let attributes = self.by_entity.get(name).cloned()?;
        let number = self.reserve(&type_name, info.doc);
        let shown = attributes.iter().filter(|attribute| !self.roots.hidden.contains(&attribute.ident));
        let shown: Vec<&str> = shown.map(|attribute| attribute.ident).collect();
        let fields = shown.into_iter().filter_map(|ident| self.attribute(ident));
        let fields = fields.collect();
        self.fill(number, fields);
        Some(number)
    }

    /// A field of an attribute; none where the viewer does not see it or what it refers to.
    fn attribute(&mut self, ident: &str) -> Option<Field> {
        let Some((attribute, entity)) = self.attributes.get(ident).copied() else {
            // What is hidden is no fault of the declaration; what nobody declares is found as a missing entity's.
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

    fn pages(&self, name: &str) -> Option<&'r Pages> {
        self.roots.pages.iter().find(|pages| pages.entity == name)
    }

    pub(super) fn leaf(&mut self, attribute: &Attribute, entity: &EntityInfo) -> Option<Leaf> {
        let is_key = entity.key == Some(attribute.ident);
        Some(match attribute.kind {
            _ if is_key => Leaf::Scalar(Scalar::Id),
            Type::String if attribute.ident.ends_with("-id") => Leaf::Scalar(Scalar::Id),
            Type::String | Type::Keyword | Type::Symbol => Leaf::Scalar(Scalar::String),
            Type::Enum(values) => self.enumeration(attribute, entity, values),
            Type::Boolean => Leaf::Scalar(Scalar::Boolean),
            Type::Integer if self.is_long(attribute) => Leaf::Scalar(Scalar::Long),
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

    /// What is counted in things of ours stays within 32 bits, because `limits.rs` bounds it; lengths, times and
    /// numbers without a unit may not.
    fn is_long(&self, attribute: &Attribute) -> bool {
        let is_counted = attribute.unit.is_some_and(|unit| !LONG_UNITS.contains(&unit));
        !is_counted || self.roots.longs.contains(&attribute.ident)
    }

    fn by_key(&mut self, by: &str, name: &str) -> Option<Field> {
        let key = self.entities.get(name).and_then(|entity| entity.key);
        let Some(key) = key.and_then(|key| self.attributes.get(key)).map(|(key, _)| *key) else {
            self.unknown(by, name);
            return None;
        };
        let number = self.entity(by, name)?;
        let is_witness = |attribute: &&&Attribute| {
            !attribute.nullable && !attribute.is_seed && attribute.ident != key.ident
        };
        let witness = self.by_entity.get(name).and_then(|attributes| attributes.iter().find(is_witness));
        let witness = witness.map(|attribute| Value::keyword(attribute.ident));
        let param = Input {
            name: names::field(key.ident),
            doc: key.doc.to_owned(),
            param: Value::keyword(key.ident),
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
            ..field("", Out { leaf: Leaf::Object(number), is_list: false, is_nullable: true }, source)
        })
    }

    fn part(&mut self, by: &str, name: &str) -> Option<Field> {
        let number = self.entity(by, name)?;
        Some(field("", one(Leaf::Object(number)), FieldSource::Itself))
    }

    /// The connection that a page is shown as.
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
        let number = self.reserve(&connection_name, "A part of a list, and how to go on.");
        let node = one(Leaf::Object(self.entity(pages.entity, entry)?));
        let namespace = pages.entries.split('/').next().unwrap_or_default();
        let part = |name: &str, of: &str, leaf| {
            field(name, one(leaf), FieldSource::Attr(Value::keyword(&format!("{namespace}/{of}"))))
        };
        let text = Leaf::Scalar(Scalar::String);
        let nullable = |field: Field| Field { out: Out { is_nullable: true, ..field.out }, ..field };
        let info = vec![
            part("hasNextPage", "has-next?", Leaf::Scalar(Scalar::Boolean)),
            part("hasPreviousPage", "has-previous?", Leaf::Scalar(Scalar::Boolean)),
            nullable(part("startCursor", "start-cursor", text)),
            nullable(part("endCursor", "end-cursor", text)),
        ];
        let info = self.twin("PageInfo", "Where a page stands in its list.", info);
        let cursor = FieldSource::Attr(Value::keyword(pages.cursor));
        let edge = vec![field("node", node, FieldSource::Itself), field("cursor", one(text), cursor)];
        let edge = self.object(&format!("{name}Edge"), "An entry of a page, and its place.", edge);
        let entries = || FieldSource::Attr(Value::keyword(pages.entries));
        let many = |leaf| Out { is_list: true, ..one(leaf) };
        let fields = vec![
            field("edges", many(Leaf::Object(edge)), entries()),
            field("nodes", Out { is_list: true, ..node }, entries()),
            field("pageInfo", one(Leaf::Object(info)), FieldSource::Itself),
            part("totalCount", "total-count", Leaf::Scalar(Scalar::Int)),
        ];
        self.fill(number, fields);
        Some(number)
    }

    /// Adds a type that looks like one that is there and is read off something else.
    fn twin(&mut self, name: &str, doc: &str, fields: Vec<Field>) -> usize {
        self.objects.remove(name);
        self.object(name, doc, fields)
    }

    fn mutation(&mut self, mutation: &MutationRoot) -> Option<Field> {
        let type_name = names::object(mutation.name.trim());
        let type_name = capitalised(&type_name);
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
        let payload = self.object(&format!("{type_name}Payload"), "What came of it.", fields);
        let Ok(symbol) = Symbol::new(mutation.symbol) else {
            self.unknown(mutation.name, mutation.symbol);
            return None;
        };
        let out = Out { is_nullable: true, ..one(Leaf::Object(payload)) };
        let source = FieldSource::Mutation(symbol);
        Some(Field { doc: declared.doc.to_owned(), args, ..field(mutation.name, out, source) })
    }

    fn payload(&mut self, by: &str, parts: &[(&'static str, RootPayload)]) -> Vec<Field> {
        let mut fields = Vec::new();
        let nullable = |field: Field| Field { out: Out { is_nullable: true, ..field.out }, ..field };
        for (name, part) in parts {
            let made = match part {
                RootPayload::Entity(entity) => self.part(by, entity).map(nullable),
                RootPayload::Attribute(ident) => self.attribute(ident),
                RootPayload::Maybe(ident) => self.attribute(ident).map(nullable),
                RootPayload::True => Some(field("", one(Leaf::Scalar(Scalar::Boolean)), FieldSource::True)),
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

    fn subscriptions(&mut self) -> Vec<Field> {
        let mut fields = Vec::new();
        for subscription in &self.roots.subscriptions {
            let args = self.inputs(subscription.params);
            let (name, parts) = &subscription.payload;
            let payload = self.payload(subscription.name, parts);
            let number = if parts.is_empty() {
                self.entity(subscription.name, name)
            } else {
                Some(self.object(name, "What is pushed.", payload))
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

/// `createSchedule` as the beginning of a type's name.
pub(super) fn capitalised(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

/// Units that 32 bits do not hold.
const LONG_UNITS: [&str; 5] = ["ms", "us", "ns", "s", "bytes"];
