//! Pings: who may send them, how many names there are, what `ping.age` says of them, and a watch that tells of a ping that is
//! overdue, in virtual time.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, HostId, Primitives, SessionConfig};
use reveille::edn::{Map, read};
use reveille::limits;
use reveille::service::Service;

use crate::simulated::{ask, ask_service, session, token};
use crate::watching::Scene;

/// The answer to a ping by the mutation.
fn ping(service: &Service, caller: &Caller, whose: &str, name: &str) -> String {
    let query = format!("[(psi.agent-session/ping {{:session-id {whose:?} :name {name:?}}})]");
    ask_service(service, caller, &query, true)
}

fn age(service: &Service, caller: &Caller, name: &str) -> String {
    let args = read(format!("{{:name {name:?}}}").as_bytes(), &REQUEST_CAPS).expect("EDN");
    let answer = service.call_tool("ping.age", caller, &args, Notation::Edn).expect("admitted");
    answer.expect("it is switched on").value.to_string().replace(", ", " ")
}

#[test]
fn a_ping_is_retained_until_the_next_one_of_its_name() {
    let scene = Scene::new();
    let own = token("s");
    assert_eq!(age(&scene.service, &own, "backup"), "{:name \"backup\" :age_seconds nil :at nil :ok false}");
    let said = ping(&scene.service, &own, "s", "backup");
    assert!(
        said.contains(":psi.agent-session/session-id \"s\"") && said.contains("pinged-at #inst"),
        "{said}"
    );
    scene.pass(90);
    let said = age(&scene.service, &own, "backup");
    assert!(said.contains(":age_seconds 90 ") && said.contains(":ok true"), "{said}");
    ping(&scene.service, &own, "s", "build");
    scene.pass(10);
    assert!(age(&scene.service, &own, "backup").contains(":age_seconds 100 "));
    ping(&scene.service, &Caller::OPERATOR, "s", "backup");
    assert!(age(&scene.service, &own, "backup").contains(":age_seconds 0 "));
    let query = "[{[:psi.agent-session/session-id \"s\"] [{:psi.agent-session/pings [:reveille.ping/id \
                 :reveille.ping/name :reveille.ping/age-seconds]}]}]";
    let pings = ask(scene.handle(), &own, query, false).replace(", ", " ");
    let expected = "[{:reveille.ping/id \"s#p1\" :reveille.ping/name \"backup\" :reveille.ping/age-seconds 0} \
                    {:reveille.ping/id \"s#p2\" :reveille.ping/name \"build\" :reveille.ping/age-seconds 10}]";
    assert!(pings.contains(expected), "{pings}");
}

#[test]
fn a_new_name_beyond_the_bound_is_refused_and_a_known_one_never_is() {
    let scene = Scene::new();
    // An operator has no rate.
    let ping = |name: &str| ping(&scene.service, &Caller::OPERATOR, "s", name);
    for at in 0..limits::SESSION_PINGS.value {
        let said = ping(&format!("job {at}"));
        assert!(said.contains("pinged-at"), "{said}");
    }
    let said = ping("one too many");
    assert!(said.contains("session-pings is 64 names"), "{said}");
    assert!(ping("job 0").contains("pinged-at"));
    for wrong in ["", " ", &"x".repeat(65)] {
        let said = ping(wrong);
        assert!(said.contains("the name of a ping: 1 to 64 bytes"), "{wrong:?}: {said}");
    }
}

#[test]
fn another_sessions_pings_are_none() {
    let scene = Scene::new();
    ping(&scene.service, &token("s"), "s", "backup");
    let [foreign, absent] = ["s", "nobody"].map(|whose| {
        let said = ping(&scene.service, &token("t"), whose, "backup");
        said.replace(&format!("{whose:?}"), "ID")
            .replace(&format!("session not found: {whose}"), "session not found: ID")
    });
    assert!(foreign.contains("session not found: ID"), "{foreign}");
    assert_eq!(foreign, absent);
    assert!(age(&scene.service, &token("t"), "backup").contains(":ok false"));
    let query = "[{[:reveille.ping/id \"s#p1\"] [:reveille.ping/name]}]";
    assert!(ask(scene.handle(), &token("s"), query, true).contains("backup"));
    assert!(!ask(scene.handle(), &token("t"), query, true).contains("backup"));
    // A later session of that id begins anew.
    scene.handle().close_session(&session("s")).expect("it is open");
    assert!(ping(&scene.service, &Caller::OPERATOR, "s", "backup").contains("session not found: s"));
    let opened = scene.handle().open_session(Some(session("s")), HostId::LOCAL, SessionConfig::default());
    opened.expect("it was closed");
    assert!(age(&scene.service, &token("s"), "backup").contains(":ok false"));
}

#[test]
fn pings_are_switched_on_with_watches() {
    let scene = Scene::new();
    scene.handle().tools().switch(Primitives::default());
    // To a session there is no such thing; an operator is told the switch.
    let said = ping(&scene.service, &token("s"), "s", "backup");
    assert!(said.contains("there is no psi.agent-session/ping here"), "{said}");
    assert!(!said.contains("switched") && !said.contains("watchers"), "{said}");
    let said = ping(&scene.service, &Caller::OPERATOR, "s", "backup");
    assert!(said.contains("watchers is switched off") && said.contains(":gate :watchers"), "{said}");
    let called = scene.service.call_tool("ping.age", &token("s"), &Map::new().into(), Notation::Edn);
    assert_eq!(called, Ok(None));
    assert!(!scene.service.kit(&token("s")).to_string().contains("ping.age"));
    scene.handle().tools().switch(Primitives::all());
    assert!(scene.service.kit(&token("s")).to_string().contains("ping.age"));
}

#[test]
fn an_overdue_ping_is_told_once_and_so_is_the_next_one() {
    let scene = Scene::new();
    ping(&scene.service, &token("s"), "s", "backup");
    scene.start(
        r#"{"name" "ping.age" "params" {"name" "backup"} "interval" 60 "notify_when" "on_threshold"
            "notify_config" {"expression" "result.age_seconds > 120" "edge" "both"}}"#,
    );
    scene.pass(125);
    assert_eq!(scene.told(), [""; 0], "it is not overdue yet");
    scene.pass(60);
    let told = scene.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("tool=ping.age") && told[0].contains("\"name\": \"backup\""), "{told:?}");
    scene.pass(600);
    assert_eq!(scene.told().len(), 1, "once");
    ping(&scene.service, &token("s"), "s", "backup");
    scene.pass(65);
    assert_eq!(scene.told().len(), 2, "{:?}", scene.told());
    scene.pass(50);
    assert_eq!(scene.told().len(), 2, "once");
    scene.pass(120);
    assert_eq!(scene.told().len(), 3, "silent again: {:?}", scene.told());
}

/// The age of a ping grows by itself, so that it is no change.
#[test]
fn a_watch_for_changes_tells_of_pings_and_not_of_their_age() {
    let scene = Scene::new();
    ping(&scene.service, &token("s"), "s", "backup");
    scene.start(r#"{"name" "ping.age" "params" {"name" "backup"} "interval" 60}"#);
    scene.pass(305);
    assert_eq!(scene.told(), [""; 0]);
    ping(&scene.service, &token("s"), "s", "backup");
    scene.pass(65);
    assert_eq!(scene.told().len(), 1, "{:?}", scene.told());
}
