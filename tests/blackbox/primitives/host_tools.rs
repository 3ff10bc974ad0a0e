//! The tools of a connected host.

use reveille::edn::Value;

use crate::harness::daemon::{at, text};
use crate::harness::stream::Stream;
use crate::primitives::scene::Scene;

const OPERATORS: &str = "[tools.\"ci.status\"]\ncommand = [\"/bin/cat\"]\nagents = true\n";
const OFFER: &str = "{:op :tools/offer :tools [{:name \"ci.status\"} {:name \"own.read\" :description \"Reads.\" :risk :read} \
                     {:name \"own.slow\"}]}";

/// The next push of this kind.
fn pushed(host: &mut Stream, kind: &str) -> reveille::edn::Map {
    loop {
        let push = host.pushed().expect("it lives");
        if at(&push, &["push"]).is_some_and(|push| push.to_string() == format!(":{kind}")) {
            return push;
        }
    }
}

/// T11, T12.
#[test]
fn a_host_offers_tools_and_carries_out_their_calls() {
    let mut scene = Scene::new("host-tools", OPERATORS);
    let offered = scene.host.ask(OFFER).expect("it lives");
    assert_eq!(
        at(&offered, &["ok"]).map(Value::to_string).as_deref(),
        Some("{:offered 3 :shadowed [\"ci.status\"]}")
    );
    let posted = scene.begin(
        "run_parallel",
        r#"{"actions":[{"name":"own.read","params":{"path":"x"}},{"name":"ci.status"}]}"#,
    );
    let call = pushed(&mut scene.host, "tool/call");
    assert_eq!(
        (
            text(&call, &["session-id"]),
            text(&call, &["tool"]),
            at(&call, &["for"]).map(Value::to_string).as_deref()
        ),
        (Some("main"), Some("own.read"), Some(":parallel"))
    );
    assert_eq!(at(&call, &["args"]).map(Value::to_string).as_deref(), Some("{\"path\" \"x\"}"));
    let id = text(&call, &["call-id"]).expect("an id").to_owned();
    // Another connection does not have the call.
    let mut other = Stream::connect(&scene.daemon.socket).expect("it listens");
    let result = |id: &str| format!("{{:op :tool/result :call-id {id:?} :ok {{:text \"hello\"}}}}");
    let refused = other.ask(&result(&id)).expect("it lives");
    assert_eq!(text(&refused, &["error", "data", "code"]), Some("not-in-flight"));
    assert!(at(&other.ask(OFFER).expect("it lives"), &["error"]).is_some(), "it is no host");
    assert!(at(&scene.host.ask(&result(&id)).expect("it lives"), &["ok"]).is_some());
    let reply = posted.finish();
    assert!(reply.body.contains(r#""data":{"text":"hello"}"#), "{}", reply.body);
    assert!(
        reply.body.contains(r#""name":"ci.status","success":true,"data":{}"#),
        "the operator's: {}",
        reply.body
    );
    for id in [id.as_str(), "par-0/0", ""] {
        let late = scene.host.ask(&result(id)).expect("it lives");
        assert_eq!(text(&late, &["error", "data", "code"]), Some("not-in-flight"), "{id}");
    }
}

/// T13.
#[test]
fn strange_results_are_cut_or_refused_and_the_daemon_lives() {
    let mut scene = Scene::new("strange-results", OPERATORS);
    scene.host.ask(OFFER).expect("it lives");
    let posted = scene.begin("run_parallel", r#"{"actions":[{"name":"own.read"}]}"#);
    let call = pushed(&mut scene.host, "tool/call");
    let id = text(&call, &["call-id"]).expect("an id").to_owned();
    let deep = [&"[".repeat(200), &*"]".repeat(200)].concat();
    scene.host.tell(&format!("{{:op :tool/result :call-id {id:?} :ok {deep}}}")).expect("it lives");
    let unread = scene.host.next().expect("it lives");
    assert!(Value::from(unread).to_string().contains("error"), "deeper than anything it reads");
    let mut host = Stream::connect(&scene.daemon.socket).expect("it lives on");
    assert!(host.ask("{:op :eql :query [:psi.scheduler/pending-count]}").is_some());
    // A connection whose input goes beyond the limits has ended, and its calls with it.
    let reply = posted.finish();
    assert!(reply.body.contains("host-lost"), "{}", reply.body);
}

/// T13.
#[test]
fn a_long_result_is_cut_and_marked() {
    let mut scene = Scene::new("long-result", OPERATORS);
    scene.host.ask(OFFER).expect("it lives");
    let posted = scene.begin("run_parallel", r#"{"actions":[{"name":"own.read"}]}"#);
    let call = pushed(&mut scene.host, "tool/call");
    let id = text(&call, &["call-id"]).expect("an id").to_owned();
    let long = "x".repeat(200 * 1024);
    assert!(scene.host.ask(&format!("{{:op :tool/result :call-id {id:?} :ok {long:?}}}")).is_some());
    let reply = posted.finish();
    assert!(reply.body.contains(r#""truncated":true,"bytes":204802"#), "{}", reply.body);
}

/// T11.
#[test]
fn a_host_that_goes_fails_its_calls_and_may_come_back() {
    let mut scene = Scene::new("host-goes", OPERATORS);
    scene.host.ask(OFFER).expect("it lives");
    let posted = scene.begin("run_parallel", r#"{"actions":[{"name":"own.slow"},{"name":"ci.status"}]}"#);
    pushed(&mut scene.host, "tool/call");
    let socket = scene.daemon.socket.clone();
    let gone = std::mem::replace(&mut scene.host, Stream::connect(&socket).expect("it listens"));
    drop(gone);
    let reply = posted.finish();
    assert!(reply.body.contains("host-lost") && reply.body.contains(r#""succeeded":1"#), "{}", reply.body);
    let reply = scene.call("run_parallel", r#"{"actions":[{"name":"own.read"}]}"#);
    assert!(reply.body.contains("not found"), "{}", reply.body);
    scene.host.ask("{:op :host/attach :sessions [\"main\"]}").expect("it lives");
    scene.host.ask(OFFER).expect("it lives");
    let posted = scene.begin("run_parallel", r#"{"actions":[{"name":"own.read"}]}"#);
    let call = pushed(&mut scene.host, "tool/call");
    let id = text(&call, &["call-id"]).expect("an id").to_owned();
    scene.host.ask(&format!("{{:op :tool/result :call-id {id:?} :error \"no such file\" :code 2}}"));
    let reply = posted.finish();
    assert!(reply.body.contains(r#""error":"no such file""#), "{}", reply.body);
}

/// T9.
#[test]
fn a_stream_is_answered_out_of_order_and_ends_what_it_has_begun() {
    let mut scene = Scene::new("stream-later", OPERATORS);
    scene.host.ask(OFFER).expect("it lives");
    let mut caller = Stream::connect(&scene.daemon.socket).expect("it listens");
    let call = "{:id 77 :op :call :tool \"run_parallel\" :session-id \"main\" :args {:actions [{:name \"own.slow\"}]}}";
    caller.tell(call).expect("it lives");
    assert!(
        caller.ask("{:op :eql :query [:psi.scheduler/pending-count]}").is_some(),
        "the next is answered first"
    );
    let pushed_call = pushed(&mut scene.host, "tool/call");
    let id = text(&pushed_call, &["call-id"]).expect("an id").to_owned();
    scene.host.ask(&format!("{{:op :tool/result :call-id {id:?} :ok 1}}")).expect("it lives");
    let answer = caller.pushed().expect("it lives");
    assert_eq!(at(&answer, &["id"]).and_then(Value::as_int), Some(77));
    caller.tell(call).expect("it lives");
    let again = pushed(&mut scene.host, "tool/call");
    drop(caller);
    let cancelled = pushed(&mut scene.host, "tool/cancel");
    assert_eq!(text(&cancelled, &["call-id"]), text(&again, &["call-id"]));
}

/// T12: a call that was called off while its host was at work. The first result that comes for it is too late: it is refused,
/// and neither the session nor the host hears of it.
#[test]
fn a_first_result_after_a_call_off_is_not_told() {
    let mut scene = Scene::new("host-late", OPERATORS);
    scene.host.ask(OFFER).expect("it lives");
    let mut launch = |tool: &str| {
        let posted = scene.begin("background_run", &format!("{{\"name\":{tool:?}}}"));
        let call = pushed(&mut scene.host, "tool/call");
        let launched: serde_json::Value = serde_json::from_str(&posted.finish().body).expect("JSON");
        assert_eq!(launched["status"], "running", "{launched}");
        let task = launched["task_id"].as_str().expect("a task").to_owned();
        (text(&call, &["call-id"]).expect("an id").to_owned(), task)
    };
    let (late, other) = (launch("own.slow"), launch("own.read"));
    let cancelled = scene.call("background_run", &format!("{{\"task_id\":{:?},\"cancel\":true}}", late.1));
    assert!(cancelled.body.contains(r#""status":"cancelled""#), "{}", cancelled.body);
    let off = pushed(&mut scene.host, "tool/cancel");
    assert_eq!(text(&off, &["call-id"]), Some(&*late.0));
    let result = |id: &str| format!("{{:op :tool/result :call-id {id:?} :ok {{:text \"hello\"}}}}");
    let refused = scene.host.ask(&result(&late.0)).expect("it lives");
    assert_eq!(text(&refused, &["error", "data", "code"]), Some("not-in-flight"));
    // The first that the session is told of is the other one.
    assert!(at(&scene.host.ask(&result(&other.0)).expect("it lives"), &["ok"]).is_some());
    let told = Value::from(pushed(&mut scene.host, "delivery")).to_string();
    assert!(told.contains(&other.1) && !told.contains(&late.1), "{told}");
    let status = scene.call("background_run", &format!("{{\"task_id\":{:?}}}", late.1)).body;
    assert!(status.contains(r#""status":"cancelled""#) && !status.contains("hello"), "{status}");
}
