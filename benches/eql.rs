//! Benchmarks a query for 100 rows of 4 fields: from text to text, and from a prepared plan.
//!
//! Run with `cargo bench --bench eql`. The target in process is 20 000 queries per second on one
//! core.

use criterion::{Criterion, criterion_group, criterion_main};
use reveille::edn::{Caps, Map, Value, read_keeping_meta, write};
use reveille::graph::eql::{Boundary, Limits, Planning, QueryAnswer, QueryCaller, QueryRequest, plan, run};
use reveille::graph::registry::{
    Access, Attribute, Datum, Entity, Registry, Type, Viewer, Visibility, World,
};

const CAPS: Caps = Caps { bytes_max: 1 << 16, depth_max: 64, digits_max: 64, forms_max: 1_000 };
const LIMITS: Limits =
    Limits { depth: 64, attributes: 1_000, rows: 100_000, calls: 1_000, bytes: 1_000_000_000 };
const QUERY: &str = "[{:tasks [:task/id :task/title :task/kind :task/due]}]";

struct Tasks;

struct Table(Vec<(String, String, bool, i64)>);

impl World for Tasks {
    type View<'a> = Table;
    type Hand<'a> = ();
    type Call = ();
}

impl Access<Tasks> for Table {
    fn with_view(&mut self, reading: &mut dyn FnMut(&Self)) {
        reading(self);
    }

    fn act(&mut self, acting: &mut dyn FnMut(())) {
        acting(());
    }
}

fn public(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).doc("Measured.").visible_to(Visibility::Everyone)
}

fn row(table: &Table, at: u64) -> &(String, String, bool, i64) {
    &table.0[usize::try_from(at).expect("a number of ours")]
}

fn registry() -> Registry<Tasks> {
    let find: fn(&Table, &Value) -> Option<u64> = |_, key| key.as_str()?.get(5..)?.parse().ok();
    let task = Entity::<Tasks, u64>::new("task", "task/id", find)
        .doc("A row.")
        .reads(public("task/id", Type::String), |table, at, _| Ok(Datum::Text(&row(table, at).0)))
        .reads(public("task/title", Type::String), |table, at, _| Ok(Datum::Text(&row(table, at).1)))
        .reads(public("task/kind", Type::Enum(&["message", "session"])), |table, at, _| {
            Ok(Datum::Name(if row(table, at).2 { "message" } else { "session" }))
        })
        .reads(public("task/due", Type::Integer), |table, at, _| Ok(Datum::Int(row(table, at).3)));
    let root = Entity::<Tasks, ()>::root("root")
        .doc("All.")
        .reads(public("tasks", Type::Reference("task")).many(), |table, (), _| {
            Ok(Datum::Entities((0..table.0.len() as u64).collect()))
        });
    Registry::builder().entity(task).entity(root).build().expect("sound declarations")
}

fn queries(criterion: &mut Criterion) {
    let made = |at: i64| (format!("task-{at}"), format!("title of {at}"), at % 2 == 0, at * 1_000);
    let mut table = Table((0..100).map(made).collect());
    let registry = registry();
    let caller = QueryCaller { viewer: Viewer::Operator, is_lenient: false, limits: LIMITS, stop: &|| false };
    let form = read_keeping_meta(QUERY.as_bytes(), &CAPS).expect("EDN");
    let boundary = Boundary::read(&form).expect("a query");
    criterion.bench_function("eql/100x4/text-to-text", |bencher| {
        bencher.iter(|| {
            let form = read_keeping_meta(QUERY.as_bytes(), &CAPS).expect("EDN");
            let boundary = Boundary::read(&form).expect("a query");
            let answer = boundary.answer(&registry, &caller, &mut table).expect("answered");
            let mut text = String::new();
            write(&Value::Map(boundary.reply(answer)), &mut text);
            text
        });
    });
    let planning = Planning { seeds: &[], viewer: Viewer::Operator, limits: LIMITS };
    let plan = plan(&boundary.query, &registry, &planning).expect("planned");
    let (entity, stop) = (Map::new(), || false);
    let request =
        QueryRequest { plan: &plan, entity: &entity, is_lenient: false, limits: LIMITS, stop: &stop };
    let answer = run(&registry, &request, &mut table).expect("answered");
    // What a query costs when its plan is cached.
    criterion.bench_function("eql/100x4/planned", |bencher| {
        bencher.iter(|| run(&registry, &request, &mut table).expect("answered"));
    });
    // The cost of building and dropping the answer alone, to be subtracted from the other figures.
    let QueryAnswer::Done(map) = answer else { return };
    criterion.bench_function("eql/100x4/drop-and-clone", |bencher| bencher.iter(|| map.clone()));
}

criterion_group!(benches, queries);
criterion_main!(benches);
