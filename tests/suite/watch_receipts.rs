//! What a watch takes for read: what was told in the delivery that was acknowledged, and not what a later one still has to tell.

use reveille::domain::Outcome;
use reveille::engine::Input;
use reveille::testkit::Behaviour;

use crate::watching::{Scene, fine};

/// A scene in which checks come to 1, 2 and so on, and the host acknowledges a delivery when it is asked to.
fn scene(checks: u32) -> Scene {
    let scene = Scene::new();
    scene.host.behave(&[(Behaviour::Slow, 1)]);
    scene.script(&(1..=checks).map(|number| fine(&number.to_string())).collect::<Vec<Outcome>>());
    scene
}

/// The host acknowledges the delivery that is out, and begins its turn, so that what waits goes on waiting.
fn acknowledge(scene: &Scene) {
    let receipt = scene.host.take_receipt(0).expect("one is out");
    scene.handle().submit(Input::Report(receipt)).expect("it is out");
    scene.busy(true);
}

#[track_caller]
fn line<'t>(told: &'t [String], delivery: usize, start: &str) -> &'t str {
    let text = told.get(delivery).map(String::as_str).unwrap_or_default();
    text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| unreachable!("{told:?}"))
}

/// The second summary waits while the first one is acknowledged, and takes in the third.
#[test]
fn a_receipt_is_of_what_was_told_and_not_of_the_summary_that_waits() {
    let scene = scene(9);
    let watch =
        r#"{"name" "http.get" "interval" 5 "notify_when" "summary" "notify_config" {"batch_size" 3}}"#;
    scene.start(watch);
    scene.pass(17);
    assert_eq!((scene.executor.calls().len(), scene.told().len()), (3, 1));
    scene.pass(15);
    assert_eq!((scene.executor.calls().len(), scene.told().len()), (6, 1), "the second one waits");
    acknowledge(&scene);
    scene.pass(15);
    assert_eq!((scene.executor.calls().len(), scene.told().len()), (9, 1));
    scene.busy(false);
    let told = scene.told();
    assert!(line(&told, 0, "Summary").starts_with(r#"Summary (3 checks): [{"check": 1, "#), "{told:?}");
    assert!(line(&told, 1, "Summary").starts_with(r#"Summary (6 checks): [{"check": 4, "#), "{told:?}");
}

/// What is acknowledged is not told again, also if more was told meanwhile and the delivery was refused before.
#[test]
fn a_summary_that_was_refused_is_told_once() {
    let scene = scene(4);
    scene.host.behave(&[(Behaviour::FailSubmit, 1)]);
    let watch =
        r#"{"name" "http.get" "interval" 5 "notify_when" "summary" "notify_config" {"batch_size" 2}}"#;
    scene.start(watch);
    scene.pass(11);
    assert_eq!((scene.executor.calls().len(), scene.told().len()), (2, 1), "it is refused");
    scene.host.behave(&[(Behaviour::Prompt, 1)]);
    scene.pass(6);
    scene.rest();
    scene.pass(5);
    let told = scene.told();
    assert_eq!((scene.executor.calls().len(), told.len()), (4, 3), "{told:?}");
    assert!(line(&told, 1, "Summary").starts_with(r#"Summary (2 checks): [{"check": 1, "#), "{told:?}");
    assert!(line(&told, 2, "Summary").starts_with(r#"Summary (2 checks): [{"check": 3, "#), "{told:?}");
}

/// The session was shown the first change, and the second one waits: the third is shown against the first.
#[test]
fn a_difference_is_shown_against_what_was_read() {
    let scene = scene(4);
    scene.start(r#"{"name" "http.get" "interval" 5}"#);
    scene.pass(11);
    assert_eq!((scene.executor.calls().len(), scene.told().len()), (2, 1));
    scene.pass(5);
    assert_eq!((scene.executor.calls().len(), scene.told().len()), (3, 1), "the second change waits");
    acknowledge(&scene);
    scene.pass(5);
    assert_eq!(scene.executor.calls().len(), 4);
    scene.busy(false);
    let told = scene.told();
    assert_eq!(line(&told, 0, "Changed: "), "Changed: result: 1 -> 2");
    assert_eq!(line(&told, 1, "Changed: "), "Changed: result: 2 -> 4");
}
