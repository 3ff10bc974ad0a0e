//! What an operator is told of the last approval of a schedule: exactly the parts in which what is asked now differs from what
//! was approved then, whatever has happened in between.
//!
//! The test notes what it was shown when it approved, and compares that with what it is shown now in a way of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use reveille::dialect::REQUEST_CAPS;
use reveille::domain::{
    Caller, GuardPolicy, HostId, Rule, RuleScope, Ruling, Scope, SessionConfig, SessionId, Span,
};
use reveille::edn::{Keyword, Map, Value, read};
use reveille::engine::{Command, Input};
use reveille::port::Clock as _;
use reveille::runtime::Handle;

use super::lives::{ByHand, Lives};
use crate::simulated::ask;

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A minute passes, and the next slot comes.
    Minute,
    /// An operator approves the run that waits longest, if there is one.
    Approve,
    /// An operator denies it.
    Deny,
    /// The schedule is changed in these parts.
    Change(&'static str),
    /// The schedule is paused and resumed, which revokes an approval of a run that has not gone out.
    Pause,
    /// Nothing goes out any more, so that what is approved can be revoked.
    Hold,
    /// What is approved goes out.
    Release,
    /// The process dies, and another one loads what is stored.
    Restart,
}

const CHANGES: &[&str] = &[
    ":message \"drop all\"",
    ":message \"tidy up\"",
    ":label \"night\"",
    ":label nil",
    ":description \"of the cellar\"",
    ":policy {:backoff-ms [4711]}",
    ":policy {:backoff-ms [] :when-busy :queue}",
    ":lifetime {:max-runs 900}",
    ":lifetime {}",
    ":when \"every 2 minutes\"",
    ":message \"both\" :policy {:max-late-ms 50000}",
];

const ALL: &[Event] =
    &[Event::Approve, Event::Deny, Event::Pause, Event::Hold, Event::Release, Event::Restart];

/// What was shown when a run was approved.
struct Given {
    run: String,
    at: String,
    shown: Map,
}

/// A durable schedule all of whose runs an operator has to approve.
struct Scene {
    lives: Lives,
    /// The process that runs; `None` only between two.
    life: Option<ByHand>,
    schedule: String,
    last: Option<Given>,
}

impl Scene {
    fn new(kind: &str) -> Scene {
        let lives = Lives::new();
        let life = ByHand::new(&lives);
        let opened = life.handle.open_session(
            Some(SessionId::new("one").expect("a name")),
            HostId::LOCAL,
            SessionConfig::default(),
        );
        opened.expect("there is room");
        let rule = Rule { name: "the-rule".into(), of: RuleScope::default(), then: Ruling::Hold, why: None };
        let approval = Some(Span::from_millis(360_000_000));
        let policy = GuardPolicy { rules: vec![rule], approval, asks: None };
        let set = Command::SetGuard { policy: Some(Arc::new(policy)), by: Scope::Operator.into() };
        life.handle.submit(Input::Command(set)).expect("it is kept");
        let mut scene = Scene { lives, life: Some(life), schedule: String::new(), last: None };
        let made = scene.ask(&format!(
            "[{{(psi.scheduler/create {{:session-id \"one\" :kind {kind} :message \"tidy up\" :when \"every 1 minute\" \
             :durability :durable}}) [:psi.scheduler/schedule-id]}}]"
        ));
        made.split('"').nth(1).expect(&made).clone_into(&mut scene.schedule);
        scene
    }

    fn handle(&self) -> &Handle {
        &self.life.as_ref().expect("a process runs").handle
    }

    fn ask(&self, query: &str) -> String {
        ask(self.handle(), &Caller::OPERATOR, query, false)
    }

    /// The runs that wait for an operator, that which waits longest in front.
    fn held(&self) -> Vec<Map> {
        let answer = self.ask(
            "[{:reveille.engine/held-runs [:reveille.run/id :reveille.run/approval-digest :reveille.run/approval \
             :reveille.run/last-approved]}]",
        );
        let answer = read(answer.as_bytes(), &REQUEST_CAPS).expect(&answer);
        let held = answer.as_map().and_then(|map| map.keyword("reveille.engine/held-runs"));
        let held = held.and_then(Value::as_items).expect("a list");
        held.iter().filter_map(Value::as_map).cloned().collect()
    }

    fn play(&mut self, event: Event) {
        match event {
            Event::Minute => {
                for _ in 0..60 {
                    self.lives.stage.clock.advance(Span::from_millis(1_000));
                    self.turn();
                }
            }
            Event::Approve => self.approve(),
            Event::Deny => {
                if let Some(run) = self.held().first().map(|held| text(held, "reveille.run/id")) {
                    self.done(&format!("(reveille.run/deny {{:run-id \"{run}\"}})"));
                }
            }
            Event::Change(parts) => {
                self.done(&format!(
                    "(psi.scheduler/reschedule {{:schedule-id \"{}\" {parts}}})",
                    self.schedule
                ));
            }
            Event::Pause => {
                for word in ["pause", "resume"] {
                    self.done(&format!("(psi.scheduler/{word} {{:schedule-id \"{}\"}})", self.schedule));
                }
            }
            Event::Hold => self.done("(psi.scheduler/hold-all {})"),
            Event::Release => {
                let _ = self.ask("[(psi.scheduler/release-all {})]");
            }
            Event::Restart => {
                // The one before has to be gone: it writes until its end.
                drop(self.life.take());
                self.life = Some(ByHand::new(&self.lives));
            }
        }
        self.turn();
    }

    /// Deals with all that is due, until all of it is on disk.
    fn turn(&mut self) {
        self.life.as_mut().expect("a process runs").turn();
    }

    #[track_caller]
    fn done(&self, call: &str) {
        let answer = self.ask(&format!("[{call}]"));
        assert!(!answer.contains("error"), "{call}: {answer}");
    }

    fn approve(&mut self) {
        let Some(held) = self.held().into_iter().next() else { return };
        let (run, digest) = (text(&held, "reveille.run/id"), text(&held, "reveille.run/approval-digest"));
        let shown = held.keyword("reveille.run/approval").and_then(Value::as_map).expect("it waits").clone();
        let at = self.lives.stage.clock.now().wall.to_string();
        self.done(&format!("(reveille.run/approve {{:run-id \"{run}\" :digest \"{digest}\"}})"));
        self.last = Some(Given { run, at: at.trim_end_matches('Z').to_owned(), shown });
    }

    /// What is told of each run that waits is what differs.
    #[track_caller]
    fn check(&self, so_far: &[Event]) {
        for held in self.held() {
            let asked = held.keyword("reveille.run/approval").and_then(Value::as_map).expect("it waits");
            let told = held.keyword("reveille.run/last-approved").and_then(Value::as_map);
            let (Some(last), Some(told)) = (&self.last, told) else {
                assert_eq!((self.last.is_some(), told), (false, None), "{so_far:?}: {held:?}");
                continue;
            };
            assert_eq!(text(told, "run-id"), last.run, "{so_far:?}: {told:?}");
            let at = told.keyword("at").map(ToString::to_string).expect("it has");
            assert!(at.contains(&last.at), "{so_far:?}: {at} is not {}", last.at);
            let differences = told.keyword("differences").and_then(Value::as_items).expect("it is known");
            assert_told(&last.shown, asked, differences, &format!("{so_far:?}"));
        }
    }
}

/// Each difference that is told is one, in the words of both sides, and without them there is none.
#[track_caller]
fn assert_told(before: &Map, now: &Map, differences: &[Value], so_far: &str) {
    let (mut was, mut is) = (parts(before), parts(now));
    for difference in differences.iter().filter_map(Value::as_map) {
        let part = text(difference, "part");
        let within = format!("{part}.");
        let take = |all: &mut BTreeMap<String, Value>| {
            let (taken, rest): (BTreeMap<_, _>, BTreeMap<_, _>) = std::mem::take(all)
                .into_iter()
                .partition(|(name, _)| *name == part || name.starts_with(&within));
            *all = rest;
            taken
        };
        let (of_was, of_is) = (take(&mut was), take(&mut is));
        assert_ne!(of_was, of_is, "{so_far}: {part} is told, and does not differ");
        for (side, of_side) in [("before", &of_was), ("now", &of_is)] {
            // Of a part that has parts itself, the words are its text as a whole.
            if of_side.keys().all(|name| *name == part) {
                let words = of_side.get(&part).map(words);
                let told = difference.keyword(side).and_then(Value::as_str).map(str::to_owned);
                assert_eq!(told, words, "{so_far}: {part}, {side}");
            }
        }
    }
    assert_eq!(was, is, "{so_far}: told is {differences:?}");
}

/// What is asked, part by part, without what belongs to the run and its hold. A summary has nothing of its own.
fn parts(asked: &Map) -> BTreeMap<String, Value> {
    let of_run = ["digest", "rule", "why", "until", "revision", "cause", "session-config"];
    let mut found = BTreeMap::new();
    for (key, value) in asked {
        let name = key.as_keyword().map(Keyword::name).expect("a word of ours");
        if !of_run.contains(&name) {
            leaves(name, value, &mut found);
        }
    }
    found
}

fn leaves(name: &str, value: &Value, found: &mut BTreeMap<String, Value>) {
    let is_ours = |map: &&Map| map.keys().all(|key| key.as_keyword().is_some());
    match value.as_map().filter(is_ours) {
        Some(map) => {
            for (key, value) in map {
                let key = key.as_keyword().map(Keyword::name).expect("a word of ours");
                leaves(&format!("{name}.{key}"), value, found);
            }
        }
        None if value.is_nil() => {}
        None => _ = found.insert(name.to_owned(), value.clone()),
    }
}

fn words(value: &Value) -> String {
    let word = value.as_keyword().map(Keyword::name).or(value.as_str());
    word.map_or_else(|| value.to_string(), str::to_owned)
}

#[track_caller]
fn text(map: &Map, key: &str) -> String {
    map.keyword(key).and_then(Value::as_str).unwrap_or_else(|| unreachable!("{key}: {map:?}")).to_owned()
}

#[track_caller]
fn check(kind: &str, events: &[Event]) {
    let mut scene = Scene::new(kind);
    for (count, event) in events.iter().enumerate() {
        scene.play(*event);
        scene.check(&events[..=count]);
    }
}

/// Ways on which what was approved last is easily mistaken for something else.
#[test]
fn what_is_told_of_the_last_approval_is_what_differs_on_known_ways() {
    use Event::{Approve, Change, Deny, Hold, Minute, Pause, Release, Restart};
    let drop = Change(":message \"drop all\"");
    let label = Change(":label \"night\"");
    for kind in [":message", ":session"] {
        for events in [
            // Approved, then changed.
            &[Minute, Approve, drop, Minute][..],
            &[Minute, Approve, drop, label, Minute, Restart, Approve, Minute],
            &[Minute, Approve, Restart, drop, Restart, Minute],
            // Changed while the run waits: what is approved is what the run was claimed with.
            &[Minute, drop, Approve, Minute],
            &[Minute, drop, label, Restart, Approve, Restart, Minute],
            // Changed back.
            &[Minute, Approve, drop, Change(":message \"tidy up\""), Minute],
            // Approved, and revoked before it went out.
            &[Hold, Minute, Approve, drop, Release, Minute],
            &[Hold, Minute, Approve, Pause, Restart, Release, Minute],
            &[Minute, Approve, Minute, Hold, Approve, drop, Restart, Minute, Release, Minute],
            // A denial approves nothing.
            &[Minute, Approve, drop, Minute, Deny, Minute, Restart, Minute],
        ] {
            check(kind, events);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn what_is_told_of_the_last_approval_is_what_differs(
        is_fresh in any::<bool>(),
        events in proptest::collection::vec(
            prop_oneof![
                3 => Just(Event::Minute),
                2 => Just(Event::Approve),
                2 => proptest::sample::select(CHANGES).prop_map(Event::Change),
                3 => proptest::sample::select(ALL),
            ],
            0..24,
        ),
    ) {
        check(if is_fresh { ":session" } else { ":message" }, &events);
    }
}
