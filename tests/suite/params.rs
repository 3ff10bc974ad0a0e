//! A property over the table of parameters: whatever is misspelt, missing, wrongly typed or doubled, in a mutation, a read or a
//! tool, is refused by its name, and nothing is changed.
//!
//! The cases are generated from the table, so a parameter that is added is in them at once.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, Channel, ChannelKind, HostId, Primitives, SessionConfig, SessionId};
use reveille::edn::{Map, Value, read};
use reveille::engine::{Input, Report};
use reveille::graph::eql::Boundary;
use reveille::graph::registry::{MutationInfo, Param, ParamGroups, ParamType};
use reveille::runtime::{Handle, Parts, WithoutStore};
use reveille::service::{Service, TOOLBOX, registry, reply};
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};
use reveille::testkit::{SimClock, SimEntropy};

use crate::simulated::standing;

fn handle() -> Handle {
    let handle = Handle::new(Parts {
        clock: Arc::new(SimClock::new()),
        entropy: Arc::new(SimEntropy::seeded(1)),
        local: Arc::new(HostLocal::new()),
        zones: Arc::default(),
        without_store: WithoutStore::InMemory,
        journal: None,
    });
    let id = SessionId::new("one").expect("an id");
    handle.open_session(Some(id), HostId::LOCAL, SessionConfig::default()).expect("it is new");
    handle.tools().switch(Primitives::all());
    let (name, goes_to) = ("ops".into(), "https://hooks.example.com".into());
    let channel = Channel { name, kind: ChannelKind::Webhook, goes_to, agents: true, agents_manage: true };
    handle.submit(Input::Report(Report::ChannelOpened(channel))).expect("it is a fact");
    handle
}

fn params(groups: ParamGroups) -> impl Iterator<Item = &'static Param> {
    groups.iter().flat_map(|group| group.params)
}

/// A value of the type.
fn right(kind: ParamType) -> Value {
    match kind {
        // Good for everything that is text: what else it must be is not what these cases are about.
        ParamType::Text => "0".repeat(64).into(),
        ParamType::Id => "a~1~1970-01-01T00:00:00Z".into(),
        ParamType::Boolean => true.into(),
        ParamType::Integer { min, .. } => min.into(),
        ParamType::Instant => "2030-01-01T00:00:00Z".into(),
        ParamType::Enum { values, .. } => Value::keyword(values[0]),
        ParamType::List(item) => vec![right(*item)].into(),
        ParamType::Record(record) => {
            let needed = record.params.iter().filter(|param| param.is_required);
            needed.fold(Map::new(), |map, param| map.with(param.name, right(param.kind))).into()
        }
        ParamType::Map => Map::new().into(),
    }
}

/// Values that are not of the type.
fn wrong(kind: ParamType) -> Vec<Value> {
    match kind {
        ParamType::Text | ParamType::Id | ParamType::Record(_) | ParamType::Map => {
            vec![7.into(), true.into()]
        }
        ParamType::Boolean | ParamType::Instant => vec![7.into(), "neither".into()],
        ParamType::Integer { min, max } => {
            let beyond = [min.checked_sub(1), max.checked_add(1)].into_iter().flatten().map(Value::Int);
            beyond.chain(["many".into(), true.into()]).collect()
        }
        ParamType::Enum { .. } => vec!["no-such-name".into(), 7.into()],
        ParamType::List(item) => wrong(*item).into_iter().map(|value| vec![value].into()).collect(),
    }
}

/// What a call cannot do without.
fn needed(groups: ParamGroups) -> Map {
    let needed = params(groups).filter(|param| param.is_required);
    needed.fold(Map::new(), |map, param| map.with(param.name, right(param.kind)))
}

/// A name that is nearly the one that is meant, and no name at all.
fn misspelt(name: &str, known: &[&'static Param]) -> String {
    let doubled = format!("{name}{}", &name[name.len() - 1..]);
    assert!(!known.iter().any(|param| param.is_called(&doubled)), "{doubled} is a name");
    doubled
}

struct Case {
    params: Map,
    /// What the refusal has to name.
    named: String,
}

/// Every call of these parameters that has to be refused.
fn cases(groups: ParamGroups) -> Vec<Case> {
    let known: Vec<&'static Param> = params(groups).collect();
    let mut cases = Vec::new();
    for param in &known {
        let call = needed(groups).with(param.name, right(param.kind));
        let without: Map =
            call.clone().into_iter().filter(|(key, _)| *key != Value::keyword(param.name)).collect();
        let name = misspelt(param.name, &known);
        let nearly = without.clone().with(&name, right(param.kind));
        cases.push(Case { params: nearly, named: format!(":{name}") });
        let qualified = format!("psi.scheduler/{}", param.name);
        cases.push(Case {
            params: call.clone().with(&qualified, right(param.kind)),
            named: format!(":{}", param.name),
        });
        if param.is_required {
            cases.push(Case { params: without.clone(), named: format!(":{}", param.name) });
        }
        for value in wrong(param.kind) {
            let params = without.clone().with(param.name, value);
            cases.push(Case { params, named: format!(":{}", param.name) });
        }
        if let ParamType::Record(record) = param.kind {
            let inner: Vec<&'static Param> = record.params.iter().collect();
            for within in &inner {
                let name = misspelt(within.name, &inner);
                let inside = right(param.kind).as_map().cloned().unwrap_or_default();
                let inside = inside.with(&name, right(within.kind));
                let params = without.clone().with(param.name, inside);
                cases.push(Case { params, named: format!(":{name}") });
            }
        }
    }
    cases.push(Case {
        params: needed(groups).with("no-such-parameter", 1),
        named: ":no-such-parameter".into(),
    });
    cases
}

fn ask(handle: &Handle, query: &str, lenient: bool) -> String {
    let form = read(query.as_bytes(), &REQUEST_CAPS).expect(query);
    let request = Boundary::read(&form).expect(query);
    let answer = Service::new(handle.clone()).query(&Caller::OPERATOR, &request, lenient).expect(query);
    Value::from(reply(&request, answer)).to_string()
}

fn mutations() -> Vec<MutationInfo> {
    registry().described_mutations().collect()
}

#[test]
fn a_wrong_parameter_of_a_mutation_is_refused_in_eql() {
    let handle = handle();
    let before = standing(&handle);
    let mut count = 0;
    for mutation in mutations() {
        for case in cases(mutation.params) {
            for lenient in [false, true] {
                let query = format!("[({} {})]", mutation.name, Value::Map(case.params.clone()));
                let answer = ask(&handle, &query, lenient);
                assert!(
                    answer.contains("VALIDATION") || lenient && answer.contains("mutation-error"),
                    "{query}: {answer}"
                );
                assert!(answer.contains(&case.named), "{query} names {}: {answer}", case.named);
                assert_eq!(standing(&handle), before, "{query}");
                count += 1;
            }
            // What stands before it is not carried out either.
            let query = format!("[{RIGHT} ({} {})]", mutation.name, Value::Map(case.params.clone()));
            let answer = ask(&handle, &query, false);
            assert!(answer.contains(&case.named), "{query} names {}: {answer}", case.named);
            assert_eq!(standing(&handle), before, "{query}");
        }
    }
    assert!(count > 500, "only {count} cases");
}

/// A mutation that is carried out if it is asked for by itself.
const RIGHT: &str =
    "(psi.scheduler/create {:session-id \"one\" :kind :message :message \"m\" :delay-ms 60000})";

#[test]
fn a_wrong_parameter_of_a_read_is_refused_in_eql() {
    let handle = handle();
    let registry = registry();
    let before = standing(&handle);
    for (attribute, entity) in registry.attributes() {
        let groups = attribute.params;
        let wrong = cases(groups).into_iter().filter(|case| !case.named.is_empty());
        for case in wrong {
            // Types of values are checked when the attribute is read, which takes an entity; names are checked before.
            if case.params.keys().all(|key| {
                params(groups).any(|param| key.as_keyword().is_some_and(|key| param.is_called(key.as_str())))
            }) && (entity.key.is_some() || case.params.is_empty())
            {
                continue;
            }
            let call = format!("(:{} {})", attribute.ident, Value::Map(case.params.clone()));
            let query = match entity.key {
                Some(key) => format!("[{{[:{key} \"nobody\"] [{call}]}}]"),
                None => format!("[{call}]"),
            };
            let strict = ask(&handle, &query, false);
            assert!(
                strict.contains("VALIDATION") || strict.contains("reveille.error/why"),
                "{query}: {strict}"
            );
            assert!(strict.contains(&case.named), "{query} names {}: {strict}", case.named);
            let lenient = ask(&handle, &query, true);
            assert!(lenient.contains(&case.named), "{query} names {}: {lenient}", case.named);
        }
    }
    assert_eq!(standing(&handle), before);
}

#[test]
fn a_slip_below_an_empty_list_is_named() {
    let handle = handle();
    for (query, meant) in [
        ("[{:psi.scheduler/schedules [:psi.scheduler/lable]}]", "did you mean :psi.scheduler/label?"),
        ("[{:psi.scheduler/schedules [(:psi.scheduler/upcoming {:frist 3})]}]", "did you mean :first?"),
        ("[{:psi.scheduler/schedules [(:psi.scheduler/runs {:foo 3})]}]", "takes no parameters"),
        ("[{(:psi.scheduler/schedules {:statuss :failed}) [:psi.scheduler/label]}]", "did you mean :status?"),
        (
            "[{:psi.scheduler/schedules {:psi.scheduler/schedul-id [:psi.scheduler/kind]}}]",
            "did you mean :psi.scheduler/schedule-id?",
        ),
    ] {
        for lenient in [false, true] {
            let answer = ask(&handle, query, lenient);
            assert!(answer.contains(meant), "{query}, lenient {lenient}: {answer}");
        }
    }
}

/// In a lenient answer, what is wrong with a parameter has one form, whether its name is wrong or its value.
#[test]
fn a_wrong_name_and_a_wrong_value_are_told_alike() {
    let handle = handle();
    for (query, message) in [
        (
            "[(:psi.scheduler/pending-count {:x 1})]",
            "there is no parameter :x of :psi.scheduler/pending-count",
        ),
        ("[(:psi.scheduler/schedules {:first \"many\"})]", "parameter :first must be"),
    ] {
        let answer = ask(&handle, query, true);
        let errors = "{:com.wsscode.pathom3.error/cause :com.wsscode.pathom3.error/node-errors \
                      :com.wsscode.pathom3.error/node-error-details {1 {:com.wsscode.pathom3.error/cause \
                      :com.wsscode.pathom3.error/node-exception";
        assert!(answer.contains(errors) && answer.contains(message), "{query}: {answer}");
        assert!(!answer.contains("attribute-unreachable"), "{query}: {answer}");
    }
}

/// A recursion that leads back to where it was says so, and where.
#[test]
fn a_recursion_without_an_end_says_where_it_comes_back_to() {
    let handle = handle();
    let made = ask(&handle, &format!("[{RIGHT}]"), false);
    assert!(made.contains(":psi.scheduler/created? true"), "{made}");
    let answer = ask(&handle, "[{:psi.scheduler/schedules ...}]", false);
    for part in [
        ":cause :cycle",
        "has no end: it comes back to {:psi.scheduler/schedule-id \\\"sch-",
        ":code \"VALIDATION\"",
        "as in {:psi.scheduler/schedules 2}",
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
}

#[test]
fn two_assumptions_at_once_are_refused() {
    let handle = handle();
    let query = "[(:reveille/what-if {:down-from #inst \"2026-12-01\" :down-until #inst \"2026-12-02\" \
                 :schedule-id \"sch-1\" :label \"x\"})]";
    let answer = ask(&handle, query, false);
    assert!(answer.contains("parameter :schedule-id must be given without an outage"), "{answer}");
    assert!(answer.contains(":value \"sch-1\""), "{answer}");
}

#[test]
fn the_keys_of_a_map_are_no_attributes() {
    let handle = handle();
    let made = ask(&handle, &format!("[{RIGHT}]"), false);
    assert!(made.contains(":psi.scheduler/created? true"), "{made}");
    let query =
        "[{:psi.scheduler/schedules [{:psi.scheduler/policy [:missed]} {:psi.scheduler/target [:kind]}]}]";
    let answer = ask(&handle, query, false);
    assert!(answer.contains("{:missed :"), "{answer}");
    assert!(!answer.contains("reveille.error/why"), "{answer}");
}

#[test]
fn a_right_that_is_misspelt_leaves_nothing_open() {
    let handle = handle();
    for query in [
        "[(psi.agent-session/set-grant {:session-id \"one\" :rights :none :dialect [:psi]})]",
        "[(psi.agent-session/set-grant {:session-id \"one\" :right :nothing})]",
    ] {
        let answer = ask(&handle, query, true);
        assert!(answer.contains("mutation-error"), "{query}: {answer}");
    }
    let answer = ask(&handle, "[(psi.agent-session/set-grant {:session-id \"one\" :right :none})]", true);
    assert!(!answer.contains("mutation-error"), "{answer}");
    let grant = ask(&handle, "[{[:psi.agent-session/session-id \"one\"] [:psi.agent-session/grant]}]", false);
    assert!(grant.contains(":right nil"), "{grant}");
}

#[test]
fn an_unknown_argument_of_a_tool_is_refused() {
    let handle = handle();
    let caller = Caller::session(SessionId::new("one").expect("an id"));
    let before = standing(&handle);
    for tool in TOOLBOX.iter().filter(|tool| tool.name != "channels.test_send") {
        let schema = tool.input_schema();
        let schema = schema.as_map().expect("a schema");
        let named = schema.keyword("properties").and_then(Value::as_map).expect("properties");
        for name in named.keys().filter_map(|key| key.as_keyword().map(|key| key.as_str().to_owned())) {
            let nearly = format!("{name}q");
            let args: Map = [(Value::string(nearly.as_str()), Value::from("x"))].into_iter().collect();
            let answer = Service::new(handle.clone())
                .call_tool(tool.name, &caller, &args.into(), Notation::Json)
                .expect("admitted")
                .expect("a tool");
            assert!(answer.is_error, "{} takes {nearly}: {:?}", tool.name, answer.value);
            assert_eq!(standing(&handle), before, "{} with {nearly}", tool.name);
        }
    }
}

#[test]
fn psis_query_changes_nothing() {
    let handle = handle();
    let caller = Caller::session(SessionId::new("one").expect("an id"));
    let before = standing(&handle);
    for mutation in ["psi.agent-session/send-user-message {:text \"x\"}", "psi.agent-session/cancel-all {}"] {
        let args = Map::new().with("action", "query").with("query", format!("[({mutation})]"));
        let answer = Service::new(handle.clone())
            .call_tool("psi-tool", &caller, &args.into(), Notation::Edn)
            .expect("admitted")
            .expect("a tool");
        assert!(answer.value.to_string().contains("may only read"), "{mutation}: {:?}", answer.value);
    }
    assert_eq!(standing(&handle), before);
}

#[test]
fn graphql_and_pathom_have_the_parameters_of_the_table() {
    let handle = handle();
    let sdl = reveille::app::schema::text(reveille::surface::cli::SchemaKind::Graphql);
    let index = ask(&handle, "[:com.wsscode.pathom3.connect.indexes/indexes]", false);
    for mutation in mutations() {
        for param in params(mutation.params) {
            let camel: String = {
                let mut words = param.name.split('-');
                let first = words.next().unwrap_or_default().to_owned();
                words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
            };
            assert!(sdl.contains(&format!("{camel}:")), "{camel} of {}", mutation.name);
            assert!(index.contains(&format!(":{}", param.name)), "{} of {}", param.name, mutation.name);
        }
    }
    let service = Arc::new(GraphqlService::new(&Service::new(handle.clone())).expect("sound roots"));
    let unknown =
        r#"{"query": "mutation { setSessionGrant(sessionId: \"one\", rights: NONE) { sessionId } }"}"#;
    let request = GraphqlRequest::from_json(unknown.as_bytes()).expect("a request");
    let answer = service.answer(&Caller::OPERATOR, &request, false).body;
    assert!(answer.contains("rights") && answer.contains("GRAPHQL_VALIDATION_FAILED"), "{answer}");
}
