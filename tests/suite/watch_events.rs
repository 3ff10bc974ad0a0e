//! Watches that hear of changes between their checks (T49, in virtual time), and what the start of one says.

use reveille::domain::{Dialect, Grant, Scope, Span};
use reveille::edn::{Map, Value};
use reveille::engine::{Command, Input};
use reveille::limits;
use reveille::port::Clock;
use reveille::testkit::CallAnswer;

use crate::simulated::session;
use crate::watching::{Scene, fine};

const HOURLY: &str = r#"{"name" "http.get" "params" {"url" "u"} "interval" 3600}"#;

fn checks(scene: &Scene) -> usize {
    scene.executor.calls().len()
}

fn warnings(answer: &Map) -> Vec<String> {
    let warnings = answer.keyword("warnings").and_then(Value::as_items).unwrap_or_default();
    warnings.iter().filter_map(|warning| warning.as_str().map(str::to_owned)).collect()
}

#[test]
fn a_change_that_is_heard_of_brings_the_check_forward() {
    let scene = Scene::new();
    scene.start(HOURLY);
    scene.pass(10);
    assert_eq!((scene.executor.stir(), checks(&scene)), (1, 0));
    scene.pass(2);
    assert_eq!(checks(&scene), 1);
    // From its end on the interval counts again.
    scene.pass(3_597);
    assert_eq!(checks(&scene), 1);
    scene.pass(3);
    assert_eq!(checks(&scene), 2);
}

/// T49.
#[test]
fn many_changes_cost_few_checks_and_the_last_one_is_seen() {
    let scene = Scene::new();
    scene.start(HOURLY);
    for _ in 0..40 {
        scene.executor.stir();
        scene.stage.run_for(scene.handle(), Span::from_millis(75));
    }
    let last = scene.stage.clock.now().wall;
    scene.pass(10);
    assert_eq!(checks(&scene), 3);
    let claimed = scene.executor.calls().last().and_then(|call| reveille::domain::RunId::parse(&call.id));
    assert!(claimed.is_some_and(|run| run.slot > last), "the last check is after the last change");
}

#[test]
fn a_change_during_a_check_is_looked_at_after_it() {
    let scene = Scene::new();
    scene.executor.script(CallAnswer::After(Span::from_millis(5_000), fine("{:a 1}")));
    scene.start(HOURLY);
    scene.executor.stir();
    scene.pass(3);
    assert_eq!(checks(&scene), 1, "it is under way");
    scene.executor.stir();
    scene.pass(2);
    assert_eq!(checks(&scene), 1, "there are never two");
    scene.pass(3);
    assert_eq!(checks(&scene), 2);
    scene.pass(100);
    assert_eq!(checks(&scene), 2);
}

#[test]
fn a_paused_watch_is_not_brought_forward() {
    let scene = Scene::new();
    let id = scene.start(HOURLY);
    scene.call("watch_pause", &format!("{{\"watcher_id\" \"{id}\"}}"));
    scene.executor.stir();
    scene.pass(10);
    assert_eq!(checks(&scene), 0);
    scene.call("watch_resume", &format!("{{\"watcher_id\" \"{id}\"}}"));
    scene.pass(10);
    assert_eq!(checks(&scene), 0, "its beat is its own");
}

/// What it hears of while it is paused is passed over, and not what comes after that.
#[test]
fn a_watch_hears_of_changes_again_after_a_pause() {
    let scene = Scene::new();
    let id = scene.start(HOURLY);
    scene.call("watch_pause", &format!("{{\"watcher_id\" \"{id}\"}}"));
    scene.executor.stir();
    scene.pass(10);
    scene.call("watch_resume", &format!("{{\"watcher_id\" \"{id}\"}}"));
    scene.pass(10);
    assert_eq!((scene.executor.stir(), checks(&scene)), (1, 0));
    scene.pass(2);
    assert_eq!(checks(&scene), 1);
}

/// A check that is refused does not look, so the change is heard of anew once checks are allowed again.
#[test]
fn a_watch_hears_of_changes_again_after_a_check_that_was_refused() {
    let scene = Scene::new();
    scene.start(HOURLY);
    let grant = |is_full: bool| {
        let (session, by) = (session("s"), Scope::Operator.into());
        let dialects = (!is_full).then(|| vec![Dialect::Psi]);
        let set = Command::SetGrant { session, grant: Grant { dialects, ..Grant::FULL }, by };
        scene.handle().submit(Input::Command(set)).expect("it is open");
    };
    grant(false);
    scene.executor.stir();
    scene.pass(10);
    grant(true);
    assert_eq!((scene.executor.stir(), checks(&scene)), (1, 0));
    scene.pass(2);
    assert_eq!(checks(&scene), 1);
}

/// T49.
#[test]
fn what_cannot_be_heard_of_any_more_is_polled_and_listened_to_again() {
    let scene = Scene::new();
    scene.start(r#"{"name" "http.get" "params" {"url" "u"} "interval" 60}"#);
    scene.executor.lose_listeners();
    assert_eq!(scene.executor.stir(), 0);
    scene.pass(61);
    assert_eq!((checks(&scene), scene.executor.stir()), (1, 1));
    scene.pass(2);
    assert_eq!(checks(&scene), 2);
}

#[test]
fn a_watch_that_has_ended_listens_no_more() {
    let scene = Scene::new();
    let id = scene.start(HOURLY);
    scene.call("watch_stop", &format!("{{\"watcher_id\" \"{id}\"}}"));
    assert_eq!(scene.executor.stir(), 0);
    scene.start(HOURLY);
    let close = Command::CloseSession { session: session("s"), by: None };
    scene.handle().submit(Input::Command(close)).expect("it is open");
    // The first change after its end is nobody's.
    assert_eq!((scene.executor.stir(), scene.executor.stir()), (1, 0));
}

/// T49.
#[test]
fn the_start_says_what_a_watch_cannot_do_here() {
    let scene = Scene::new();
    let in_memory = "this server has no store: the watch is in memory, and lost when the server stops";
    assert_eq!(warnings(&scene.call("watch_start", HOURLY)), [in_memory]);
    scene.executor.be_deaf("this system has no file events");
    let unheard = "changes between checks go unnoticed: this system has no file events";
    assert_eq!(warnings(&scene.call("watch_start", HOURLY)), [in_memory, unheard]);
    // What it does not say later on it need not: it is checked at its interval.
    scene.pass(3_601);
    assert_eq!(checks(&scene), 2);
}

#[test]
fn only_so_many_watches_listen() {
    let scene = Scene::new();
    let max = limits::LISTENING_WATCHES.value;
    let (mut listening, mut told) = (0, 0);
    let mut number = 0;
    while told == 0 {
        let name = format!("w{number}");
        crate::simulated::open(scene.handle(), &name, reveille::domain::SessionConfig::default());
        for _ in 0..limits::SESSION_WATCHES.value {
            let warnings = warnings(&scene.answer(&name, "watch_start", HOURLY));
            if warnings.len() == 1 {
                listening += 1;
            } else {
                assert!(warnings[1].ends_with("too many watches hear of changes already"), "{warnings:?}");
                told += 1;
            }
        }
        number += 1;
    }
    assert_eq!(listening, max);
}

#[test]
fn the_start_of_a_watch_says_that_it_does_not_outlive_a_process_without_a_store() {
    let scene = Scene::new();
    let answer = scene.call("watch_start", r#"{"name" "http.get" "notify_when" "always"}"#);
    let warnings = answer.keyword("warnings").map(ToString::to_string).unwrap_or_default();
    let expected = "[\"every check wakes you\" \
                    \"this server has no store: the watch is in memory, and lost when the server stops\"]";
    assert_eq!(warnings, expected);
}
