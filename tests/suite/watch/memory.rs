//! What a watch remembers: the ring of checks, what was shown, differences, waits (T46, T48, T51).

use std::sync::Arc;

use reveille::domain::{Filter, Glimpse, NotifyWhen, Outcome, Past, Ring, Span, Told, Watch};
use reveille::edn::Value;
use reveille::engine::{Look, next_wait, read_outcome};

use super::{World, at, outcome, part, started, table};

fn value(text: &str) -> Value {
    reveille::edn::read(text.as_bytes(), &super::CAPS).expect("EDN")
}

fn glimpse(number: i64) -> Arc<Glimpse> {
    Arc::new(Glimpse::Result(Arc::new(Value::Int(number))))
}

/// T48.
#[test]
fn the_ring_has_the_newest_hundred() {
    let mut ring = Ring::default();
    assert!(ring.latest(10).is_empty());
    for number in 1..=250_u64 {
        // Three checks in a row come to the same.
        let is_new = number % 3 == 1;
        let glimpse = is_new.then(|| glimpse(i64::try_from(number / 3).expect("small")));
        ring.push(at(number * 30), number % 10 == 0, glimpse);
    }
    let all = ring.latest(1_000);
    assert_eq!(all.len(), 100);
    for (past, check) in all.iter().zip(151_u64..) {
        let number = i64::try_from((check - 1) / 3).expect("small");
        let expected =
            Past { check, at: at(check * 30), was_told: check % 10 == 0, glimpse: glimpse(number) };
        assert_eq!(*past, expected);
    }
    assert_eq!(ring.latest(3), all[97..]);
}

#[test]
fn the_ring_lasts_over_long_pauses() {
    let mut ring = Ring::default();
    let year = 365 * 86_400;
    for number in 0..5 {
        ring.push(at(number * year / 2), false, Some(glimpse(0)));
    }
    ring.push(at(10 * year), true, Some(glimpse(1)));
    let all = ring.latest(10);
    let newest = all.last().expect("one");
    assert_eq!((newest.check, newest.at, newest.was_told), (6, at(10 * year), true));
    // What is too old to be counted from the newest is gone, and what is there is right.
    assert!(all.iter().all(|past| past.at == at((past.check - 1) * year / 2) || past.check == 6));
}

/// T51.
#[test]
fn waits_double_after_errors_up_to_their_bound() {
    let (interval, seconds) = (Span::from_millis(30_000), |span: Span| span.millis() / 1_000);
    let plain = Filter::plain(NotifyWhen::OnChange);
    let filter = Filter { backoff: Some(Span::from_millis(300_000)), ..plain.clone() };
    let waits: Vec<u64> = (0..7).map(|errors| seconds(next_wait(&filter, interval, errors, 0))).collect();
    assert_eq!(waits, [30, 60, 120, 240, 300, 300, 300]);
    assert_eq!(seconds(next_wait(&filter, interval, u32::MAX, u64::MAX)), 300);
    assert_eq!(seconds(next_wait(&plain, interval, 5, u64::MAX)), 30);
    let short = Filter { backoff: Some(Span::from_millis(1_000)), ..plain.clone() };
    assert_eq!(seconds(next_wait(&short, interval, 5, 0)), 30);
    let jittered = Filter { jitter: 100, ..plain };
    assert_eq!(next_wait(&jittered, interval, 0, 0).millis(), 30_000);
    assert_eq!(next_wait(&jittered, interval, 0, u64::MAX / 2).millis(), 31_499);
    assert_eq!(next_wait(&jittered, interval, 0, u64::MAX).millis(), 32_999);
}

/// T51: an endpoint that is busy says when to come back.
#[test]
fn an_endpoint_that_asks_for_time_gets_it() {
    let look = Look::of(&Watch::FRESH, Arc::new(Filter::plain(NotifyWhen::OnChange)));
    let asked = |text: &str| {
        let outcome = Outcome::of_value(value(text), 1, Span::ZERO);
        read_outcome(&look, Arc::new(outcome)).again_after.map(|span| span.millis() / 1_000)
    };
    for (answer, seconds) in [
        (r#"{:status_code 429 :headers {"retry-after" "120"}}"#, Some(120)),
        (r#"{:status_code 503 :headers {"retry-after" " 7 "}}"#, Some(7)),
        (r#"{:status_code 429 :headers {"retry-after" "999999"}}"#, Some(3_600)),
        (r#"{:status_code 429 :headers {"retry-after" "Thu, 01 Jan 2026 00:00:00 GMT"}}"#, None),
        (r#"{:status_code 200 :headers {"retry-after" "120"}}"#, None),
        (r#"{:status_code 429 :headers {}}"#, None),
        ("{:status_code 429}", None),
        ("42", None),
    ] {
        assert_eq!(asked(answer), seconds, "{answer}");
    }
}

#[test]
fn differences_are_shown_on_one_line() {
    for row in table("differences").as_items().expect("rows") {
        let start = part(row, "start").cloned().unwrap_or_else(|| value("{}"));
        let [earlier, now] =
            ["earlier", "now"].map(|key| Arc::new(outcome(part(row, key).expect("a value"))));
        let mut watch = Watch::FRESH;
        watch.shown = Some(earlier);
        let look = Look::of(&watch, Arc::new(started(&start).filter));
        let change = read_outcome(&look, now).change;
        assert_eq!(change.as_deref(), part(row, "shown").and_then(Value::as_str), "{row}");
        assert!(change.is_none_or(|change| !change.contains('\n')));
    }
}

#[test]
fn what_was_told_is_what_differences_are_shown_against_once_it_has_arrived() {
    let mut world = World::new(started(&value("{}")));
    let change = |world: &World, number: i64| {
        let look = Look::of(&world.watch, Arc::clone(&world.filter));
        read_outcome(&look, Arc::new(Outcome::of_value(Value::Int(number), 1, Span::ZERO))).change
    };
    world.check(Outcome::of_value(Value::Int(1), 1, Span::ZERO));
    world.check(Outcome::of_value(Value::Int(2), 1, Span::ZERO));
    assert_eq!(change(&world, 3).as_deref(), Some("result: 2 -> 3"));
    // Told, and under way: the model still knows the one before.
    let outcome = Arc::new(Outcome::of_value(Value::Int(5), 1, Span::ZERO));
    world.watch.under_way = Some(Told { check: 3, outcome });
    world.watch.has_arrived(2);
    assert_eq!(change(&world, 3).as_deref(), Some("result: 2 -> 3"));
    world.watch.has_arrived(3);
    assert_eq!(change(&world, 3).as_deref(), Some("result: 5 -> 3"));
    assert_eq!(change(&world, 5), None);
}

/// A check after a restart is shown, though it came to what the last one before the restart did.
#[test]
fn the_history_begins_anew_after_a_restart() {
    let mut world = World::new(started(&value("{}")));
    let same = || Outcome::of_value(Value::Int(1), 1, Span::ZERO);
    world.check(same());
    world.check(same());
    // What the store has of it.
    world.watch.ring = Ring::after(2);
    world.check(same());
    let checks: Vec<u64> = world.watch.ring.latest(10).iter().map(|past| past.check).collect();
    assert_eq!((checks, world.watch.tally.told), (vec![3], 0));
}

/// A history holds a hundred checks at most, so those before them are not missing.
#[test]
fn a_history_is_complete_unless_a_restart_has_cut_it() {
    let mut ring = Ring::default();
    assert!(ring.is_complete());
    let mut cut = Ring::after(7);
    for check in 1..=150 {
        assert_eq!(cut.is_complete(), check > 100, "{check}");
        for ring in [&mut ring, &mut cut] {
            ring.push(
                at(check),
                false,
                (check == 1).then(|| Arc::new(Glimpse::Result(Arc::new(Value::Int(1))))),
            );
        }
        assert!(ring.is_complete(), "{check}");
    }
}

/// A copy has no room to spare, whatever its length.
#[test]
fn a_history_goes_on_after_it_was_copied() {
    let mut ring = Ring::default();
    for check in 1..=250 {
        ring = ring.clone();
        let result = Glimpse::Result(Arc::new(Value::Int(1)));
        ring.push(at(check), false, (check == 1).then(|| Arc::new(result)));
    }
    let checks: Vec<u64> = ring.latest(usize::MAX).iter().map(|past| past.check).collect();
    assert_eq!(checks, (151..=250).collect::<Vec<u64>>());
}

#[test]
fn long_results_and_errors_are_cut_in_the_history() {
    let look = Look::of(&Watch::FRESH, Arc::new(Filter::plain(NotifyWhen::Always)));
    let glimpse = |outcome: Outcome| (*read_outcome(&look, Arc::new(outcome)).glimpse).clone();
    let text = |length: usize| Outcome::of_value("é".repeat(length).into(), 1, Span::ZERO);
    assert!(matches!(glimpse(text(498)), Glimpse::Result(_)));
    let Glimpse::Preview(preview) = glimpse(text(499)) else { unreachable!("it is longer") };
    assert_eq!(preview.chars().count(), 500);
    let Glimpse::Error(error) = glimpse(Outcome::of_error("x".repeat(700), Span::ZERO)) else {
        unreachable!("it failed")
    };
    assert_eq!(error.len(), 500);
}
