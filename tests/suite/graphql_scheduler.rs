//! GraphQL over the scheduler: the roots of the interface description, walls, codes.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::domain::{Caller, SessionId, Span};
use reveille::runtime::{Handle, Parts};
use reveille::service::{Service, reply};
use reveille::surface::graphql::{Code, Follower, GraphqlRequest, GraphqlService};
use reveille::testkit::{SimClock, SimEntropy};
use serde_json::{Value, json};

struct Scene {
    handle: Handle,
    clock: Arc<SimClock>,
    service: Arc<GraphqlService>,
}

fn scene() -> Scene {
    let clock = Arc::new(SimClock::new());
    let parts = Parts {
        clock: clock.clone(),
        entropy: Arc::new(SimEntropy::seeded(1)),
        local: Arc::new(HostLocal::new()),
        zones: Arc::default(),
        without_store: reveille::runtime::WithoutStore::Reject,
        journal: None,
    };
    let handle = Handle::new(parts);
    let service = Arc::new(GraphqlService::new(&Service::new(handle.clone())).expect("sound roots"));
    let scene = Scene { handle, clock, service };
    for id in ["one", "two"] {
        let opened = scene.ask(&format!(
            "mutation {{ openSession(sessionId: \"{id}\", listens: true) {{ session {{ sessionId }} token }} }}"
        ));
        assert_eq!(opened["data"]["openSession"]["session"]["sessionId"], *id, "{opened}");
        assert_eq!(opened["data"]["openSession"]["token"].as_str().map(str::len), Some(64));
    }
    scene
}

impl Scene {
    fn ask(&self, query: &str) -> Value {
        self.ask_as(&Caller::OPERATOR, query, &json!({}))
    }

    fn ask_as(&self, caller: &Caller, query: &str, variables: &Value) -> Value {
        let body = json!({ "query": query, "variables": variables }).to_string();
        let request = GraphqlRequest::from_json(body.as_bytes()).expect(query);
        serde_json::from_str(&self.service.answer(caller, &request, false).body).expect(query)
    }

    fn create(&self, session: &str, label: &str, delay_ms: u64) -> String {
        let query = "mutation($input: CreateScheduleInput!) { createSchedule(input: $input) { created schedule { \
                     scheduleId kind status label originSessionId } } }";
        let input = json!({ "originSessionId": session, "kind": "MESSAGE", "label": label, "message": "m", "delayMs": delay_ms });
        let answer = self.ask_as(&Caller::OPERATOR, query, &json!({ "input": input }));
        let schedule = &answer["data"]["createSchedule"]["schedule"];
        assert_eq!(answer["data"]["createSchedule"]["created"], true, "{answer}");
        assert_eq!(
            (&schedule["status"], &schedule["kind"]),
            (&json!("PENDING"), &json!("MESSAGE")),
            "{answer}"
        );
        schedule["scheduleId"].as_str().expect("an id").to_owned()
    }

    fn session(id: &str) -> Caller {
        Caller::session(SessionId::new(id).expect("an id"))
    }
}

fn labels(connection: &Value) -> Vec<&str> {
    let edges = connection["edges"].as_array().expect("edges").iter();
    edges.map(|edge| edge["node"]["label"].as_str().expect("a label")).collect()
}

fn cancel(id: &str) -> String {
    format!("mutation {{ cancelSchedule(scheduleId: \"{id}\") {{ schedule {{ status }} }} }}")
}

#[test]
fn schedules_are_listed_in_pages_with_stable_cursors() {
    let scene = scene();
    let ids: Vec<String> = (1..=5)
        .map(|n| scene.create(if n == 5 { "two" } else { "one" }, &format!("l{n}"), n * 10_000))
        .collect();
    let page = |args: &str| {
        let answer = scene.ask(&format!(
            "{{ schedules{args} {{ totalCount edges {{ cursor node {{ label }} }} nodes {{ fireAt }} pageInfo {{ \
             hasNextPage hasPreviousPage startCursor endCursor }} }} pendingCount }}"
        ));
        assert_eq!(answer["data"]["pendingCount"], 5, "{answer}");
        answer["data"]["schedules"].clone()
    };
    let all = page("");
    assert_eq!(labels(&all), ["l1", "l2", "l3", "l4", "l5"]);
    assert_eq!((&all["totalCount"], &all["pageInfo"]["hasNextPage"]), (&json!(5), &json!(false)));
    let first = page("(first: 2)");
    assert_eq!((labels(&first), &first["pageInfo"]["hasNextPage"]), (vec!["l1", "l2"], &json!(true)));
    assert_eq!(first["pageInfo"]["endCursor"], first["edges"][1]["cursor"]);
    let cursor = first["pageInfo"]["endCursor"].as_str().expect("a cursor");
    // What stands at the cursor may go away meanwhile.
    let cancelled = scene.ask(&cancel(&ids[1]));
    assert_eq!(cancelled["data"]["cancelSchedule"]["schedule"]["status"], "CANCELLED", "{cancelled}");
    let args = format!("first: 2, after: \"{cursor}\", filter: {{status: [PENDING]}}");
    let rest = scene.ask(&format!("{{ schedules({args}) {{ edges {{ node {{ label }} }} }} }}"));
    assert_eq!(labels(&rest["data"]["schedules"]), ["l3", "l4"]);
    let args = "last: 1, orderBy: FIRE_AT_DESC, filter: {sessionId: \"one\"}";
    let newest = scene.ask(&format!("{{ schedules({args}) {{ edges {{ node {{ label }} }} totalCount }} }}"));
    assert_eq!(labels(&newest["data"]["schedules"]), ["l1"]);
    assert_eq!(newest["data"]["schedules"]["totalCount"], 4);
    let wrong = scene.ask("{ schedules(after: \"x\") { totalCount } }");
    assert_eq!(wrong["errors"][0]["extensions"]["code"], "VALIDATION", "{wrong}");
    let large = scene.ask("{ schedules(first: 5001) { totalCount } }");
    assert_eq!(large["errors"][0]["extensions"]["code"], "LIMIT", "{large}");
}

#[test]
fn a_session_sees_its_own_and_nothing_else() {
    let scene = scene();
    let (mine, other) = (scene.create("one", "mine", 10_000), scene.create("two", "other", 20_000));
    let caller = Scene::session("one");
    let query = format!(
        "{{ pendingCount schedules {{ edges {{ node {{ label }} }} totalCount }} \
         a: schedule(scheduleId: \"{mine}\") {{ label }} b: schedule(scheduleId: \"{other}\") {{ label }} \
         s: session(sessionId: \"one\") {{ schedules {{ label }} pendingCount }} \
         t: session(sessionId: \"two\") {{ sessionId }} sessions {{ nodes {{ sessionId }} }} }}"
    );
    let answer = scene.ask_as(&caller, &query, &json!({}));
    let expected = json!({ "data": {
        "pendingCount": 1,
        "schedules": { "edges": [{ "node": { "label": "mine" } }], "totalCount": 1 },
        "a": { "label": "mine" }, "b": null,
        "s": { "schedules": [{ "label": "mine" }], "pendingCount": 1 }, "t": null,
        "sessions": { "nodes": [{ "sessionId": "one" }] },
    } });
    assert_eq!(answer, expected);
    for (query, code) in [
        (
            format!("mutation {{ cancelSchedule(scheduleId: \"{other}\") {{ schedule {{ label }} }} }}"),
            "NOT_FOUND",
        ),
        ("mutation { setSessionBusy(sessionId: \"two\", busy: true) { sessionId } }".to_owned(), "NOT_FOUND"),
        ("mutation { openSession { token } }".to_owned(), "FORBIDDEN"),
        ("{ __schema { queryType { name } } }".to_owned(), "FORBIDDEN"),
        ("{ engine { accounting { lost } } }".to_owned(), "GRAPHQL_VALIDATION_FAILED"),
    ] {
        let answer = scene.ask_as(&caller, &query, &json!({}));
        assert_eq!(answer["errors"][0]["extensions"]["code"], code, "{query}: {answer}");
    }
}

#[test]
fn refusals_have_codes_and_data() {
    let scene = scene();
    let id = scene.create("one", "l", 10_000);
    let cancel = format!("mutation {{ cancelSchedule(scheduleId: \"{id}\") {{ schedule {{ status }} }} }}");
    assert!(scene.ask(&cancel)["errors"].is_null());
    let again = scene.ask(&cancel);
    assert_eq!(again["errors"][0]["extensions"]["code"], "CONFLICT", "{again}");
    assert_eq!(again["errors"][0]["extensions"]["data"]["schedule-id"], json!(id), "{again}");
    assert_eq!(again["errors"][0]["extensions"]["data"]["status"], "cancelled", "{again}");
    assert_eq!(again["data"], json!({ "cancelSchedule": null }));
    let create = |input: &str| {
        let answer = scene.ask(&format!(
            "mutation {{ createSchedule(input: {{{input}}}) {{ schedule {{ scheduleId }} }} }}"
        ));
        answer["errors"][0]["extensions"]["code"].clone()
    };
    assert_eq!(create("originSessionId: \"one\", kind: MESSAGE, message: \"\", delayMs: 1"), "VALIDATION");
    assert_eq!(create("originSessionId: \"one\", delayMs: 10000"), "GRAPHQL_VALIDATION_FAILED");
}

/// Whatever is misspelt, the error says what was probably meant; and text that is no GraphQL has a code of its own.
/// The same question has the same class of error in both languages.
#[test]
fn an_error_of_a_readers_caller_is_refused_as_in_eql() {
    let scene = scene();
    let open = scene.create("one", "open", 60_000);
    let gone = scene.create("one", "gone", 60_000);
    scene.ask(&cancel(&gone));
    for (arguments, params, code) in [
        ("scheduleId: \"nope\", delayMs: 60000", ":schedule-id \"nope\" :delay-ms 60000", "NOT_FOUND"),
        ("scheduleId: \"OPEN\", when: \"wat\"", ":schedule-id \"OPEN\" :when \"wat\"", "VALIDATION"),
        (
            "scheduleId: \"OPEN\", when: \"in 1 hour\", zone: \"Mars/X\"",
            ":schedule-id \"OPEN\" :when \"in 1 hour\" :zone \"Mars/X\"",
            "VALIDATION",
        ),
        ("scheduleId: \"GONE\", delayMs: 60000", ":schedule-id \"GONE\" :delay-ms 60000", "CONFLICT"),
    ] {
        let named = |text: &str| text.replace("OPEN", &open).replace("GONE", &gone);
        let asked = scene.ask(&named(&format!("{{ whatIf({arguments}) {{ at }} }}")));
        assert_eq!(asked["errors"][0]["extensions"]["code"], code, "{asked}");
        let query = named(&format!("[{{(:reveille/what-if {{{params}}}) [:reveille.slot/at]}}]"));
        let service = Service::new(scene.handle.clone());
        let prepared = service.prepare(&Caller::OPERATOR, query.as_bytes()).expect("it is EQL");
        let answer = service.run(&Caller::OPERATOR, &prepared, false).expect("it is not refused");
        let answer = reveille::edn::Value::Map(reply(&prepared.boundary, answer)).to_string();
        assert!(answer.contains(&format!(":code {code:?}")), "{answer}");
    }
}

#[test]
fn a_misspelt_name_is_answered_with_the_nearest() {
    let scene = scene();
    let code = scene.ask("{ pendingCount ")["errors"][0]["extensions"]["code"].clone();
    assert_eq!(code, "GRAPHQL_PARSE_FAILED");
    for (query, meant) in [
        ("{ schedules { nodes { lable } } }", "label"),
        ("{ schedules(frist: 1) { totalCount } }", "first"),
        ("{ schedules(filter: { stauts: PENDING }) { totalCount } }", "status"),
        ("{ schedules(filter: { status: PENDNG }) { totalCount } }", "PENDING"),
        ("query($filter: ScheduleFiltr) { schedules(filter: $filter) { totalCount } }", "ScheduleFilter"),
        (
            "mutation { createSchedule(input: { lable: \"x\", kind: MESSAGE, message: \"m\" }) { created } }",
            "label",
        ),
    ] {
        let answer = scene.ask(query);
        let message = answer["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(message.ends_with(&format!("Did you mean \"{meant}\"?")), "{query}: {answer}");
        assert_eq!(answer["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED", "{query}");
    }
}

/// A session that was closed is gone: it is null, and no error.
#[test]
fn closing_a_session_answers() {
    let scene = scene();
    let close = |id: &str, shape: &str| {
        scene.ask(&format!(
            "mutation {{ closeSession(sessionId: {id:?}) {{ sessionId session {{ {shape} }} }} }}"
        ))
    };
    let gone = json!({ "data": { "closeSession": { "sessionId": "one", "session": null } } });
    assert_eq!(close("one", "toolIds"), gone);
    let gone = json!({ "data": { "closeSession": { "sessionId": "two", "session": null } } });
    assert_eq!(close("two", "sessionId busy schedules { label }"), gone);
}

#[test]
fn a_misspelt_field_is_answered_with_the_nearest() {
    let scene = scene();
    for (query, near) in [
        ("{ schedule(scheduleId: \"x\") { lable } }", "label"),
        ("{ pendingCont }", "pendingCount"),
        ("{ schedules(frist: 1) { totalCount } }", "first"),
        ("mutation { cancelSchedules(scheduleId: \"x\") { __typename } }", "cancelSchedule"),
    ] {
        let answer = scene.ask(query);
        let message = answer["errors"][0]["message"].as_str().expect(query);
        assert!(message.contains("Did you mean") && message.contains(&format!("{near:?}")), "{message}");
    }
}

#[test]
fn a_delivery_is_seen_from_every_side() {
    let scene = scene();
    let id = scene.create("one", "l", 10_000);
    let config = "{sessionName: \"n\", thinkingLevel: HIGH, model: {provider: \"p\", id: \"m\"}}";
    let fresh = scene.ask(&format!(
        "mutation {{ createSchedule(input: {{originSessionId: \"one\", kind: SESSION, message: \"go\", \
         at: \"2026-01-01T00:00:20Z\", sessionConfig: {config}}}) {{ schedule {{ scheduleId fireAt \
         sessionConfigSummary {{ sessionName thinkingLevel skillCount model {{ id reasoning }} }} }} }} }}"
    ));
    let made = &fresh["data"]["createSchedule"]["schedule"];
    let model = json!({ "id": "m", "reasoning": false });
    let summary = json!({ "sessionName": "n", "thinkingLevel": "HIGH", "skillCount": 0, "model": model });
    assert_eq!(made["sessionConfigSummary"], summary, "{fresh}");
    scene.clock.advance(Span::from_millis(30_000));
    scene.handle.run_due();
    let answer = scene.ask(&format!(
        "{{ schedule(scheduleId: \"{id}\") {{ status runs {{ state cause latenessMs slot }} originSession {{ \
         sessionId messages {{ role text source }} }} }} engine {{ version mode limits {{ name value }} \
         decisionPage(last: 1) {{ nodes {{ cursor kind }} }} }} \
         attributes(entity: \"schedule\") {{ ident type entity }} sessions {{ totalCount }} }}"
    ));
    let schedule = &answer["data"]["schedule"];
    assert_eq!(schedule["status"], "DELIVERED", "{answer}");
    assert_eq!(schedule["runs"][0]["state"], "DELIVERED");
    assert_eq!(schedule["originSession"]["messages"][0]["text"], "m");
    assert_eq!(schedule["originSession"]["messages"][0]["source"], "SCHEDULED");
    assert!(answer["data"]["engine"]["limits"].as_array().is_some_and(|limits| limits.len() > 20));
    let attributes = answer["data"]["attributes"].as_array().expect("attributes");
    assert!(attributes.len() > 20 && attributes.iter().all(|it| it["entity"] == "schedule"), "{answer}");
    assert_eq!(answer["data"]["sessions"]["totalCount"], 3);
    let answer = scene.ask("{ attributes(entity: \"shedule\") { ident } }");
    assert_eq!(answer["errors"][0]["extensions"]["code"], "VALIDATION", "{answer}");
}

#[test]
fn a_record_is_asked_for_by_field() {
    let scene = scene();
    let id = scene.create("one", "l", 10_000);
    let whole = format!(
        "{{ schedule(scheduleId: \"{id}\") {{ policy {{ overlap maxLateMs backoffMs __typename }} }} }}"
    );
    let policy = json!({ "overlap": "SKIP", "maxLateMs": null, "backoffMs": [], "__typename": "Policy" });
    assert_eq!(scene.ask(&whole)["data"]["schedule"]["policy"], policy);
}

fn follow(scene: &Scene, caller: &Caller, query: &str) -> Follower {
    let begun = Follower::begin(&scene.service, caller, &GraphqlRequest::new(query));
    begun.unwrap_or_else(|errors| unreachable!("{query}: {errors:?}"))
}

fn pushed(follower: &mut Follower) -> Vec<Value> {
    let answers = follower.wait().expect("it goes on");
    answers.iter().map(|answer| serde_json::from_str(answer).expect(answer)).collect()
}

#[test]
fn events_go_on_behind_a_cursor_without_a_gap() {
    let scene = scene();
    let id = scene.create("one", "l", 10_000);
    let query = "subscription { events(after: \"0\") { cursor kind schedule { label } truncated lagged } }";
    let all = pushed(&mut follow(&scene, &Caller::OPERATOR, query));
    let kinds: Vec<&str> = all.iter().filter_map(|it| it["data"]["events"]["kind"].as_str()).collect();
    assert_eq!(kinds, ["SESSION_OPENED", "SESSION_OPENED", "SCHEDULE_CREATED"], "{all:?}");
    assert_eq!(all[2]["data"]["events"]["schedule"]["label"], "l");
    let cursor = all[1]["data"]["events"]["cursor"].as_str().expect("a cursor");
    let again = format!("subscription {{ events(after: \"{cursor}\") {{ cursor kind }} }}");
    let mut follower = follow(&scene, &Caller::OPERATOR, &again);
    assert_eq!(
        pushed(&mut follower)[0]["data"]["events"],
        json!({ "cursor": "3", "kind": "SCHEDULE_CREATED" })
    );
    scene.ask(&cancel(&id));
    assert_eq!(pushed(&mut follower)[0]["data"]["events"]["kind"], "SCHEDULE_CANCELLED");
    follower.stopper().stop();
    assert_eq!(follower.wait(), None);
    // Of others a session hears nothing.
    let mut other = follow(&scene, &Scene::session("two"), query);
    let heard = pushed(&mut other);
    assert_eq!(heard.len(), 1, "{heard:?}");
    // A cursor of an earlier life of the engine: the reader has missed something.
    let beyond = "subscription { events(after: \"999\") { cursor kind truncated } }";
    let cut = pushed(&mut follow(&scene, &Caller::OPERATOR, beyond));
    assert_eq!(
        (&cut[0]["data"]["events"]["truncated"], &cut[0]["data"]["events"]["kind"]),
        (&json!(true), &Value::Null)
    );
}

#[test]
fn a_list_is_followed_by_patches() {
    let scene = scene();
    let first = scene.create("one", "l1", 10_000);
    let query = "subscription { schedules(filter: {status: [PENDING]}) { cursor isWhole changed { scheduleId label } removed } }";
    let mut follower = follow(&scene, &Caller::OPERATOR, query);
    let patch = |answers: &[Value]| answers[0]["data"]["schedules"].clone();
    let whole = patch(&pushed(&mut follower));
    assert_eq!((&whole["isWhole"], &whole["changed"][0]["label"]), (&json!(true), &json!("l1")), "{whole}");
    scene.create("one", "l2", 20_000);
    let added = patch(&pushed(&mut follower));
    assert_eq!((&added["isWhole"], &added["changed"][0]["label"]), (&json!(false), &json!("l2")), "{added}");
    scene.ask(&cancel(&first));
    let gone = patch(&pushed(&mut follower));
    assert_eq!((&gone["changed"], &gone["removed"]), (&json!([]), &json!([first])), "{gone}");
}

#[test]
fn a_job_that_is_ready_starts_what_waits_for_it() {
    let scene = scene();
    let create = "mutation { createSchedule(input: {originSessionId: \"one\", kind: NOTICE, message: \"built\", \
                  trigger: {kind: EVENT, job: \"build\"}}) { schedule { scheduleId status nextFireAt when kind } } }";
    let created = scene.ask(create);
    let schedule = &created["data"]["createSchedule"]["schedule"];
    assert_eq!(schedule["nextFireAt"], Value::Null, "{created}");
    assert_eq!((&schedule["status"], &schedule["kind"]), (&json!("PENDING"), &json!("NOTICE")));
    assert_eq!(schedule["when"], "when the job \"build\" is ready");
    let ready = "mutation { reportJobReady(sessionId: \"one\", jobId: \"build\") { sessionId } }";
    assert_eq!(scene.ask(ready)["data"]["reportJobReady"]["sessionId"], "one");
    let id = schedule["scheduleId"].as_str().expect("an id");
    let next = scene.ask(&format!("{{ schedule(scheduleId: \"{id}\") {{ nextFireAt }} }}"));
    assert!(next["data"]["schedule"]["nextFireAt"].is_string(), "{next}");
}

#[test]
fn messages_are_followed_and_resumed() {
    let scene = scene();
    let query = "subscription { messages(sessionId: \"one\") { id text } }";
    let mut follower = follow(&scene, &Scene::session("one"), query);
    let say = |text: &str| {
        let answer = scene.ask(&format!(
            "mutation {{ sendUserMessage(sessionId: \"one\", text: \"{text}\") {{ sessionId }} }}"
        ));
        assert!(answer["errors"].is_null(), "{answer}");
    };
    say("hello");
    assert_eq!(pushed(&mut follower)[0]["data"]["messages"], json!({ "id": "one#0", "text": "hello" }));
    say("again");
    let resumed = "subscription { messages(sessionId: \"one\", after: \"one#0\") { text } }";
    assert_eq!(
        pushed(&mut follow(&scene, &Caller::OPERATOR, resumed))[0]["data"]["messages"]["text"],
        "again"
    );
    let request = GraphqlRequest::new(query);
    let refused = Follower::begin(&scene.service, &Scene::session("two"), &request).err();
    assert_eq!(refused.expect("refused")[0].code.map(Code::name), Some("NOT_FOUND"));
}

/// A configuration is given in the names and words in which the session shows it, as literals and as variables.
#[test]
fn a_configuration_is_taken_as_it_is_shown() {
    let scene = scene();
    let shown = "thinkingLevel cacheBreakpoints developerPromptSource skills { name source } \
                 preloadedMessages { role text } promptComponentSelection { agentsMd components }";
    let given = "{thinkingLevel: HIGH, cacheBreakpoints: [SYSTEM], developerPrompt: \"d\", developerPromptSource: \
                 EXPLICIT, skills: [{name: \"s\", description: \"d\", source: USER}], preloadedMessages: [{role: USER, \
                 content: \"c\"}], promptComponentSelection: {agentsMd: true, components: [SKILLS]}}";
    let expected = json!({
        "thinkingLevel": "HIGH", "cacheBreakpoints": ["SYSTEM"], "developerPromptSource": "EXPLICIT",
        "skills": [{"name": "s", "source": "USER"}], "preloadedMessages": [{"role": "USER", "text": "c"}],
        "promptComponentSelection": {"agentsMd": true, "components": ["SKILLS"]}
    });
    let opened = scene.ask(&format!(
        "mutation {{ openSession(sessionId: \"c\", sessionConfig: {given}) {{ session {{ {shown} }} }} }}"
    ));
    assert_eq!(opened["data"]["openSession"]["session"], expected, "{opened}");
    let query = format!(
        "mutation($config: SessionConfigInput) {{ openSession(sessionId: \"v\", sessionConfig: $config) {{ \
         session {{ {shown} }} }} }}"
    );
    let config = json!({
        "thinkingLevel": "HIGH", "cacheBreakpoints": ["SYSTEM"], "developerPrompt": "d",
        "developerPromptSource": "EXPLICIT", "skills": [{"name": "s", "description": "d", "source": "USER"}],
        "preloadedMessages": [{"role": "USER", "content": [{"type": "text", "text": "c"}]}],
        "promptComponentSelection": {"agentsMd": true, "components": ["SKILLS"]}
    });
    let opened = scene.ask_as(&Caller::OPERATOR, &query, &json!({ "config": config }));
    assert_eq!(opened["data"]["openSession"]["session"], expected, "{opened}");
    let wrong = json!({ "config": { "thinkingLevels": "HIGH" } });
    let refused = scene.ask_as(&Caller::OPERATOR, &query, &wrong).to_string();
    assert!(refused.contains("thinkingLevels") && refused.contains("SessionConfigInput"), "{refused}");
}

/// The message of a refusal has the names of this schema and says what was given; its data is that of all languages.
#[test]
fn a_refused_value_is_named_in_camel_case_with_its_bounds() {
    let scene = scene();
    for (terms, message, value) in [
        ("everyMs: 500", "parameter everyMs must be a whole number from 1000 to 315360000000", json!(500)),
        (
            "delayMs: 7000, at: \"2026-01-01T00:00:20Z\"",
            "parameter delayMs must be the only time given, not one of delayMs and at",
            json!(7_000),
        ),
        (
            "delayMs: 7000, sessionConfig: {}",
            "sessionConfig must be left out unless kind is session",
            json!({}),
        ),
    ] {
        let input = format!("originSessionId: \"one\", kind: MESSAGE, message: \"m\", {terms}");
        let answer =
            scene.ask(&format!("mutation {{ createSchedule(input: {{{input}}}) {{ __typename }} }}"));
        let error = &answer["errors"][0];
        assert_eq!(error["message"], message, "{answer}");
        assert_eq!(error["extensions"]["code"], "VALIDATION", "{answer}");
        assert_eq!(error["extensions"]["data"]["value"], value, "{answer}");
    }
    for (query, says) in [
        ("{ timeline(bucketMs: 0) { count } }", "\"value\":0"),
        (
            "{ forecast(from: \"2026-01-02T00:00:00Z\", to: \"2026-01-01T00:00:00Z\") { at } }",
            "to must be after from",
        ),
        (
            "{ whatIf(downFrom: \"2026-01-02T00:00:00Z\", downUntil: \"2026-01-01T00:00:00Z\") { at } }",
            "downUntil must be after downFrom",
        ),
    ] {
        let answer = scene.ask(query).to_string();
        assert!(answer.contains(says) && answer.contains("VALIDATION"), "{query}: {answer}");
    }
}
