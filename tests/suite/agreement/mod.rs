//! One graph, whichever way it is asked: by the short way and the long one, as text and as values, through psi-tool, EQL
//! and GraphQL; and walls that hold for every attribute, because the list of them is taken from the registry.

mod generate;
mod graphql;
mod population;
mod primitives;
mod selections;

use reveille::dialect::{Notation, psi};
use reveille::domain::{Caller, Moment, Right, Scope, SessionId};
use reveille::edn::{Map, Value, read_keeping_meta, write};
use reveille::graph::eql::{Boundary, WriteOutcome};
use reveille::graph::registry::Type;
use reveille::service::{Service, failed, registry, reply};
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};

use generate::Generator;
use graphql::Tree;
use population::Population;

const CAPS: reveille::edn::Caps = reveille::dialect::REQUEST_CAPS;

/// Everybody who may ask.
fn callers(population: &Population) -> Vec<(&'static str, Caller)> {
    let ghost = SessionId::new("ghost").expect("an id");
    vec![
        ("operator", Caller::OPERATOR),
        ("observer", Caller { right: Right::Read, ..Caller::OPERATOR }),
        ("a", Caller::session(population.a.clone())),
        ("b", Caller::session(population.b.clone())),
        ("a session that is gone", Caller::session(ghost)),
    ]
}

/// The answer as `/eql` writes it.
fn as_text(service: &Service, caller: &Caller, query: &str, is_lenient: bool) -> String {
    let prepared = service.prepare(caller, query.as_bytes()).expect(query);
    let mut text = String::new();
    match service.answer(caller, &prepared, is_lenient, &mut text) {
        Ok(WriteOutcome::Done) => text,
        Ok(WriteOutcome::Failed(failure)) => Value::Map(failed(&prepared.boundary, &failure)).to_string(),
        Err(refusal) => refusal.to_string(),
    }
}

/// The answer by the long way.
fn as_value(service: &Service, caller: &Caller, query: &str, is_lenient: bool) -> Result<Map, String> {
    let form = read_keeping_meta(query.as_bytes(), &CAPS).expect("EDN");
    let boundary = Boundary::read(&form).expect("a query");
    let answer = service.query(caller, &boundary, is_lenient).map_err(|refusal| refusal.to_string())?;
    Ok(reply(&boundary, answer))
}

fn lenient(service: &Service, caller: &Caller, query: &str) -> Map {
    as_value(service, caller, query, true).expect("within limits")
}

#[test]
fn a_record_is_asked_for_by_field_or_as_a_whole() {
    let population = Population::new();
    let ask = |below: &str, is_lenient: bool| {
        let query =
            format!("[{{[:psi.scheduler/schedule-id \"{}\"] [{below}]}}]", population.schedules_of_a[0]);
        as_text(&population.service, &Caller::OPERATOR, &query, is_lenient)
    };
    let one = ask("{:psi.scheduler/policy [:overlap]}", false);
    assert!(one.contains("{:psi.scheduler/policy {:overlap :skip}}"), "{one}");
    let whole = ask(":psi.scheduler/policy", false);
    assert!(whole.contains("{:overlap :skip :missed ") && whole.contains(":backoff-ms []"), "{whole}");
    for is_lenient in [false, true] {
        let misspelt = ask("{:psi.scheduler/policy [:overlaps]}", is_lenient);
        assert!(misspelt.contains("did you mean :overlap?"), "{misspelt}");
        let below = ask("{:psi.scheduler/session-config-summary [{:model [:name]}]}", is_lenient);
        assert!(below.contains("a model has no field :name"), "{below}");
    }
}

#[test]
fn a_query_means_the_same_by_either_way() {
    let population = Population::new();
    let mut walked = 0;
    for seed in 0..600 {
        let query = Generator::new(seed).query(&registry());
        for (name, caller) in callers(&population) {
            for is_lenient in [false, true] {
                let text = as_text(&population.service, &caller, &query, is_lenient);
                let expected = as_value(&population.service, &caller, &query, is_lenient)
                    .map_or_else(|refusal| refusal, |map| Value::Map(map).to_string());
                assert_eq!(text, expected, "seed {seed}, {name}, {query}");
                walked += usize::from(!text.contains("com.wsscode.pathom3"));
            }
        }
    }
    assert!(walked > 2_000, "only {walked} answers were whole");
}

/// psi-tool prints instants as text; apart from that it answers what EQL answers.
#[test]
fn psi_tool_answers_what_eql_answers() {
    let population = Population::new();
    for seed in 0..300 {
        let query = Generator::new(seed).query(&registry());
        for (name, caller) in callers(&population) {
            let call = Map::new().with("action", "query").with("query", query.as_str()).into();
            let answer = population.service.call_tool(psi::TOOL, &caller, &call, Notation::Edn);
            let answer = answer.expect("admitted").expect("psi-tool is always there").value;
            if answer.as_map().is_some_and(|map| map.keyword("psi-tool/truncated").is_some()) {
                continue;
            }
            let expected = as_value(&population.service, &caller, &query, true)
                .map_or_else(|refusal| format!("EQL query error: {refusal}").into(), |map| plain(map.into()));
            assert_eq!(answer, expected, "seed {seed}, {name}, {query}");
        }
    }
}

fn plain(value: Value) -> Value {
    if let Some(inst) = value.as_inst() {
        let moment = Moment::new(inst.seconds(), inst.nanos()).expect("a moment");
        return moment.to_string().into();
    }
    if let Some(map) = value.as_map() {
        return Value::Map(
            map.iter().map(|(key, value)| (plain(key.clone()), plain(value.clone()))).collect(),
        );
    }
    match (&value, value.as_items()) {
        (Value::Vector(_), Some(items)) => {
            Value::vector(items.iter().cloned().map(plain).collect::<Vec<_>>())
        }
        (_, Some(items)) => Value::list(items.iter().cloned().map(plain).collect::<Vec<_>>()),
        (_, None) => value,
    }
}

/// For every attribute that hangs on a key: what belongs to somebody else answers as what does not exist.
#[test]
fn what_is_anothers_is_as_absent_for_every_attribute() {
    let population = Population::new();
    let queries = &population.service;
    let keys = |session: &str, schedule: &str| {
        let run = lenient(
            queries,
            &Caller::OPERATOR,
            &format!(
                "[{{[:psi.scheduler/schedule-id \"{schedule}\"] [{{:psi.scheduler/runs [:reveille.run/id]}}]}}]"
            ),
        );
        let run = Value::Map(run).to_string();
        let run = run.split(":reveille.run/id \"").nth(1).and_then(|rest| rest.split('"').next());
        let quoted = |text: &str| {
            let mut out = String::new();
            write(&text.into(), &mut out);
            out
        };
        vec![
            ("session", quoted(session)),
            ("schedule", quoted(schedule)),
            ("job", quoted(&format!("schedule/{schedule}"))),
            ("message", quoted(&format!("{session}#0"))),
            ("run", quoted(run.unwrap_or("none~1~2026-01-01T00:00:00Z"))),
        ]
    };
    let first = |ids: &[reveille::domain::ScheduleId]| ids[0].to_string();
    let (of_a, of_b) = (
        keys(population.a.as_str(), &first(&population.schedules_of_a)),
        keys(population.b.as_str(), &first(&population.schedules_of_b)),
    );
    let absent = keys("nobody", "sch-nobody");
    let mut covered = 0;
    for (attribute, entity) in registry().described() {
        let Some(key) = entity.key else { continue };
        let find = |keys: &[(&'static str, String)]| {
            keys.iter().find(|(name, _)| *name == entity.name).map(|(_, value)| value.clone())
        };
        let (Some(own), Some(other), Some(nobody)) = (find(&of_b), find(&of_a), find(&absent)) else {
            continue;
        };
        let caller = Caller::session(population.b.clone());
        let ask = |value: &str| {
            let query = format!("[{{[:{key} {value}] [:{}]}}]", attribute.ident);
            Value::Map(lenient(queries, &caller, &query)).to_string().replace(value, "KEY")
        };
        assert_eq!(ask(&other), ask(&nobody), "{}", attribute.ident);
        let answered = ask(&own);
        // Given in the answer to a mutation, and nowhere else.
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
        let is_given = given.contains(&attribute.ident);
        assert_eq!(answered.contains("attribute-errors"), is_given, "{}: {answered}", attribute.ident);
        covered += 1;
    }
    assert!(covered >= 60, "{covered} attributes");
}

/// What a session sees at the root is its own; nothing in any answer names another session or its schedules.
#[test]
fn nothing_of_another_session_is_in_any_answer() {
    let population = Population::new();
    let caller = Caller::session(population.b.clone());
    let foreign: Vec<String> = population
        .schedules_of_a
        .iter()
        .map(ToString::to_string)
        .chain(["Origin", "Be brief.", "\"in flight\"", "\"waits\"", "\"busy\""].map(str::to_owned))
        .collect();
    for seed in 0..600 {
        let query = Generator::new(seed).query(&registry());
        let answer = Value::Map(lenient(&population.service, &caller, &query)).to_string();
        let leak = foreign.iter().find(|text| answer.contains(*text));
        assert_eq!(leak, None, "seed {seed}, {query}: {answer}");
    }
    assert!(matches!(&caller.scope, Scope::Session(own) if *own == population.b));
}

/// Mutations of an observer are refused by name; those of a session on what is not its own answer as for nothing.
#[test]
fn mutations_keep_to_the_walls() {
    let population = Population::new();
    let queries = &population.service;
    let observer = Caller { right: Right::Read, ..Caller::OPERATOR };
    let answers =
        |caller: &Caller, call: &str| Value::Map(lenient(queries, caller, &format!("[{call}]"))).to_string();
    for name in
        ["psi.scheduler/create", "psi.scheduler/cancel", "psi.agent-session/open", "psi.agent-session/close"]
    {
        let answer = answers(&observer, &format!("({name} {{}})"));
        assert!(answer.contains("may only read"), "{name}: {answer}");
    }
    let b = Caller::session(population.b.clone());
    let theirs = population.schedules_of_a.last().expect("pending").to_string();
    let cancel = |id: &str| {
        answers(&b, &format!("(psi.scheduler/cancel {{:schedule-id \"{id}\"}})")).replace(id, "ID")
    };
    assert_eq!(cancel(&theirs), cancel("sch-nobody"));
    for call in [
        "psi.agent-session/close {:session-id \"X\"}",
        "psi.agent-session/set-busy {:session-id \"X\" :busy true}",
    ] {
        let on = |id: &str| answers(&b, &format!("({})", call.replace('X', id))).replace(id, "ID");
        assert_eq!(on("session-a"), on("nobody"), "{call}");
    }
    let open = answers(&b, "(psi.agent-session/open {})");
    assert_eq!(
        open.replace("psi.agent-session/open", "N"),
        answers(&b, "(no/such {})").replace("no/such", "N")
    );
    let pending = lenient(queries, &Caller::OPERATOR, "[:psi.agent-session/sessions]");
    assert!(Value::Map(pending).to_string().contains("\"session-a\""), "nothing was closed");
}

/// One entity asked in both languages; the answers are the same, value by value.
#[track_caller]
fn agree(
    service: &GraphqlService,
    caller: &Caller,
    (tree, ident, field): (&Tree, &str, &str),
    about: &str,
) -> bool {
    let eql = format!("[{{[{ident}] {}}}]", tree.eql());
    let query = format!("{{ found: {field} {} }}", tree.graphql());
    let answer = service.answer(caller, &GraphqlRequest::new(query.as_str()), true).body;
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    if answer["errors"][0]["extensions"]["code"] == "LIMIT" {
        return false;
    }
    assert_eq!(answer.get("errors"), None, "{about}, {query}");
    let asked = lenient(service.service(), caller, &eql);
    let (_, found) = asked.iter().next().expect("one join");
    let found = found.as_map().expect("an entity is a map");
    // A key alone is echoed, be there something behind it or not.
    let probe = lenient(
        service.service(),
        caller,
        &format!("[{{[{ident}] [*  :psi.scheduler/kind :psi.agent-session/host]}}]"),
    );
    let probe = Value::Map(probe).to_string();
    let is_absent = !probe.contains(":psi.scheduler/kind :") && !probe.contains(":psi.agent-session/host \"");
    let expected = if is_absent { serde_json::Value::Null } else { tree.expected(found) };
    assert_eq!(answer["data"]["found"], expected, "{about}, {eql}, {query}");
    !is_absent
}

/// T74.
#[test]
fn graphql_answers_what_eql_answers() {
    let population = Population::new();
    let service = GraphqlService::new(&population.service).expect("no faults");
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\\\""));
    let sessions = [population.a.as_str(), population.b.as_str(), "nobody"];
    let schedules: Vec<String> =
        population.schedules_of_a.iter().chain(&population.schedules_of_b).map(ToString::to_string).collect();
    let mut found = 0;
    for (name, caller) in callers(&population) {
        for (entity, key, root, ids) in [
            (
                "session",
                "psi.agent-session/session-id",
                "session(sessionId:",
                sessions.map(str::to_owned).to_vec(),
            ),
            ("schedule", "psi.scheduler/schedule-id", "schedule(scheduleId:", schedules.clone()),
        ] {
            let whole = Tree::whole(&registry(), entity);
            for id in &ids {
                let (ident, field) = (format!(":{key} {}", quoted(id)), format!("{root} {})", quoted(id)));
                found += usize::from(agree(&service, &caller, (&whole, &ident, &field), name));
            }
            for seed in 0..150 {
                let mut draw = Generator::new(seed);
                let tree = Tree::draw(&mut draw, &registry(), entity, 3);
                let id = &ids[draw.below(ids.len())];
                let (ident, field) = (format!(":{key} {}", quoted(id)), format!("{root} {})", quoted(id)));
                let about = format!("seed {seed}, {name}");
                found += usize::from(agree(&service, &caller, (&tree, &ident, &field), &about));
            }
        }
    }
    assert!(found > 700, "only {found} answers were about something");
}

/// The lists of both languages: filters, orders, pages, counts.
#[test]
fn lists_are_the_same_in_every_language() {
    let population = Population::new();
    let queries = &population.service;
    let service = GraphqlService::new(&population.service).expect("no faults");
    for (params, arguments) in [
        ("{:first 3}", "first: 3"),
        ("{:status :failed}", "first: 100, filter: {status: [FAILED]}"),
        (
            "{:status #{:pending :queued} :kind :message}",
            "first: 100, filter: {status: [PENDING, QUEUED], kind: MESSAGE}",
        ),
        ("{:order-by :created-at-desc :last 4}", "orderBy: CREATED_AT_DESC, last: 4"),
        ("{:label \"said\" :first 100}", "filter: {label: \"said\"}, first: 100"),
    ] {
        for (name, caller) in callers(&population) {
            let eql = format!(
                "[{{(:psi.scheduler/schedule-page {params}) [:reveille.schedule-page/total-count \
                  :reveille.schedule-page/has-next? :reveille.schedule-page/end-cursor \
                  {{:reveille.schedule-page/schedules [:psi.scheduler/schedule-id]}}]}}]"
            );
            let page = lenient(queries, &caller, &eql);
            let page = page.keyword("psi.scheduler/schedule-page").and_then(Value::as_map).expect("a page");
            let part =
                |name: &str| page.keyword(&format!("reveille.schedule-page/{name}")).expect("there").clone();
            let ids: Vec<String> =
                part("schedules").as_items().expect("a vector").iter().map(ToString::to_string).collect();
            let query = format!(
                "{{ schedules({arguments}) {{ totalCount nodes {{ scheduleId }} pageInfo {{ hasNextPage endCursor }} }} }}"
            );
            let answer = service.answer(&caller, &GraphqlRequest::new(query), true).body;
            let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
            let list = &answer["data"]["schedules"];
            let nodes: Vec<String> = list["nodes"]
                .as_array()
                .expect("an array")
                .iter()
                .map(|node| format!("{{:psi.scheduler/schedule-id {}}}", node["scheduleId"]))
                .collect();
            assert_eq!(nodes, ids, "{name}, {params}: {answer}");
            assert_eq!(list["totalCount"].as_i64(), part("total-count").as_int(), "{name}, {params}");
            assert_eq!(
                list["pageInfo"]["hasNextPage"].as_bool(),
                part("has-next?").as_bool(),
                "{name}, {params}"
            );
            assert_eq!(
                list["pageInfo"]["endCursor"].as_str(),
                part("end-cursor").as_str(),
                "{name}, {params}"
            );
        }
    }
}

/// Every field and mutation of the schema, for every caller: another's is as absent.
#[test]
fn another_s_is_as_absent_for_every_field_and_mutation() {
    let population = Population::new();
    let queries = &population.service;
    let service = GraphqlService::new(&population.service).expect("no faults");
    let (theirs, own) = (population.schedules_of_a[7].to_string(), population.schedules_of_b[1].to_string());
    let b = Caller::session(population.b.clone());
    let observer = Caller { right: Right::Read, ..Caller::OPERATOR };
    let ghost = Caller::session(SessionId::new("ghost").expect("an id"));
    let ask = |caller: &Caller, document: &str, id: &str| {
        let text = document.replace("ID", id);
        service.answer(caller, &GraphqlRequest::new(text), false).body.replace(id, "ID")
    };
    let mut fields = 0;
    for (attribute, entity) in registry().described() {
        let root = match entity.name {
            "session" => "session(sessionId: \"ID\")",
            "schedule" => "schedule(scheduleId: \"ID\")",
            _ => continue,
        };
        if !graphql::is_shared(attribute) {
            continue;
        }
        let has_fields = matches!(attribute.kind, Type::Reference(_) | Type::Record(_));
        let below = if has_fields { " { __typename }" } else { "" };
        let document = format!("{{ {root} {{ {}{below} }} }}", graphql::camel(attribute.ident));
        let (other, absent) =
            if entity.name == "session" { ("session-a", "nobody") } else { (theirs.as_str(), "sch-no") };
        assert_eq!(ask(&b, &document, other), ask(&b, &document, absent), "{document}");
        assert_eq!(ask(&ghost, &document, other), ask(&ghost, &document, absent), "{document}");
        fields += 1;
    }
    assert!(fields >= 45, "{fields} fields");
    for (mutation, other, absent) in mutations(&theirs) {
        let document = format!("mutation {{ {mutation} }}");
        assert_eq!(ask(&b, &document, other), ask(&b, &document, absent), "{mutation}");
        assert!(ask(&b, &document, other).contains("NOT_FOUND"), "{mutation}");
        assert!(ask(&observer, &document, other).contains("FORBIDDEN"), "{mutation}");
    }
    assert!(
        ask(&b, "mutation { openSession { sessionId } }", "-").contains("errors"),
        "sessions are opened by operators"
    );
    assert!(
        ask(&b, "mutation { holdAll { held { by } } }", "-").contains("errors"),
        "operators hold everything"
    );
    assert!(
        ask(&b, "mutation { cancelSchedule(scheduleId: \"ID\") { schedule { status } } }", &own)
            .contains("CANCELLED")
    );
    let untouched = lenient(
        queries,
        &Caller::OPERATOR,
        &format!("[{{[:psi.scheduler/schedule-id \"{theirs}\"] [:psi.scheduler/status]}}]"),
    );
    assert!(Value::Map(untouched).to_string().contains(":pending"), "what is another's was touched");
}

/// Mutations with another's id in them, and an id of nobody's.
fn mutations(theirs: &str) -> Vec<(&'static str, &str, &'static str)> {
    vec![
        ("cancelSchedule(scheduleId: \"ID\") { schedule { status } }", theirs, "sch-no"),
        ("runScheduleNow(scheduleId: \"ID\") { schedule { status } }", theirs, "sch-no"),
        ("pauseSchedule(scheduleId: \"ID\", reason: \"r\") { schedule { status } }", theirs, "sch-no"),
        ("resumeSchedule(scheduleId: \"ID\") { schedule { status } }", theirs, "sch-no"),
        ("skipNextSlot(scheduleId: \"ID\") { schedule { status } }", theirs, "sch-no"),
        (
            "rescheduleSchedule(input: {scheduleId: \"ID\", when: \"in 2 hours\"}) { schedule { status } }",
            theirs,
            "sch-no",
        ),
        ("closeSession(sessionId: \"ID\") { __typename }", "session-a", "nobody"),
        ("sendUserMessage(sessionId: \"ID\", text: \"hi\") { __typename }", "session-a", "nobody"),
        ("reportJobReady(sessionId: \"ID\", jobId: \"build\") { __typename }", "session-a", "nobody"),
        ("pingSession(sessionId: \"ID\", name: \"backup\") { __typename }", "session-a", "nobody"),
        ("setSessionBusy(sessionId: \"ID\", busy: true) { __typename }", "session-a", "nobody"),
        (
            "createSchedule(input: {originSessionId: \"ID\", kind: MESSAGE, message: \"m\", delayMs: 1000}) { created }",
            "session-a",
            "nobody",
        ),
    ]
}
