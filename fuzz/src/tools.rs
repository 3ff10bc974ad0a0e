//! Fuzzes tool calls, one per line as `NAME ARGUMENTS`, on one engine; a line of digits advances
//! the clock by that many seconds. Answers print and parse back in both notations; a refusal has a
//! class; the engine's laws hold after every line; reading changes nothing.

use reveille::dialect::{Answer, Notation, REQUEST_CAPS, json};
use reveille::domain::{Caller, Span};
use reveille::edn::{self, Caps};
use reveille::service::Service;
use reveille::testkit::{Laws, StateView, reads_change_nothing};

use super::scene::{Scene, callers};

/// The maximum of lines.
const LINES: usize = 12;

/// A list of all schedules may be longer than a request.
const ANSWER_CAPS: Caps =
    Caps { bytes_max: 1 << 28, depth_max: 512, digits_max: u16::MAX, forms_max: u32::MAX };

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    let scene = Scene::new();
    let mut watch = Watch { laws: Laws::new(), seen: 0 };
    let [operator, main] = callers();
    for line in input.split(|byte| *byte == b'\n').take(LINES) {
        let Ok(line) = std::str::from_utf8(line) else { return };
        // The caller is the session, or the operator after a `!`.
        let (caller, line) = line.strip_prefix('!').map_or((&main, line), |line| (&operator, line));
        match line.parse::<u32>() {
            Ok(seconds) => pass(&scene, seconds),
            Err(_) => call(&scene, caller, line),
        }
        watch.look(&scene);
    }
    reads_change_nothing(&scene.handle).expect("a law");
}

fn pass(scene: &Scene, seconds: u32) {
    scene.stage.clock.advance(Span::from_millis(u64::from(seconds) * 1_000));
    // Catching up happens in bounded steps, so this ends.
    scene.handle.run_due();
}

fn call(scene: &Scene, caller: &Caller, line: &str) {
    let Some((name, args)) = line.split_once(' ') else { return };
    for (notation, args) in [
        (Notation::Json, json::read(args.as_bytes(), &REQUEST_CAPS).ok()),
        (Notation::Edn, edn::read(args.as_bytes(), &REQUEST_CAPS).ok()),
    ] {
        if let Some(answer) = args.and_then(|args| {
            Service::new(scene.handle.clone()).call_tool(name, caller, &args, notation).ok()?
        }) {
            check(&answer);
        }
    }
}

fn check(answer: &Answer) {
    assert_eq!(answer.is_error, answer.code.is_some(), "{answer:?}");
    let text = answer.value.to_string();
    assert_eq!(edn::read(text.as_bytes(), &ANSWER_CAPS).as_ref(), Ok(&answer.value), "{text}");
    let mut text = String::new();
    json::write(&answer.value, &mut text);
    assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(), "{text}");
}

/// The laws, with the number of observations they have seen.
struct Watch {
    laws: Laws,
    seen: usize,
}

impl Watch {
    fn look(&mut self, scene: &Scene) {
        let observations = scene.stage.history.after(self.seen);
        self.seen += observations.len();
        for observation in &observations {
            self.laws.observe(observation).expect("a law");
        }
        let now = scene.handle.now();
        scene.handle.view(|state| {
            // Calls leave due work behind, and each dialect has a limit of its own.
            let standing = StateView { state, now, turned: false, session_live_max: None };
            self.laws.stand(&standing).and_then(|()| self.laws.stand_deep(&standing)).expect("a law");
        });
    }
}
