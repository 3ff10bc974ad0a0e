//! Bounds of a schedule at the very moment and just past it: how often, until when, how late.

use std::num::NonZeroU32;

use reveille::domain::{CountFrom, Every, Lifetime, Policy, Settings, Span, When};
use reveille::engine::NewSchedule;

use super::scene::{Scene, at, session};

const SECOND: u64 = 1_000_000_000;

/// A schedule of these terms, in memory and on disk; what happens; what comes of it.
#[track_caller]
fn check(when: &When, policy: &Policy, lifetime: &Lifetime, happens: impl Fn(&mut Scene), expected: &[&str]) {
    use reveille::domain::Durability::{Durable, Volatile};
    for durability in [Volatile, Durable] {
        let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
        let settings = Settings { policy: policy.clone(), lifetime: *lifetime, ..Settings::PLAIN };
        let new = NewSchedule::message(session("s"), when.clone(), "p");
        scene.create(NewSchedule { durability, settings: Some(Box::new(settings)), ..new });
        happens(&mut scene);
        assert_eq!(scene.news(), expected, "{}", durability.name());
    }
}

/// Once, a minute from the start.
fn once() -> When {
    When::At(at("2026-06-01T00:01:00Z"))
}

fn each_minute() -> When {
    let every = Every::new(Span::from_millis(60_000), at("2026-06-01T00:01:00Z"), CountFrom::Slot);
    When::By(every.expect("a minute is a period").into())
}

fn late(seconds: u64) -> Policy {
    Policy { max_late: Some(Span::from_millis(seconds * 1_000)), ..Policy::PLAIN }
}

fn until(end: &str) -> Lifetime {
    Lifetime { expires_at: Some(at(end)), ..Lifetime::PLAIN }
}

#[test]
fn so_many_runs_and_no_more() {
    let lifetime = Lifetime { max_runs: NonZeroU32::new(2), ..Lifetime::PLAIN };
    let told = ["claim 00:01:00 (slot)", "00:01:00 out", "00:01:00 ok"];
    let told_too = ["claim 00:02:00 (slot)", "00:02:00 out", "00:02:00 ok"];
    let hour = |scene: &mut Scene| scene.pass(Span::from_millis(3_600_000));
    check(&each_minute(), &Policy::PLAIN, &lifetime, hour, &[told, told_too].concat());
}

#[test]
fn a_slot_at_the_expiry_is_none() {
    let told = ["claim 00:01:00 (slot)", "00:01:00 out", "00:01:00 ok"];
    let hour = |scene: &mut Scene| scene.pass(Span::from_millis(3_600_000));
    check(&each_minute(), &Policy::PLAIN, &until("2026-06-01T00:02:00Z"), hour, &told);
    let told_too = ["claim 00:02:00 (slot)", "00:02:00 out", "00:02:00 ok"];
    let longer = until("2026-06-01T00:02:00.000000001Z");
    check(&each_minute(), &Policy::PLAIN, &longer, hour, &[told, told_too].concat());
}

#[test]
fn as_late_as_it_may_be_and_later() {
    let told = ["claim 00:01:00 (slot)", "00:01:00 out", "00:01:00 ok"];
    let oversleep = |nanos| move |scene: &mut Scene| scene.oversleep(Span::from_nanos(nanos));
    check(&once(), &late(10), &Lifetime::PLAIN, oversleep(70 * SECOND), &told);
    check(&once(), &late(10), &Lifetime::PLAIN, oversleep(70 * SECOND + 1), &["skip 00:01:00: too-late"]);
}

#[test]
fn what_has_waited_too_long_is_called_off() {
    let waits = ["claim 00:01:00 (slot)", "00:01:00 waits: session-busy"];
    let idle_after = |nanos| {
        move |scene: &mut Scene| {
            scene.busy("s", true);
            scene.pass(Span::from_nanos(60 * SECOND));
            scene.pass(Span::from_nanos(nanos));
            scene.busy("s", false);
        }
    };
    let went: &[&str] = &["00:01:00 out", "00:01:00 ok"];
    for (policy, lifetime, nanos, end) in [
        (late(10), Lifetime::PLAIN, 10 * SECOND, went),
        (late(10), Lifetime::PLAIN, 10 * SECOND + 1, &["00:01:00 off: too-late"]),
        (Policy::PLAIN, until("2026-06-01T00:01:10Z"), 10 * SECOND - 1, went),
        (Policy::PLAIN, until("2026-06-01T00:01:10Z"), 10 * SECOND, &["00:01:00 off: expired"]),
    ] {
        check(&once(), &policy, &lifetime, idle_after(nanos), &[&waits[..], end].concat());
    }
}
