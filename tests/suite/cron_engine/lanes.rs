//! Whom a report is about: what a harness says of one turn, or by going away, moves no other.

use reveille::domain::{Durability, Settings, Span, Target, When};
use reveille::engine::NewSchedule;

use super::scene::{Scene, session};

fn in_a_minute(owner: &str, text: &str) -> NewSchedule {
    NewSchedule::message(session(owner), When::After(Span::from_millis(60_000)), text)
}

/// What has gone out since this was asked last.
fn out(scene: &mut Scene) -> usize {
    scene.news().iter().filter(|news| news.ends_with(" out")).count()
}

#[test]
fn an_idle_session_that_is_said_to_be_idle_has_ended_no_turn() {
    for durability in [Durability::Volatile, Durability::Durable] {
        let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
        scene.attach(&[session("s")]);
        for text in ["first", "second"] {
            scene.create(NewSchedule { durability, ..in_a_minute("s", text) });
        }
        scene.pass(Span::from_millis(60_000));
        assert_eq!(out(&mut scene), 1, "one at a time");
        scene.busy("s", false);
        scene.acknowledge().expect("it is in flight");
        assert_eq!(out(&mut scene), 0, "the turn of the first is about to begin");
        scene.busy("s", true);
        scene.busy("s", true);
        assert_eq!(out(&mut scene), 0, "it has begun");
        scene.busy("s", false);
        assert_eq!(out(&mut scene), 1, "it has ended");
    }
}

#[test]
fn a_harness_that_is_lost_takes_no_delivery_of_another_along() {
    let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
    scene.open("owner");
    scene.attach(&[session("s")]);
    scene.attach(&[session("owner")]);
    let settings = Settings { target: Target::Session(session("s")), ..Settings::PLAIN };
    scene.create(NewSchedule { settings: Some(Box::new(settings)), ..in_a_minute("owner", "for another") });
    scene.pass(Span::from_millis(60_000));
    assert_eq!(out(&mut scene), 1);
    scene.detach();
    assert_eq!(scene.news(), Vec::<String>::new());
    scene.acknowledge().expect("it is in flight all the same");
    assert_eq!(scene.news().len(), 1);
}
