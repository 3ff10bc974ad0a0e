//! The same tree of attributes asked in EQL and in GraphQL, and the answers compared value by value.

use reveille::domain::Moment;
use reveille::edn::{Map, Value};
use reveille::graph::registry::{Attribute, ParamType, Record, Registry, Type, World};

use super::generate::Generator;

/// What is asked of one entity: attributes, each with what is asked below it.
pub(crate) struct Tree(Vec<(Attribute, Option<Tree>)>);

impl Tree {
    /// Draws a tree over an entity.
    pub(crate) fn draw<W: World>(
        draw: &mut Generator,
        registry: &Registry<W>,
        entity: &str,
        depth: usize,
    ) -> Tree {
        let mine: Vec<Attribute> = registry
            .described()
            .filter(|(it, of)| of.name == entity && is_shared(it))
            .map(|(it, _)| it.clone())
            .collect();
        let mut picked: Vec<(Attribute, Option<Tree>)> = Vec::new();
        for _ in 0..=draw.below(5) {
            let attribute = mine[draw.below(mine.len())].clone();
            if picked.iter().any(|(it, _)| it.ident == attribute.ident) {
                continue;
            }
            let below = if let Type::Reference(to) = attribute.kind {
                if depth == 0 {
                    continue;
                }
                Some(Tree::draw(draw, registry, to, depth - 1))
            } else {
                None
            };
            picked.push((attribute, below));
        }
        if picked.is_empty() {
            let plain = mine.into_iter().find(|it| !matches!(it.kind, Type::Reference(_)));
            picked.extend(plain.map(|it| (it, None)));
        }
        Tree(picked)
    }

    /// Every attribute of an entity that both languages have, without what is below.
    pub(crate) fn whole<W: World>(registry: &Registry<W>, entity: &str) -> Tree {
        let mine = registry.described().filter(|(it, of)| of.name == entity && is_shared(it));
        Tree(
            mine.filter(|(it, _)| !matches!(it.kind, Type::Reference(_)))
                .map(|(it, _)| (it.clone(), None))
                .collect(),
        )
    }

    /// These attributes, and below them all that they lead to.
    pub(crate) fn of<W: World>(registry: &Registry<W>, idents: &[&str]) -> Tree {
        let asked = registry.described().filter(|(it, _)| idents.contains(&it.ident));
        Tree(asked.map(|(it, _)| (it.clone(), Tree::below(registry, it))).collect())
    }

    fn below<W: World>(registry: &Registry<W>, attribute: &Attribute) -> Option<Tree> {
        let Type::Reference(to) = attribute.kind else { return None };
        let mine = registry.described().filter(|(it, of)| of.name == to && is_shared(it));
        Some(Tree(mine.map(|(it, _)| (it.clone(), Tree::below(registry, it))).collect()))
    }

    pub(crate) fn eql(&self) -> String {
        let part = |(attribute, below): &(Attribute, Option<Tree>)| match below {
            None => format!(":{}", attribute.ident),
            Some(below) => format!("{{:{} {}}}", attribute.ident, below.eql()),
        };
        format!("[{}]", self.0.iter().map(part).collect::<Vec<_>>().join(" "))
    }

    pub(crate) fn graphql(&self) -> String {
        let part = |(attribute, below): &(Attribute, Option<Tree>)| match below {
            None => {
                let fields = attribute.kind.record().map(fields).unwrap_or_default();
                format!("{}{fields}", camel(attribute.ident))
            }
            Some(below) => format!("{} {}", camel(attribute.ident), below.graphql()),
        };
        format!("{{ {} }}", self.0.iter().map(part).collect::<Vec<_>>().join(" "))
    }

    /// What GraphQL must answer where EQL has answered this.
    pub(crate) fn expected(&self, answer: &Map) -> serde_json::Value {
        let mut object = serde_json::Map::new();
        for (attribute, below) in &self.0 {
            let value = answer.keyword(attribute.ident).unwrap_or(&Value::Nil);
            object.insert(camel(attribute.ident), json(attribute, below.as_ref(), value));
        }
        object.into()
    }
}

fn json(attribute: &Attribute, below: Option<&Tree>, value: &Value) -> serde_json::Value {
    if let (Value::Vector(items), false) = (value, matches!(attribute.kind, Type::Map | Type::Any)) {
        return items.iter().map(|item| json(attribute, below, item)).collect();
    }
    match (attribute.kind, below, value) {
        (_, _, Value::Nil) => serde_json::Value::Null,
        (_, Some(below), _) => below.expected(value.as_map().expect("an entity is a map")),
        (Type::Record(record), None, _) => shown(record, value),
        (Type::Enum(_), None, Value::Keyword(name)) => name.as_str().to_uppercase().replace('-', "_").into(),
        (_, None, Value::Keyword(name)) => name.as_str().into(),
        (_, None, Value::Symbol(name)) => name.as_str().into(),
        (_, None, Value::Bool(flag)) => (*flag).into(),
        (_, None, Value::Int(number)) => (*number).into(),
        (_, None, Value::Str(text)) => text.to_string().into(),
        (_, None, Value::Inst(inst)) => {
            Moment::new(inst.seconds(), inst.nanos()).expect("a moment").to_string().into()
        }
        (_, None, _) => loose(value),
    }
}

/// Every field of a record, as a selection.
pub(crate) fn fields(record: &Record) -> String {
    let field = |name: &str, of: Option<&'static Record>| {
        format!("{}{}", camel(name), of.map(fields).unwrap_or_default())
    };
    let all = record.params.iter().map(|param| field(param.name, param.kind.record()));
    format!(" {{ {} }}", all.collect::<Vec<_>>().join(" "))
}

/// A record as GraphQL shows it; its map holds what is declared and nothing else.
fn shown(record: &Record, value: &Value) -> serde_json::Value {
    let map = value.as_map().expect("a record is a map");
    let declared = |key: &Value| record.params.iter().any(|param| *key == Value::keyword(param.name));
    assert!(map.keys().all(declared), "{} has an undeclared field: {value}", record.name);
    let fields = record.params.iter().map(|param| {
        let value = map.keyword(param.name).unwrap_or(&Value::Nil);
        assert!(param.is_nullable || !value.is_nil(), "{} lacks {}: {value}", record.name, param.name);
        (camel(param.name), part(param.kind, value))
    });
    serde_json::Value::Object(fields.collect())
}

fn part(kind: ParamType, value: &Value) -> serde_json::Value {
    match (kind, value) {
        (_, Value::Nil) => serde_json::Value::Null,
        (ParamType::List(item), _) => {
            let items = value.as_items().expect("a list");
            items.iter().map(|value| part(*item, value)).collect()
        }
        (ParamType::Record(record), _) => shown(record, value),
        (ParamType::Enum { values, .. }, _) => {
            let word = value.as_keyword().map_or_else(|| value.as_str().expect("a word"), |it| it.as_str());
            assert!(values.contains(&word), "{word} is none of {values:?}");
            word.to_uppercase().replace('-', "_").into()
        }
        (ParamType::Instant, Value::Inst(inst)) => {
            Moment::new(inst.seconds(), inst.nanos()).expect("a moment").to_string().into()
        }
        (ParamType::Integer { min, max }, Value::Int(number)) => {
            assert!((min..=max).contains(number), "{number} is not within {min} and {max}");
            (*number).into()
        }
        (ParamType::Boolean, Value::Bool(flag)) => (*flag).into(),
        (ParamType::Text | ParamType::Id | ParamType::Instant, Value::Str(text)) => text.to_string().into(),
        (ParamType::Map, _) => loose(value),
        _ => unreachable!("{value} is not {}", kind.expected()),
    }
}

/// A value that is JSON as it is.
fn loose(value: &Value) -> serde_json::Value {
    let mut text = String::new();
    reveille::surface::json::write(value, &mut text);
    serde_json::from_str(&text).expect("JSON")
}

/// Pages are connections in GraphQL, and tokens are given once.
pub(crate) fn is_shared(attribute: &Attribute) -> bool {
    let is_page = matches!(attribute.kind, Type::Reference(to) if to.ends_with("-page"));
    let given = [
        "psi.agent-session/token",
        "psi.agent-session/changed-count",
        "psi.agent-session/left-count",
        "psi.agent-session/taken",
        "psi.agent-session/noted-id",
        "psi.agent-session/pinged-at",
        "psi.scheduler/created?",
        "psi.scheduler/understood",
    ];
    let is_number = matches!(attribute.ident, "reveille.slot/number" | "reveille.explanation/number");
    !is_page && !is_number && !given.contains(&attribute.ident)
}

/// The field of an attribute: its name without the namespace, in camelCase.
pub(crate) fn camel(ident: &str) -> String {
    let name = ident.rsplit('/').next().unwrap_or(ident).trim_end_matches('?');
    let mut out = String::new();
    for (at, part) in name.split('-').enumerate() {
        let mut letters = part.chars();
        match letters.next() {
            Some(first) if at > 0 => out.extend(first.to_uppercase()),
            Some(first) => out.push(first),
            None => {}
        }
        out.push_str(letters.as_str());
    }
    out
}
