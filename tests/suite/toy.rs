//! The toy world of `fixtures/eql/pathom3.txt`: tasks with numbers, shapes, a cycle.
//!
//! Lives here: its registry, declared as any world's would be. Does not live here: any assertion.

#![allow(dead_code, reason = "the fuzz target that includes this uses a part of it")]

use std::sync::{Arc, LazyLock};

use reveille::edn::{Caps, Map, Value, read_keeping_meta};
use reveille::graph::eql::{Boundary, Limits, Query, QueryCaller, QueryRefusal, parse};
use reveille::graph::registry::{
    Access, Attribute, Builder, Datum, Entity, Graph, Introspected, Mutation, Param, ParamFault, ParamGroup,
    ParamGroups, ParamType, Registry, ResolverError, RowKey, Type, ViewOf, Viewer, Visibility, World, check,
};

pub(crate) const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 64, forms_max: 10_000 };

pub(crate) const LIMITS: Limits =
    Limits { depth: 64, attributes: 1_000, rows: 10_000, calls: 1_000, bytes: 1_000_000 };

/// The kind of world.
pub(crate) struct Tasks;

/// One such world: what was done to it.
pub(crate) struct Toy {
    pub(crate) registry: Arc<Registry<Tasks>>,
    pub(crate) done: Vec<i64>,
}

/// A number, which may be negative: whether there is such a task is another question.
#[derive(Clone, Copy)]
pub(crate) struct Id(i64);

impl RowKey for Id {
    fn number(self) -> u64 {
        self.0.cast_unsigned()
    }

    fn numbered(number: u64) -> Self {
        Self(number.cast_signed())
    }
}

impl Id {
    fn numbered_text(self, before: &str) -> Result<Datum<'static>, ResolverError> {
        match self {
            Id(id @ 0..) => Ok(format!("{before}{id}").into()),
            Id(_) => Err(ResolverError::new("the id is no number", Value::Nil)),
        }
    }
}

impl World for Tasks {
    type View<'a> = Toy;
    type Hand<'a> = &'a mut Vec<i64>;
    type Call = Map;
}

impl Introspected for Tasks {
    fn graph(view: ViewOf<'_, Self>) -> Graph<'_, Self> {
        Graph { registry: &view.registry, viewer: Viewer::Operator }
    }

    fn begins_at_seeds(_: ViewOf<'_, Self>) -> bool {
        false
    }
}

impl Access<Tasks> for Toy {
    fn with_view(&mut self, reading: &mut dyn FnMut(&Toy)) {
        reading(self);
    }

    fn act(&mut self, acting: &mut dyn FnMut(&mut Vec<i64>)) {
        acting(&mut self.done);
    }
}

pub(crate) fn toy() -> Toy {
    // Made once: the fuzzer asks for a toy several times for each of its inputs.
    static REGISTRY: LazyLock<Arc<Registry<Tasks>>> =
        LazyLock::new(|| Arc::new(builder().build().expect("sound declarations")));
    Toy { registry: Arc::clone(&REGISTRY), done: Vec::new() }
}

pub(crate) fn form(text: &str) -> Value {
    read_keeping_meta(text.as_bytes(), &CAPS).expect(text)
}

pub(crate) fn keys(text: &str) -> String {
    text.replace(":PERR/", ":com.wsscode.pathom3.error/")
        .replace(":PCR/", ":com.wsscode.pathom3.connect.runner/")
        .replace(":PCO/", ":com.wsscode.pathom3.connect.operation/")
        .replace(":PCI/", ":com.wsscode.pathom3.connect.indexes/")
}

/// What a boundary answers to a request.
pub(crate) fn ask(toy: &mut Toy, text: &str, is_lenient: bool) -> Result<Value, QueryRefusal> {
    ask_as(toy, text, &QueryCaller { viewer: Viewer::Operator, is_lenient, limits: LIMITS, stop: &|| false })
}

pub(crate) fn ask_as(toy: &mut Toy, text: &str, caller: &QueryCaller<'_>) -> Result<Value, QueryRefusal> {
    let boundary = match Boundary::read(&form(&keys(text))) {
        Ok(boundary) => boundary,
        Err(error) => return Ok(error.to_map().into()),
    };
    let registry = Arc::clone(&toy.registry);
    let answer = boundary.answer(&registry, caller, toy);
    Ok(boundary.reply(answer?).into())
}

pub(crate) fn builder() -> Builder<Tasks> {
    Registry::builder()
        .entity(task())
        .entity(c())
        .entity(root())
        .entity(shape())
        .entity(Graph::entity())
        .entity(Graph::resolver_entity())
        .entity(Graph::attribute_entity())
        .mutation(
            Mutation::<Tasks>::new(
                "task/done",
                &["task/id"],
                |params| taken(params, &[TASK]),
                |hand, call| done(hand, call?),
            )
            .params(&[TASK])
            .doc("D.")
            .open_to(Visibility::Everyone),
        )
        .mutation(
            Mutation::<Tasks>::new(
                "task/bad",
                &[],
                |params| taken(params, &[]),
                |hand, call| bad(hand, call?),
            )
            .doc("Fails.")
            .open_to(Visibility::Operator),
        )
        .mutation(
            Mutation::<Tasks>::new(
                "needs",
                &["got"],
                |params| taken(params, &[A]),
                |_, params| Ok(Map::new().with("got", params?.keyword("a").cloned()).into()),
            )
            .doc("Hands back.")
            .params(&[A])
            .open_to(Visibility::Everyone),
        )
}

fn task() -> Entity<Tasks, Id> {
    Entity::new("task", "task/id", |_, key| Some(Id(key.as_int().unwrap_or(-1))).filter(|Id(id)| *id < 100))
        .doc("Something to do.")
        .reads(public("task/id", Type::Integer), |_, Id(id), _| Ok(Datum::Int(id)))
        .reads(public("task/title", Type::String), |_, id, _| id.numbered_text("t"))
        .reads(public("task/slug", Type::String), |_, id, _| id.numbered_text("T"))
        .reads(public("task/kind", Type::Enum(&["odd", "even"])), |_, Id(id), _| {
            Ok(Datum::Name(if id % 2 == 0 { "even" } else { "odd" }))
        })
        .reads(public("task/parent", Type::Reference("task")).nullable(), |_, Id(id), _| {
            Ok(if id < 3 { Datum::Int(id + 1) } else { Datum::Nil })
        })
        .reads(public("task/kids", Type::Reference("task")).many(), |_, Id(id), _| {
            let kids = if id < 4 { vec![Id(2 * id), Id(2 * id + 1)] } else { vec![] };
            Ok(Datum::Entities(kids.into_iter().map(Id::number).collect()))
        })
        .reads(public("task/secret", Type::String).visible_to(Visibility::Operator), |_, _, _| {
            Ok(Datum::Text("hush"))
        })
        .reads(public("o", Type::Any).many(), |_, Id(id), _| Ok(vec![id.into(), Value::Nil].into()))
        .attribute(public("x", Type::Any).nullable().seed())
}

fn c() -> Entity<Tasks, Id> {
    Entity::new("c", "c/id", |_, key| key.as_int().map(Id))
        .doc("One of two that follow each other.")
        .attribute(public("c/id", Type::Integer))
        .reads(public("c/next", Type::Reference("c")), |_, Id(id), _| Ok(Datum::Int(1 - id)))
}

fn root() -> Entity<Tasks, ()> {
    Entity::root("root")
        .doc("What can be asked at once.")
        .reads(public("tasks", Type::Reference("task")).many(), |_, (), _| {
            Ok(Datum::Value(Value::vector([Value::Int(1), Value::Int(2)])))
        })
        .reads(public("p", Type::Map).params(&[ANYTHING]), |_, (), params| {
            Ok(Datum::Value(params.clone().into()))
        })
        .reads(public("boom", Type::Any), |_, (), _| {
            Err(ResolverError::new("boom", Map::new().with("code", 7)))
        })
        .reads(public("all-slugs", Type::String).many(), |_, (), _| Ok(form("[\"T1\" \"T2\"]").into()))
        .attribute(public("got", Type::Any).seed())
}

fn shape() -> Entity<Tasks, ()> {
    Entity::root("shape")
        .doc("One of several kinds.")
        .reads(public("shapes", Type::Map).many(), |_, (), _| {
            Ok(form("[{:circle/r 1} {:sq/side 2} {:other 3}]").into())
        })
        .attribute(public("circle/r", Type::Integer).seed())
        .attribute(public("sq/side", Type::Integer).seed())
        .attribute(public("other", Type::Integer).seed())
}

fn public(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).doc("Of the toy world.").visible_to(Visibility::Everyone)
}

fn taken(params: &Map, declared: ParamGroups) -> Result<Map, ParamFault> {
    check(params, declared).map(|()| params.clone())
}

fn done(done: &mut Vec<i64>, params: Map) -> Result<Value, ResolverError> {
    // It takes no other parameter, whatever qualifies it.
    let id = params.into_iter().next().map_or(Value::Nil, |(_, id)| id);
    done.extend(id.as_int());
    Ok(Map::new().with("task/id", id).into())
}

fn bad(_: &mut Vec<i64>, _: Map) -> Result<Value, ResolverError> {
    Err(ResolverError::new("nope", Value::Nil))
}

/// What must hold for any bytes: they are refused or answered, and a query prints and parses back.
pub(crate) fn replay(input: &[u8]) {
    const ROOMY: Caps =
        Caps { bytes_max: 1 << 28, depth_max: 512, digits_max: u16::MAX, forms_max: u32::MAX };
    const TIGHT: Limits = Limits { depth: 12, attributes: 100, rows: 1_000, calls: 1_000, bytes: 1_000_000 };
    let Ok(value) = read_keeping_meta(input, &CAPS) else {
        return;
    };
    let boundary = match Boundary::read(&value) {
        Ok(boundary) => boundary,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let printed = boundary.query.to_value();
    assert_eq!(parse(&printed).as_ref(), Ok(&boundary.query), "printed");
    let tree = Query::from_ast(&boundary.query.to_ast()).expect("a tree of ours");
    assert_eq!(tree.exprs, without_meta(&boundary.query).exprs, "as a tree");
    for (viewer, is_lenient) in [(Viewer::Operator, true), (Viewer::Session, false), (Viewer::Nobody, true)] {
        let caller = QueryCaller { viewer, is_lenient, limits: TIGHT, stop: &|| false };
        let mut toy = toy();
        let registry = Arc::clone(&toy.registry);
        let answer = boundary.answer(&registry, &caller, &mut toy);
        if let Ok(answer) = answer {
            // Whatever is answered can be sent: also the error map, which repeats the query.
            let reply = Value::from(boundary.reply(answer)).to_string();
            assert!(read_keeping_meta(reply.as_bytes(), &ROOMY).is_ok(), "{reply}");
        }
    }
}

/// A tree keeps the metadata of the whole query only.
fn without_meta(query: &Query) -> Query {
    let text = query.to_value().to_string();
    parse(&form(&text)).expect("printed without metadata")
}

const fn param(name: &'static str, kind: ParamType, is_required: bool) -> Param {
    Param { name, alias: None, doc: "Given.", kind, is_required, is_nullable: !is_required }
}

/// A required parameter.
const A: &ParamGroup = &ParamGroup { doc: "One.", folded: None, params: &[param("a", ParamType::Map, true)] };

/// Which task.
const TASK: &ParamGroup = &ParamGroup {
    doc: "Which.",
    folded: None,
    params: &[
        param("task-id", ParamType::Integer { min: 0, max: 1_000 }, false),
        param("id", ParamType::Integer { min: 0, max: 1_000 }, false),
    ],
};

/// One parameter of each kind.
const ANYTHING: &ParamGroup = &ParamGroup {
    doc: "Anything.",
    folded: None,
    params: &[
        param("a", ParamType::Map, false),
        param("kind", ParamType::Enum { name: "task-kind", values: &["odd", "even"] }, false),
        param("text", ParamType::Text, false),
        param("at", ParamType::Instant, false),
        param("any", ParamType::Map, false),
        param("number", ParamType::Integer { min: i64::MIN, max: i64::MAX }, false),
    ],
};
