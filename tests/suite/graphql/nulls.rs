//! Nulls on their way up, held to what graphql-js answers: `fixtures/graphql/nulls.json`, recorded by
//! `tests/clients/graphql_nulls.mjs` over the same world.

use std::sync::Arc;

use reveille::edn::{Map, Value};
use reveille::graph::registry::{
    Access, Attribute, Datum, Entity, Registry, ResolverError, Type, Visibility, World,
};
use reveille::surface::graphql::{Graphql, GraphqlRequest, QueryKind, QueryRoot, Roots};

use super::{caller, json};

/// A world in which attributes fail.
struct Failing;

impl World for Failing {
    type View<'a> = ();
    type Hand<'a> = ();
    type Call = ();
}

impl Access<Failing> for Failing {
    fn with_view(&mut self, reading: &mut dyn FnMut(&())) {
        reading(&());
    }

    fn act(&mut self, acting: &mut dyn FnMut(())) {
        acting(());
    }
}

type Read = fn(&(), u64, &Map) -> Result<Datum<'static>, ResolverError>;

fn open(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).doc("Fails, or not.").visible_to(Visibility::Everyone)
}

fn node() -> Entity<Failing, u64> {
    const REF: Type = Type::Reference("node");
    let entity = Entity::<Failing, u64>::new("node", "node/id", |(), key| u64::try_from(key.as_int()?).ok())
        .doc("A thing that fails.")
        .reads(open("node/id", Type::Integer), |(), id, _| Ok(Datum::Int(i64::try_from(id).unwrap_or(0))));
    let one = |ident, kind| open(ident, kind);
    let many = |ident, kind| open(ident, kind).many();
    let rows: Vec<(Attribute, Read)> = vec![
        (one("node/ok", Type::String), |(), _, _| Ok("ok".into())),
        (one("node/nil", Type::String).nullable(), |(), _, _| Ok(Datum::Nil)),
        (one("node/fails", Type::String).nullable(), |(), _, _| fail("fails")),
        (one("node/fails-hard", Type::String), |(), _, _| fail("fails hard")),
        (one("node/nil-hard", Type::String), |(), _, _| Ok(Datum::Nil)),
        (one("node/child", REF).nullable(), |(), _, _| Ok(Value::Int(2).into())),
        (one("node/child-nil", REF).nullable(), |(), _, _| Ok(Datum::Nil)),
        (one("node/child-hard", REF), |(), _, _| Ok(Value::Int(3).into())),
        (one("node/child-nil-hard", REF), |(), _, _| Ok(Datum::Nil)),
        (one("node/child-fails", REF).nullable(), |(), _, _| fail("child")),
        (one("node/child-fails-hard", REF), |(), _, _| fail("child hard")),
        (many("node/children", REF).nullable(), |(), _, _| Ok(ints(&[4, 5]))),
        (many("node/children-hard", REF), |(), _, _| Ok(ints(&[6, 7]))),
        (many("node/children-nil", REF).nullable(), |(), _, _| Ok(Datum::Nil)),
        (many("node/children-nil-hard", REF), |(), _, _| Ok(Datum::Nil)),
        (many("node/children-holed", REF).nullable(), |(), _, _| Ok(ints(&[8, 0, 9]))),
        (many("node/children-holed-hard", REF), |(), _, _| Ok(ints(&[8, 0, 9]))),
        (many("node/children-fail", REF).nullable(), |(), _, _| fail("children")),
        (many("node/children-fail-hard", REF), |(), _, _| fail("children hard")),
        (many("node/words", Type::String), |(), _, _| Ok(words(&["a", "b"]))),
        (many("node/words-holed", Type::String).nullable(), |(), _, _| Ok(words(&["a", ""]))),
        (many("node/words-holed-hard", Type::String), |(), _, _| Ok(words(&["", "b"]))),
        (many("node/no-list", Type::String).nullable(), |(), _, _| Ok(Datum::Int(7))),
        (many("node/no-list-hard", Type::String), |(), _, _| Ok(Datum::Int(7))),
        (one("node/large", Type::Integer).unit("things").nullable(), |(), _, _| {
            Ok(Datum::Int(3_000_000_000))
        }),
        (one("node/large-hard", Type::Integer).unit("things"), |(), _, _| Ok(Datum::Int(3_000_000_000))),
        (one("node/no-number", Type::Integer).unit("things").nullable(), |(), _, _| Ok("seven".into())),
        (one("node/no-flag", Type::Boolean).nullable(), |(), _, _| Ok("seven".into())),
        (one("node/kind", Type::Enum(&["blue"])).nullable(), |(), _, _| Ok(Datum::Name("green"))),
        (one("node/kind-hard", Type::Enum(&["blue"])), |(), _, _| Ok(Datum::Name("green"))),
    ];
    rows.into_iter().fold(entity, |entity, (attribute, read)| entity.reads(attribute, read))
}

fn root() -> Entity<Failing, ()> {
    const REF: Type = Type::Reference("node");
    Entity::<Failing, ()>::root("root")
        .doc("Where it begins.")
        .reads(open("must", REF), |(), (), _| Ok(Value::Int(1).into()))
        .reads(open("many", REF).many(), |(), (), _| Ok(ints(&[1, 2])))
        .reads(open("some", REF).many().nullable(), |(), (), _| Ok(ints(&[1, 2])))
        .reads(open("nothing", REF).nullable(), |(), (), _| Ok(Datum::Nil))
        .reads(open("failure", REF), |(), (), _| fail("failure"))
}

fn fail(message: &str) -> Result<Datum<'static>, ResolverError> {
    Err(ResolverError::new(message, Value::Nil))
}

/// Keys of nodes; zero is a hole.
fn ints(keys: &[i64]) -> Datum<'static> {
    let key = |key: &i64| if *key == 0 { Value::Nil } else { Value::Int(*key) };
    Value::vector(keys.iter().map(key).collect::<Vec<_>>()).into()
}

/// Words; an empty one is a hole.
fn words(words: &[&'static str]) -> Datum<'static> {
    let word = |word: &&'static str| if word.is_empty() { Value::Nil } else { Value::string(*word) };
    Value::vector(words.iter().map(word).collect::<Vec<_>>()).into()
}

#[test]
fn nulls_go_as_far_up_as_in_graphql_js() {
    let registry = Registry::builder().entity(node()).entity(root()).build().expect("sound declarations");
    let attributes = ["must", "many", "some", "nothing", "failure"];
    let attribute = |name| QueryRoot { name, doc: "Fails, or not.", kind: QueryKind::Attribute(name) };
    let by_key = QueryRoot { name: "node", doc: "Found.", kind: QueryKind::Entity("node") };
    let queries = attributes.into_iter().map(attribute).chain([by_key]).collect();
    let roots = Roots { queries, ..Roots::default() };
    let service = Graphql::new(Arc::new(registry), &roots).expect("sound roots");
    let rows = json(include_str!("../../../fixtures/graphql/nulls.json"));
    let rows = rows.as_array().expect("rows");
    assert!(rows.len() > 500, "the fixture is read wrongly");
    let mut differing = Vec::new();
    for row in rows {
        let query = row["query"].as_str().expect("a query");
        let mut answer = json(&service.execute(&GraphqlRequest::new(query), &caller(), &mut Failing).body);
        for error in answer["errors"].as_array_mut().into_iter().flatten() {
            // Codes are ours.
            error.as_object_mut().expect("an error").remove("extensions");
        }
        if answer["errors"].is_null() {
            answer.as_object_mut().expect("an answer").remove("errors");
        }
        if answer != row["answer"] {
            differing.push(format!("{query}\n  ours    {answer}\n  theirs  {}", row["answer"]));
        }
    }
    let (count, few) = (differing.len(), &differing[..3.min(differing.len())]);
    assert!(differing.is_empty(), "{count} of {} differ:\n{}", rows.len(), few.join("\n"));
}
