//! GraphQL by the short way and by the long one: selections out of a seed over the schema that each caller sees.

use std::collections::BTreeMap;
use std::sync::Arc;

use reveille::domain::Caller;
use reveille::graph::view::{Scheduler, viewer};
use reveille::service::{QUERY_LIMITS, Service, registry};
use reveille::surface::graphql::{self, Graphql, GraphqlRequest};
use serde_json::Value;

use super::callers;
use super::generate::Generator;
use super::population::Population;

/// What is asked for twice is answered the long way, and what stands before it with it.
const TWICE: &str = " _a: pendingCount _b: pendingCount";

#[test]
fn a_selection_means_the_same_by_either_way() {
    let population = Population::new();
    let service = &population.service;
    let graphql = Graphql::new(Arc::clone(&registry()), &graphql::roots()).expect("sound roots");
    let mut whole = 0;
    for (name, caller) in callers(&population) {
        let ask = |query: String| execute(&graphql, service, &caller, query);
        let schema = Schema::read(&ask(INTROSPECTION.to_owned()), &population);
        let pending = ask("{ pendingCount }".to_owned());
        let pending = pending.trim_start_matches("{\"data\":{\"pendingCount\":").trim_end_matches("}}");
        let twice = format!(",\"_a\":{pending},\"_b\":{pending}");
        for seed in 0..800 {
            let selection = schema.selection(&mut Generator::new(seed), "Query", 0);
            let short = ask(format!("{{ {selection} }}"));
            let long = ask(format!("{{ {selection}{TWICE} }}"));
            if long.contains("graphql-aliases") {
                continue;
            }
            assert_eq!(short, long.replacen(&twice, "", 1), "seed {seed}, {name}, {selection}");
            whole += usize::from(!short.contains("\"errors\":"));
        }
    }
    assert!(whole > 1_500, "only {whole} answers were whole");
}

fn execute(graphql: &Graphql<Scheduler>, service: &Service, caller: &Caller, query: String) -> String {
    let asking = graphql::GraphqlCaller {
        viewer: viewer(&caller.scope),
        may_introspect: true,
        is_reading: true,
        limits: QUERY_LIMITS,
        stop: &|| false,
    };
    let mut access = service.admit_query(caller, None).expect("everybody may query");
    graphql.execute(&GraphqlRequest::new(query), &asking, &mut access).body
}

/// Types with their fields, and values for arguments that must be given.
struct Schema {
    types: BTreeMap<String, Vec<Field>>,
    ids: Vec<String>,
}

struct Field {
    name: String,
    /// The names of the arguments, and whether one must be given.
    args: Vec<(String, bool)>,
    /// What it yields, if that has fields.
    object: Option<String>,
}

impl Schema {
    fn read(answer: &str, population: &Population) -> Schema {
        let answer: Value = serde_json::from_str(answer).expect("JSON");
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let all = list(&answer["data"]["__schema"]["types"]);
        let field = |field: &Value| {
            let (mut kind, mut of) = (text(&field["type"]["kind"]), &field["type"]);
            while kind == "NON_NULL" || kind == "LIST" {
                of = &of["ofType"];
                kind = text(&of["kind"]);
            }
            let arg = |arg: &Value| (text(&arg["name"]), arg["type"]["kind"] == "NON_NULL");
            Field {
                name: text(&field["name"]),
                args: list(&field["args"]).iter().map(arg).collect(),
                object: (kind == "OBJECT").then(|| text(&of["name"])),
            }
        };
        let objects = all.iter().filter(|each| each["kind"] == "OBJECT");
        let types =
            objects.map(|each| (text(&each["name"]), list(&each["fields"]).iter().map(field).collect()));
        let own = [&population.schedules_of_a, &population.schedules_of_b].into_iter().flatten();
        let mut ids: Vec<String> = own.map(ToString::to_string).collect();
        ids.extend([population.a.to_string(), population.b.to_string(), "nobody".to_owned()]);
        Schema { types: types.collect(), ids }
    }

    fn selection(&self, generator: &mut Generator, object: &str, depth: usize) -> String {
        let fields = &self.types[object];
        let (mut parts, mut asked): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
        for number in 0..=generator.below(5) {
            if generator.below(8) == 0 {
                parts.push("__typename".to_owned());
            }
            let field = &fields[generator.below(fields.len())];
            // The graph's own index is as long as everything else together.
            if field.name == "attributes" || depth > 4 && field.object.is_some() {
                continue;
            }
            let part = self.field(generator, field, depth);
            // Fields of one key would have to be asked with the same arguments.
            if asked.contains(&field.name.as_str()) || generator.below(6) == 0 {
                parts.push(format!("f{depth}x{number}: {part}"));
            } else {
                parts.push(part);
                asked.push(&field.name);
            }
        }
        if parts.is_empty() { "__typename".to_owned() } else { parts.join(" ") }
    }

    fn field(&self, generator: &mut Generator, field: &Field, depth: usize) -> String {
        let quoted = |text: &str| serde_json::to_string(text).expect("text");
        let has = |name: &str| field.args.iter().any(|(arg, _)| arg == name);
        let required: Vec<String> = field
            .args
            .iter()
            .filter(|(_, is_required)| *is_required)
            .map(|(name, _)| format!("{name}: {}", quoted(&self.ids[generator.below(self.ids.len())])))
            .collect();
        let args = match generator.below(4) {
            _ if !required.is_empty() => format!("({})", required.join(", ")),
            0 if has("first") => "(first: 2)".to_owned(),
            1 if has("last") => "(last: 1)".to_owned(),
            2 if has("orderBy") => "(orderBy: CREATED_AT_DESC, first: 3)".to_owned(),
            3 if has("first") => "(first: 1, after: \"nonsense\")".to_owned(),
            _ => String::new(),
        };
        let below = field.object.as_ref().map(|object| self.selection(generator, object, depth + 1));
        let below = below.map(|below| format!(" {{ {below} }}")).unwrap_or_default();
        format!("{}{args}{below}", field.name)
    }
}

const INTROSPECTION: &str = "{ __schema { types { kind name fields { name args { name type { kind } } \
                             type { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } }";
