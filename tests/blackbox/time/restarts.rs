//! What becomes of slots that pass while the daemon is down (T23): every answer to missed slots, every kind of trigger, an
//! orderly stop and a kill, for seconds, minutes and days.

use std::time::Duration;

use reveille::edn::Value;
use reveille_checker::{Moment, Span, Trigger, slots};

use crate::faults::faketime::WallClock;
use crate::harness::ask::{create, instant, only};
use crate::harness::daemon::{Daemon, Home, after, at, pass, until, wall};
use crate::harness::stream::{Harness, Receipt, Stream};

/// How long it is down, and what comes meanwhile.
struct Row {
    down: Duration,
    period_ms: u64,
    cron: &'static str,
}

const ROWS: [Row; 3] = [
    Row { down: Duration::from_secs(13), period_ms: 5_000, cron: "* * * * *" },
    Row { down: Duration::from_secs(600), period_ms: 60_000, cron: "* * * * *" },
    Row { down: Duration::from_secs(3 * 86_400), period_ms: 3_600_000, cron: "0 * * * *" },
];

/// Where the clock cannot be set, it has to be waited for.
const SHORT: [Row; 1] = [Row { down: Duration::from_secs(2), period_ms: 1_000, cron: "* * * * *" }];

#[test]
fn missed_slots_become_what_their_policy_says() {
    let settable = WallClock::new(&Home::new("restarts-probe")).is_some();
    let rows = if settable { &ROWS[..] } else { &SHORT };
    std::thread::scope(|scope| {
        for (number, row) in rows.iter().enumerate() {
            for signal in ["-TERM", "-KILL"] {
                scope.spawn(move || play(row, signal, &format!("restarts-{number}{signal}")));
            }
        }
    });
}

struct Made {
    id: String,
    missed: &'static str,
    trigger: Trigger,
    created: Moment,
}

fn play(row: &Row, signal: &str, name: &str) {
    let home = Home::new(name);
    let mut clock = WallClock::new(&home);
    let serve = |clock: &Option<WallClock>| {
        let mut serve = home.serve();
        clock.iter().for_each(|clock| _ = clock.on(&mut serve));
        Daemon::start_with(&home, &mut serve)
    };
    let daemon = serve(&clock);
    let harness = Harness::attach(&daemon.socket, &["main".to_owned()]).expect("it lives");
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let shown = clock.as_ref().map_or_else(wall, WallClock::now);
    let made = make(row, shown, &mut stream);
    let ended = daemon.end(signal);
    assert_eq!(ended.code(), (signal == "-TERM").then_some(0));
    let before = harness.finish();
    match &mut clock {
        Some(clock) => clock.jump(i64::try_from(row.down.as_secs()).expect("days")),
        None => pass(row.down),
    }
    let daemon = serve(&clock);
    let harness = Harness::attach(&daemon.socket, &["main".to_owned()]).expect("it lives");
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    let up = daemon.awoke();
    let received = receive_all(&harness, &mut stream);
    for one in &made {
        let about = format!("{} of {:?}, down for {:?}, {signal}", one.missed, one.trigger, row.down);
        let mine = |id: &str| id == one.id;
        let earlier: Vec<Moment> =
            before.iter().filter(|it| mine(&it.run.schedule.to_string())).map(Receipt::slot).collect();
        let passed = slots(&one.trigger, one.created, up).expect("a trigger");
        let passed: Vec<Moment> = passed.into_iter().filter(|slot| !earlier.contains(slot)).collect();
        let expected = match one.missed {
            "skip" => &[],
            "run-once" => &passed[passed.len().saturating_sub(1)..],
            _ => &passed[..],
        };
        let came: Vec<Moment> = received
            .iter()
            .filter(|it| mine(&it.run.schedule.to_string()) && it.slot() <= up)
            .map(Receipt::slot)
            .collect();
        // A slot that comes before it has looked at those that were missed takes the place of the latest of them.
        let soon = slots(&one.trigger, up, after(up, Duration::from_secs(2))).expect("a trigger");
        let is_folded = one.missed == "run-once" && came.is_empty() && !soon.is_empty();
        let expected = if is_folded { &[] } else { expected };
        assert_eq!(came, expected, "{about}");
        // What was not delivered is said, and how much it was.
        let skipped = i64::try_from(passed.len() - expected.len()).expect("few");
        assert_eq!(accounted(&mut stream, &one.id), skipped, "{about}");
    }
    println!("down for {:?}, {signal}: {} runs made up for", row.down, received.len());
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
    home.assert_history();
}

/// One session takes one after the other, the oldest slot first: it is over when nothing waits any more.
fn receive_all(harness: &Harness, stream: &mut Stream) -> Vec<Receipt> {
    let mut received = Vec::new();
    until("all is made up for", Duration::from_secs(30), || {
        while let Some(receipt) = harness.next(Duration::from_millis(50)) {
            received.push(receipt);
        }
        let lane = "[{[:psi.agent-session/session-id \"main\"] \
                    [{:psi.agent-session/waiting [:psi.scheduler/schedule-id]} \
                     {:psi.agent-session/delivery-in-flight [:psi.scheduler/schedule-id]}]}]";
        let answer = stream.eql(lane).expect("it lives").expect("it is answered");
        let lane = only(&answer);
        let waiting = at(lane, &["psi.agent-session/waiting"]).and_then(Value::as_items);
        waiting.is_some_and(<[_]>::is_empty)
            && at(lane, &["psi.agent-session/delivery-in-flight"]).is_some_and(Value::is_nil)
    });
    received.extend(harness.next(Duration::from_secs(1)));
    while let Some(receipt) = harness.next(Duration::from_millis(50)) {
        received.push(receipt);
    }
    received
}

fn make(row: &Row, shown: Moment, stream: &mut Stream) -> Vec<Made> {
    let mut made = Vec::new();
    for missed in ["skip", "run-once", "all"] {
        let at = after(shown, row.down / 2);
        let period_ms = row.period_ms;
        let ways = [
            (format!(":at \"{at}\""), Trigger::At { at }),
            (
                format!(":every-ms {period_ms}"),
                Trigger::Every { period_ms, anchor: None, from: Default::default() },
            ),
            (format!(":cron {:?}", row.cron), Trigger::Cron { expr: row.cron.into(), zone: "UTC".into() }),
        ];
        for (when, mut trigger) in ways {
            let ask = format!(":durability :durable :message \"m\" :policy {{:missed :{missed}}} {when}");
            let id = create(stream, &ask).expect("it is made");
            let created = created(stream, &id);
            if let Trigger::Every { anchor, .. } = &mut trigger {
                *anchor = Some(
                    first_slot(stream, &id).checked_sub(Span::from_millis(period_ms)).expect("in range"),
                );
            }
            made.push(Made { id, missed, trigger, created });
        }
    }
    made
}

fn of(stream: &mut Stream, id: &str, attribute: &str) -> Value {
    let query = format!("[{{[:psi.scheduler/schedule-id {id:?}] [{attribute}]}}]");
    let answer = stream.eql(&query).expect("it lives").expect("it is known");
    at(only(&answer), &[&attribute[1..]]).cloned().expect("it is answered")
}

fn created(stream: &mut Stream, id: &str) -> Moment {
    instant(Some(&of(stream, id, ":psi.scheduler/created-at")))
}

fn first_slot(stream: &mut Stream, id: &str) -> Moment {
    instant(Some(&of(stream, id, ":psi.scheduler/next-fire-at")))
}

/// The slots that passed without a run of their own, by the daemon's word.
fn accounted(stream: &mut Stream, id: &str) -> i64 {
    of(stream, id, ":psi.scheduler/skipped-count").as_int().expect("a number")
}
