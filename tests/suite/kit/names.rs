//! Which tool a name leads to.

use std::sync::Arc;

use reveille::domain::{ExecutorKind, HostId};
use reveille::edn::Value;
use reveille::runtime::Resolved;
use reveille::testkit::{SimTools, ToolPlan};

use super::world::{World, session};

fn answer(text: &str) -> ToolPlan {
    ToolPlan::Answer(Value::from(text))
}

fn world() -> World {
    World::new(|it| {
        let it = it.with("http.get", answer("")).with("http.head", answer("")).with("ci.status", answer(""));
        it.with("files.get", answer("")).with("a.b_c", answer("")).with("a_b.c", answer(""))
    })
}

#[track_caller]
fn check(name: &str, expected: &str) {
    let world = world();
    let found = match world.handle.tools().of(&session("one")).resolve(name) {
        Resolved::Known(known) => known.spec.name.to_string(),
        Resolved::Ambiguous(names) => format!("ambiguous {}", joined(&names)),
        Resolved::Unknown(names) => format!("unknown {}", joined(&names)),
    };
    assert_eq!(found.trim_end(), expected, "{name}");
}

fn joined(names: &[reveille::domain::ToolName]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_name_leads_to_one_tool_or_to_what_is_like_it() {
    check("http.get", "http.get");
    check("http__get", "http.get");
    check("ci_status", "ci.status");
    check("http.gett", "unknown http.get");
    check("http.remove_everything", "unknown http.get http.head");
    check("status", "unknown ci.status");
    check("get", "ambiguous files.get http.get");
    check("a_b_c", "ambiguous a.b_c a_b.c");
    check("a.b_c", "a.b_c");
    check("nothing.like.it", "unknown");
    check("", "unknown");
}

#[test]
fn of_two_tools_of_one_name_the_first_kind_wins() {
    let world = world();
    let of = |names: &[&str]| {
        let executor = names.iter().fold(SimTools::new(&world.stage), |it, name| it.with(name, answer("")));
        Arc::new(executor)
    };
    let clash =
        world.handle.tools().add_executor(ExecutorKind::BuiltIn, of(&["http.get"])).expect_err("it is there");
    assert_eq!(clash.kinds, [ExecutorKind::Operator, ExecutorKind::BuiltIn]);
    world.handle.tools().add_executor(ExecutorKind::BuiltIn, of(&["filesystem.read"])).expect("no clash");
    let kind = |name: &str| match world.handle.tools().of(&session("one")).resolve(name) {
        Resolved::Known(known) => Some(known.kind),
        Resolved::Ambiguous(_) | Resolved::Unknown(_) => None,
    };
    assert_eq!(kind("filesystem.read"), Some(ExecutorKind::BuiltIn));

    let host = world.handle.hosts().attach(Arc::new(reveille::adapter::HostLocal::new()));
    let opened = world.handle.open_session(Some(session("one")), host, Default::default());
    opened.expect("the id is free");
    let shadowed = world.handle.tools().offer(host, of(&["filesystem.read", "http.get", "own.thing"]));
    assert_eq!(joined(&shadowed), "http.get");
    assert_eq!(kind("filesystem.read"), Some(ExecutorKind::Host));
    assert_eq!(kind("http.get"), Some(ExecutorKind::Operator));
    assert_eq!(kind("own.thing"), Some(ExecutorKind::Host));
    let kit = world.handle.tools().of(&session("one"));
    assert_eq!(kit.tools().filter(|(_, spec)| spec.name.as_str() == "http.get").count(), 1);
    // Another offer takes the place of the one before; another session does not have it.
    assert!(world.handle.tools().offer(host, of(&["own.other"])).is_empty());
    assert_eq!((kind("own.thing"), kind("own.other")), (None, Some(ExecutorKind::Host)));
    assert_eq!(kind("filesystem.read"), Some(ExecutorKind::BuiltIn));
    world.open("two");
    assert!(matches!(world.handle.tools().of(&session("two")).resolve("own.other"), Resolved::Unknown(_)));
    world.handle.hosts().detach(host);
    assert_eq!(kind("own.other"), None);
    assert_ne!(host, HostId::LOCAL);
}
