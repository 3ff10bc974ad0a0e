//! Exports the registry: as `schema/attributes.edn` for programs, and as `docs/ATTRIBUTES.md` for people.
//!
//! Invariant: everything here is a walk over the registry. Entities are in declared order, attributes by ident
//! within their entity, mutations by name.

use std::fmt::Write as _;

use super::registry::{
    Cardinality, EntityInfo, Param, ParamGroups, ParamType, Record, Registry, Type, World,
};
use crate::edn::{Map, Symbol, Value};

/// Returns every entity, attribute and mutation as EDN, one per line.
pub fn attributes_edn<W: World>(registry: &Registry<W>) -> String {
    let mut text = String::from(
        ";; Generated from src/graph/attr/: every attribute there is. Do not edit.\n{:entities [\n",
    );
    // One entry per line, so that a change of one declaration is one line of a diff.
    for entity in registry.entities() {
        let map = Map::new()
            .with("entity", entity.name)
            .with("key", entity.key.map(Value::keyword))
            .with("doc", entity.doc);
        // Writing to a string cannot fail.
        let _ = writeln!(text, " {}", Value::Map(map));
    }
    text += "]\n :attributes [\n";
    for (entity, ident) in sorted(registry) {
        if let Some(line) = registry.attribute(ident).map(|attribute| line(entity, attribute)) {
            let _ = writeln!(text, " {line}");
        }
    }
    text += "]\n :mutations [\n";
    for mutation in registry.described_mutations() {
        let map = Map::new()
            .with("name", Symbol::new(mutation.name).map_or(Value::Nil, Value::Symbol))
            .with("params", params_edn(mutation.params))
            .with("visible-to", mutation.visibility.map(|rule| Value::keyword(rule.name())))
            .with("doc", mutation.doc);
        let _ = writeln!(text, " {}", Value::Map(map));
    }
    text += "]}\n";
    text
}

/// Returns the parameters of a call as EDN; parameters of all groups are in one list.
fn params_edn(groups: ParamGroups) -> Vec<Value> {
    groups.iter().flat_map(|group| group.params).map(param_edn).collect()
}

/// Returns a parameter that a caller passes: it may be required.
fn param_edn(param: &Param) -> Value {
    let map = type_edn(param, "params", param_edn);
    map.with("required?", param.is_required).with("doc", param.doc).into()
}

/// Returns a field of a record that is shown: it is never required, but may be nullable.
fn field_edn(field: &Param) -> Value {
    let map = type_edn(field, "fields", field_edn);
    map.with("nullable?", field.is_nullable).with("doc", field.doc).into()
}

/// Returns the name and type of a parameter or field; the parts of a record are listed under `key`.
fn type_edn(param: &Param, key: &str, inner: fn(&Param) -> Value) -> Map {
    let map =
        Map::new().with("name", Value::keyword(param.name)).with("type", Value::keyword(param.kind.name()));
    let map = match param.kind {
        ParamType::Enum { values, .. } => {
            map.with("values", values.iter().map(|name| Value::keyword(name)).collect::<Vec<_>>())
        }
        ParamType::Integer { min, max } => map.with("min", min).with("max", max),
        ParamType::List(item) => map.with("of", Value::keyword(item.name())),
        ParamType::Text | ParamType::Id | ParamType::Boolean | ParamType::Instant => map,
        ParamType::Record(_) | ParamType::Map => map,
    };
    map.with_some(key, param.kind.record().map(|record| record.params.iter().map(inner).collect::<Vec<_>>()))
}

/// Returns the reference page in Markdown: attributes by entity, their parameters, and mutations.
pub fn attributes_markdown<W: World>(registry: &Registry<W>) -> String {
    let mut text = String::from(
        "# Attributes\n\nGenerated from `src/graph/attr/`. Who may see an attribute: `everyone`, its `owner` (the session \
         it belongs to, and operators), or the `operator`.\n",
    );
    let mut last = "";
    for (entity, ident) in sorted(registry) {
        // The attributes are sorted by entity, so a change of the name starts a new section.
        if entity.name != last {
            last = entity.name;
            let key = entity.key.map_or_else(|| "a root".to_owned(), |key| format!("key `:{key}`"));
            let _ = write!(
                text,
                "\n## {}\n\n{} ({key})\n\n| attribute | type | visible to | meaning |\n|---|---|---|---|\n",
                entity.name, entity.doc
            );
        }
        let Some(attribute) = registry.attribute(ident) else { continue };
        let many = if attribute.cardinality == Cardinality::Many { " …" } else { "" };
        let nil = if attribute.nullable { " or nil" } else { "" };
        let unit = attribute.unit.map_or_else(String::new, |unit| format!(", {unit}"));
        let visible = attribute.visibility.map_or("", super::registry::Visibility::name);
        let _ = writeln!(
            text,
            "| `:{ident}` | {}{many}{nil}{unit} | {visible} | {} |",
            kind(attribute.kind),
            attribute.doc
        );
        if let Some(record) = attribute.kind.record() {
            fields_markdown(&mut text, &format!("`:{ident}`"), record, visible);
        }
    }
    let taken = registry.described().filter(|(attribute, _)| !attribute.params.is_empty());
    let taken: Vec<(String, &str, ParamGroups)> =
        taken.map(|(it, _)| (format!(":{}", it.ident), "", it.params)).collect();
    text += "\n# Parameters of attributes\n\nA parameter that is not listed is refused, and the error names it.\n";
    for (name, doc, groups) in taken {
        params_markdown(&mut text, &name, doc, groups);
    }
    text += "\n# Mutations\n\nGraphQL writes the names in camel case. A parameter that is not listed is refused, and \
             the error names it.\n";
    for mutation in registry.described_mutations() {
        params_markdown(&mut text, mutation.name, mutation.doc, mutation.params);
    }
    text
}

/// Appends the fields of a map, at any depth. Each is named by the path that a query takes to it.
fn fields_markdown(text: &mut String, above: &str, record: &Record, visible: &str) {
    for field in record.params {
        let name = format!("{above} `:{}`", field.name);
        let nil = if field.is_nullable { " or nil" } else { "" };
        let _ = writeln!(text, "| {name} | {}{nil} | {visible} | {} |", param_type(field.kind), field.doc);
        if let Some(record) = field.kind.record() {
            fields_markdown(text, &name, record, visible);
        }
    }
}

/// Appends a section with the parameters of one attribute or mutation.
fn params_markdown(text: &mut String, name: &str, doc: &str, groups: ParamGroups) {
    let _ = write!(text, "\n## `{name}`\n\n");
    if !doc.is_empty() {
        let _ = write!(text, "{doc}\n\n");
    }
    let mut params = groups.iter().flat_map(|group| group.params).peekable();
    if params.peek().is_none() {
        *text += "It takes no parameters.\n";
        return;
    }
    *text += "| parameter | type | meaning |\n|---|---|---|\n";
    for param in params {
        param_markdown(text, "", param);
    }
}

/// Appends a parameter and, if it is a map, the parameters inside it.
fn param_markdown(text: &mut String, above: &str, param: &Param) {
    let name = format!("{above}`:{}`", param.name);
    let required = if param.is_required { ", required" } else { "" };
    let _ = writeln!(text, "| {name} | {}{required} | {} |", param_type(param.kind), param.doc);
    if let ParamType::Record(record) = param.kind {
        for inner in record.params {
            param_markdown(text, &format!("{name} "), inner);
        }
    }
}

/// Returns the type of a parameter, as the tables show it.
fn param_type(kind: ParamType) -> String {
    match kind {
        ParamType::Enum { values, .. } => {
            values.iter().map(|name| format!("`:{name}`")).collect::<Vec<_>>().join(" ")
        }
        // A bound that the type implies is no information for a caller.
        ParamType::Integer { min: i64::MIN, max: i64::MAX } => "integer".to_owned(),
        ParamType::Integer { min, max: i64::MAX } => format!("integer from {min}"),
        ParamType::Integer { min, max } => format!("integer, {min} to {max}"),
        ParamType::List(item) => format!("list of {}", param_type(*item)),
        ParamType::Text | ParamType::Id | ParamType::Boolean | ParamType::Instant => kind.name().to_owned(),
        ParamType::Record(_) | ParamType::Map => kind.name().to_owned(),
    }
}

/// Returns the type of an attribute, as the tables show it.
fn kind(kind: Type) -> String {
    if let Type::Enum(names) = kind {
        return names.iter().map(|name| format!("`:{name}`")).collect::<Vec<_>>().join(" ");
    }
    if let Type::Reference(entity) = kind { format!("→ {entity}") } else { kind.name().to_owned() }
}

/// Returns the line of an attribute in `schema/attributes.edn`.
fn line(entity: &EntityInfo, attribute: &super::registry::Attribute) -> Value {
    let mut map = Map::new()
        .with("ident", Value::keyword(attribute.ident))
        .with("entity", entity.name)
        .with("type", Value::keyword(attribute.kind.name()));
    if let Type::Enum(names) = attribute.kind {
        map = map.with("values", names.iter().map(|name| Value::keyword(name)).collect::<Vec<_>>());
    }
    if let Type::Reference(to) = attribute.kind {
        map = map.with("refers-to", to);
    }
    if let Some(record) = attribute.kind.record() {
        map = map.with("fields", record.params.iter().map(field_edn).collect::<Vec<_>>());
    }
    if let Some(unit) = attribute.unit {
        map = map.with("unit", unit);
    }
    let cardinality = match attribute.cardinality {
        Cardinality::One => "one",
        Cardinality::Many => "many",
    };
    let visible = attribute.visibility.map(|rule| Value::keyword(rule.name()));
    if !attribute.params.is_empty() {
        map = map.with("params", params_edn(attribute.params));
    }
    map.with("cardinality", Value::keyword(cardinality))
        .with("nullable?", attribute.nullable)
        .with("stability", Value::keyword(attribute.stability.name()))
        .with("visible-to", visible)
        .with("doc", attribute.doc)
        .into()
}

/// Returns all attributes: entities in declared order, their attributes by ident.
fn sorted<W: World>(registry: &Registry<W>) -> Vec<(&EntityInfo, &'static str)> {
    let mut all: Vec<(usize, &EntityInfo, &'static str)> = registry
        .described()
        .map(|(attribute, entity)| {
            let place = registry.entities().iter().position(|other| other.name == entity.name);
            (place.unwrap_or(usize::MAX), entity, attribute.ident)
        })
        .collect();
    // By ident, not as declared: moving a declaration within its entity must not change the generated files.
    all.sort_unstable_by_key(|(place, _, ident)| (*place, *ident));
    all.into_iter().map(|(_, entity, ident)| (entity, ident)).collect()
}
