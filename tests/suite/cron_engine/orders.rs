//! Every order of two operations around a slot that is due: nothing is dropped, doubled or given another meaning.

use std::fmt::Write as _;

use reveille::domain::{Policy, ScheduleId, Span, Trigger, When};
use reveille::engine::{Command, ScheduleChange};

use super::matrices::{durable, every, once};
use super::scene::Scene;

const OPERATIONS: [&str; 7] =
    ["edit text", "edit trigger", "pause", "resume", "skip next", "run now", "cancel"];

/// The operations come at the very moment of the slot, before the engine had its turn; a second before; a second after.
#[test]
fn two_operations_around_a_slot_go_as_the_table_says() {
    let mut text = String::from(
        "; The slot is at 00:05. Two operations, then eleven minutes more. `!` stands before an operation that was refused.\n",
    );
    let triggers = [("every 5 min", every(300)), ("once", once("2026-06-01T00:05:00Z"))];
    for (name, trigger) in &triggers {
        for when in ["just before", "due", "just after"] {
            let pairs = OPERATIONS.iter().flat_map(|first| OPERATIONS.map(|second| [*first, second]));
            for pair in pairs {
                let _ = writeln!(text, "{name} · {when}{}", play(trigger, when, pair));
            }
        }
    }
    super::check("fixtures/cron/orders.txt", &text);
}

/// The two operations, and what became of the slots.
fn play(trigger: &Trigger, when: &str, operations: [&str; 2]) -> String {
    let mut scene = Scene::new("2026-06-01T00:00:00Z", "UTC");
    let id = scene.create(durable(trigger.clone(), Policy::PLAIN));
    // Nobody has looked yet when the operations come, but where the slot is over.
    match when {
        "just before" => scene.stage.clock.advance(Span::from_millis(299_000)),
        "due" => scene.stage.clock.advance(Span::from_millis(300_000)),
        _ => {
            scene.pass(Span::from_millis(300_000));
            scene.pass(Span::from_millis(1_000));
        }
    }
    scene.news();
    let mut line = String::new();
    for operation in operations {
        let mark = if operate(&mut scene, &id, operation).is_err() { "!" } else { "" };
        let _ = write!(line, " · {mark}{operation}");
    }
    scene.turn();
    scene.pass(Span::from_millis(11 * 60_000));
    let mut news = scene.news();
    news.retain(|line| !line.ends_with(" out") && !line.ends_with(" ok"));
    let told = if news.is_empty() { "nothing".to_owned() } else { news.join(", ") };
    format!("{line}: {told}")
}

fn operate(scene: &mut Scene, id: &ScheduleId, operation: &str) -> Result<(), String> {
    let which = Scene::any(id);
    let change = |change| Command::ChangeSchedule { which: which.clone(), change: Box::new(change) };
    scene.command(match operation {
        "edit text" => change(ScheduleChange { text: Some("q".into()), ..ScheduleChange::default() }),
        "edit trigger" => {
            let when = Some(When::By(every(420)));
            change(ScheduleChange { when, ..ScheduleChange::default() })
        }
        "pause" => Command::PauseSchedule { which, reason: None },
        "resume" => Command::ResumeSchedule(which),
        "skip next" => Command::SkipNext(which),
        "run now" => Command::RunNow { which, keeps_slot: false },
        _ => Command::CancelSchedule(which),
    })
}
