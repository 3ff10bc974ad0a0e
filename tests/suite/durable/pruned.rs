//! What is told of the past after the history was pruned: it is as it was, or refused, or counted as missing.

use std::collections::BTreeMap;

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{
    Caller, Cursor, DecisionKind, Grant, HostId, MemoryChange, Moment, Policy, Primitives, ScheduleId, Scope,
    SessionId, Span,
};
use reveille::edn::{Map, Value, read};
use reveille::engine::{Command, Input, ScheduleChange, Which};
use reveille::graph::eql::QueryRefusal;
use reveille::port::{Clock, HistoryCaps, Store as _, is_creation, is_edit, is_shared_by_nobody};

use reveille::runtime::Handle;
use reveille::service::Service;

use super::lives::{ByHand, Lives, durable, every, message};
use super::past::{ALL, ask, try_ask};
use crate::simulated;

const KEY: &str = "psi.scheduler/schedules";
const UNTOLD: &str = "[:reveille.engine/untold]";

fn which(id: &ScheduleId) -> Which {
    Which::any(Scope::Operator, id.clone())
}

fn change(id: &ScheduleId, text: &str) -> Command {
    let change = ScheduleChange { text: Some(text.into()), ..ScheduleChange::default() };
    Command::ChangeSchedule { which: which(id), change: Box::new(change) }
}

/// Items of a list of the answer, by their ids.
fn items(answer: &Map, list: &str, id: &str) -> BTreeMap<String, String> {
    let items = answer.keyword(list).and_then(Value::as_items).expect("a list");
    let id = |item: &Value| item.as_map().and_then(|map| map.keyword(id)).expect("an id").to_string();
    items.iter().map(|item| (id(item), item.to_string())).collect()
}

fn untold(life: &ByHand, at: Moment) -> i64 {
    let answer = ask(&life.handle, UNTOLD, Some(at));
    answer.keyword("reveille.engine/untold").and_then(Value::as_int).expect("a number")
}

#[test]
fn before_the_history_nothing_is_told_as_it_is_now() {
    let lives = Lives::capped(7, HistoryCaps { schedule_rows: 1_000, bytes: 1 << 30, days: 1 });
    let mut life = ByHand::new(&lives);
    let (one, two) = (life.open(HostId::LOCAL), life.open(HostId::LOCAL));
    let create = |owner: &SessionId, text: &str| {
        let new = durable(message(owner, 900_000_000));
        let id = life.handle.schedule(new).expect("there is room");
        life.handle.submit(Input::Command(change(&id, text))).expect("it can be changed");
        id
    };
    let (edited, left) = (create(&one, "v1"), create(&two, "as ever"));
    let then = lives.stage.clock.now().wall;
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.handle.submit(Input::Command(change(&edited, "v2"))).expect("it can be changed");
    for round in 0..60 {
        lives.stage.clock.advance(Span::from_millis(3_600_000));
        life.handle.submit(Input::Command(change(&edited, &format!("v{round}")))).expect("it can be changed");
    }
    life.turn();
    let refused = try_ask(&life.handle, ALL, Some(then)).expect_err("that was pruned");
    let QueryRefusal::Pruned { asked, first } = refused else { panic!("{refused}") };
    assert_eq!(asked, then);
    assert!(first > then && first < lives.stage.clock.now().wall);
    let why = Value::Map(refused.to_map()).to_string();
    assert!(why.contains(":history-pruned") && why.contains(&format!("ask as of {first} or later")), "{why}");
    // From there on, what has changed since is counted, and what has not is told.
    assert_eq!(untold(&life, first), 1);
    let told = items(&ask(&life.handle, ALL, Some(first)), KEY, "psi.scheduler/schedule-id");
    assert_eq!(told.keys().collect::<Vec<_>>(), [&format!("\"{left}\"")]);
}

/// The log no longer tells how a memory began, and the memory of today says when each fact came.
#[test]
fn a_session_is_not_said_to_have_known_what_it_learned_later() {
    let lives = Lives::capped(7, HistoryCaps { schedule_rows: 1_000, bytes: 1 << 30, days: 1 });
    let mut life = ByHand::new(&lives);
    life.handle.tools().switch(Primitives::all());
    let session = life.open(HostId::LOCAL);
    let id = life.handle.schedule(durable(message(&session, 900_000_000))).expect("there is room");
    let remember = |content: &str| {
        let change = MemoryChange::Remembered { content: content.into() };
        let command = Command::ChangeMemory { session: session.clone(), change, by: None };
        life.handle.submit(Input::Command(command))
    };
    remember("known early").expect("there is room");
    for round in 0..60 {
        lives.stage.clock.advance(Span::from_millis(3_600_000));
        life.handle.submit(Input::Command(change(&id, &format!("v{round}")))).expect("it can be changed");
    }
    let then = lives.stage.clock.now().wall;
    lives.stage.clock.advance(Span::from_millis(1_000));
    remember("learned late").expect("there is room");
    life.turn();
    let block =
        format!("[{{[:psi.agent-session/session-id \"{session}\"] [:psi.agent-session/memory-block]}}]");
    let at = |moment| Value::Map(ask(&life.handle, &block, moment)).to_string();
    assert!(at(None).contains("known early") && at(None).contains("learned late"), "{}", at(None));
    assert!(at(Some(then)).contains("known early"), "{}", at(Some(then)));
    assert!(!at(Some(then)).contains("learned late"), "{}", at(Some(then)));
}

#[test]
fn a_session_that_rewrites_its_schedules_loses_its_own_past_only() {
    assert!(is_edit(DecisionKind::ScheduleChanged.name()), "the store knows an edit by its kind");
    assert!(is_edit(DecisionKind::SchedulePaused.name()) && is_edit(DecisionKind::ScheduleResumed.name()));
    assert!(is_creation(DecisionKind::ScheduleCreated.name()));
    assert!(is_shared_by_nobody(DecisionKind::SessionGranted.name()));
    let lives = Lives::capped(7, HistoryCaps { schedule_rows: 1_000, bytes: 60_000, days: 1_000 });
    let mut life = ByHand::new(&lives);
    let (loud, quiet) = (life.open(HostId::LOCAL), life.open(HostId::LOCAL));
    let [edited, left] = [&loud, &quiet].map(|owner| {
        let id = life.handle.schedule(durable(message(owner, 900_000_000))).expect("there is room");
        life.handle.submit(Input::Command(change(&id, "v1"))).expect("it can be changed");
        id
    });
    let then = lives.stage.clock.now().wall;
    lives.stage.clock.advance(Span::from_millis(1_000));
    life.handle.submit(Input::Command(change(&left, "v2"))).expect("it can be changed");
    for round in 0..400 {
        let text = format!("v{round} {}", "x".repeat(500));
        life.handle.submit(Input::Command(change(&edited, &text))).expect("it can be changed");
    }
    life.turn();
    let told = items(&ask(&life.handle, ALL, Some(then)), KEY, "psi.scheduler/schedule-id");
    let (id, row) = told.first_key_value().expect("the quiet one's is told");
    assert_eq!((told.len(), id), (1, &format!("\"{left}\"")));
    assert!(row.contains("\"v1\""), "as it was, and not as it is: {row}");
    assert!(untold(&life, then) >= 1, "the other one is counted");
    let query = format!("[{{[:psi.scheduler/schedule-id \"{edited}\"] [:psi.scheduler/created-at]}}]");
    assert!(Value::Map(ask(&life.handle, &query, None)).to_string().contains("#inst"), "and is there today");
}

#[test]
fn a_schedule_with_too_many_facts_says_what_is_missing() {
    let lives = Lives::capped(7, HistoryCaps { schedule_rows: 40, bytes: 1 << 30, days: 1_000 });
    let mut life = ByHand::new(&lives);
    let owner = life.open(HostId::LOCAL);
    let new = durable(every(&lives.stage, &owner, 60_000, Policy::PLAIN));
    let id = life.handle.schedule(new).expect("there is room");
    life.handle.submit(Input::Command(change(&id, "v1"))).expect("it can be changed");
    life.turn();
    let then = lives.stage.clock.now().wall;
    for round in 0..100 {
        lives.stage.clock.advance(Span::from_millis(1_000));
        life.handle
            .submit(Input::Command(change(&id, &format!("round {round}"))))
            .expect("it can be changed");
    }
    life.turn();
    let kinds = life.shown(&id);
    assert_eq!(kinds[0], DecisionKind::ScheduleCreated);
    assert_eq!((untold(&life, then), untold(&life, lives.stage.clock.now().wall)), (1, 0), "v1 was pruned");
    let told = items(&ask(&life.handle, ALL, Some(then)), KEY, "psi.scheduler/schedule-id");
    assert!(told.is_empty(), "the creation is there, and says nothing of the text at that time: {told:?}");
}

const GRANT: Grant = Grant { cron_others: true, ..Grant::FULL };

fn call(handle: &Handle, session: &SessionId, tool: &str, args: &str) -> String {
    let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let caller = Caller::session(session.clone());
    let answer = Service::new(handle.clone()).call_tool(tool, &caller, &args, Notation::Edn);
    answer.expect("admitted").expect("a tool").value.to_string()
}

#[test]
fn every_fact_counts_for_the_family_that_caused_it() {
    let lives = Lives::new();
    let mut life = ByHand::new(&lives);
    let (one, two) = (life.open(HostId::LOCAL), life.open(HostId::LOCAL));
    let create = |owner: &SessionId, kind: &str| {
        let query = format!(
            "[(psi.scheduler/create {{:session-id {:?} :kind {kind} :message \"m\" :every-ms 60000 :durability :durable}})]",
            owner.as_str()
        );
        simulated::ask(&life.handle, &Caller::session(owner.clone()), &query, false);
    };
    create(&one, ":session");
    for _ in 0..3 {
        lives.stage.clock.advance(Span::from_millis(60_000));
        life.turn();
    }
    // A session that may change another's jobs fills its own share with that.
    let grant = Command::SetGrant { by: Scope::Operator.into(), session: one.clone(), grant: GRANT };
    life.handle.submit(Input::Command(grant)).expect("it can be granted");
    let job = "{:name \"n\" :prompt \"p\" :schedule {:kind :daily :time \"12:00\"} :target {:kind :current_session}}";
    let made = call(&life.handle, &two, "cron_create", job);
    let id = made.split('"').find(|word| word.starts_with("job_")).unwrap_or_else(|| panic!("{made}"));
    let changed =
        call(&life.handle, &one, "cron_update", &format!("{{:job_id {id:?} :patch {{:prompt \"by one\"}}}}"));
    assert!(changed.contains("by one"), "{changed}");
    life.turn();
    let log = lives.store.facts_after(Cursor::START).expect("it can be read");
    let mut counted = BTreeMap::<(String, Option<&str>), u64>::new();
    for fact in &log {
        *counted.entry((fact.kind.to_string(), fact.sharer().map(|sharer| &**sharer))).or_default() += 1;
    }
    let count = |kind: &str, sharer: Option<&SessionId>| {
        counted.get(&(kind.to_owned(), sharer.map(SessionId::as_str))).copied().unwrap_or(0)
    };
    assert_eq!(
        count("session-opened", Some(&one)),
        4,
        "its own, and those of its fresh sessions: {counted:?}"
    );
    assert_eq!(count("session-opened", Some(&two)), 1, "{counted:?}");
    assert_eq!((count("schedule-changed", Some(&one)), count("schedule-changed", Some(&two))), (1, 0));
    assert_eq!(count("session-granted", None), 1, "only an operator grants: {counted:?}");
    let others = log
        .iter()
        .filter_map(|fact| fact.sharer())
        .filter(|it| ***it != *one.as_str() && ***it != *two.as_str());
    assert_eq!(others.count(), 0, "{counted:?}");
}

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % bound
    }
}

/// A history with what an operator saw after each step.
struct Course {
    lives: Lives,
    life: ByHand,
    dice: Dice,
    sessions: Vec<SessionId>,
    schedules: Vec<ScheduleId>,
    seen: Vec<(Moment, Map)>,
    /// Whether bytes run out, so that sessions lose what is over their share.
    is_shared: bool,
}

impl Course {
    fn new(seed: u64) -> Course {
        let mut dice = Dice(seed);
        let caps = HistoryCaps {
            schedule_rows: [6, 20, 1_000][usize::try_from(dice.below(3)).expect("few")],
            bytes: [4_000, 12_000, 1 << 30][usize::try_from(dice.below(3)).expect("few")],
            days: [1, 1_000][usize::try_from(dice.below(2)).expect("few")],
        };
        let lives = Lives::capped(seed, caps);
        let life = ByHand::new(&lives);
        let (sessions, schedules, is_shared) = (Vec::new(), Vec::new(), caps.bytes < 1 << 30);
        Course { lives, life, dice, sessions, schedules, seen: Vec::new(), is_shared }
    }

    fn pick<T: Clone>(dice: &mut Dice, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[usize::try_from(dice.below(from.len() as u64)).expect("few")].clone())
    }

    fn step(&mut self) {
        let schedule = Self::pick(&mut self.dice, &self.schedules);
        let session = Self::pick(&mut self.dice, &self.sessions);
        let number = self.dice.below(1_000);
        let by = Scope::Operator;
        let command = match (self.dice.below(24), schedule, session) {
            (0, _, _) | (_, _, None) => {
                self.sessions.push(self.life.open(HostId::LOCAL));
                None
            }
            (1..=3, _, Some(owner)) | (_, None, Some(owner)) => {
                let new = match number % 3 {
                    0 => message(&owner, 3_600_000 * (1 + number)),
                    _ => every(&self.lives.stage, &owner, 60_000 * (1 + number), Policy::PLAIN),
                };
                let made = self.life.handle.schedule(durable(new));
                self.schedules.extend(made);
                None
            }
            (4..=9, Some(id), _) => Some(change(&id, &format!("text {number}"))),
            (10, Some(id), _) => Some(Command::PauseSchedule { which: which(&id), reason: None }),
            (11, Some(id), _) => Some(Command::ResumeSchedule(which(&id))),
            (12, Some(id), _) => Some(Command::DeleteSchedule(which(&id))),
            (13, Some(id), _) => Some(Command::CancelSchedule(which(&id))),
            (14, Some(id), _) => Some(Command::SkipNext(which(&id))),
            (15, Some(id), _) => Some(Command::RunNow { which: which(&id), keeps_slot: true }),
            (16, ..) => Some(Command::HoldAll { by: by.into(), reason: None }),
            (17, ..) => Some(Command::ReleaseAll { by: by.into() }),
            (18, _, Some(owner)) => {
                self.life.handle.close_session(&owner).expect("it is open");
                self.sessions.retain(|it| *it != owner);
                None
            }
            (19, ..) => {
                self.life = ByHand::new(&self.lives);
                None
            }
            (_, Some(_), Some(_)) => {
                self.lives.stage.clock.advance(Span::from_millis(60_000 * number));
                None
            }
        };
        // A refusal is as good as any other answer: nothing has changed.
        let _ = command.map(|command| self.life.handle.submit_unawaited(Input::Command(command)));
        self.life.turn();
        self.seen.push((self.lives.stage.clock.now().wall, ask(&self.life.handle, ALL, None)));
        self.lives.stage.clock.advance(Span::from_millis(1));
    }

    /// Compares what is told of an instant with what was seen then.
    fn check(&self, seed: u64, place: usize, tally: &mut Tally) {
        let (at, seen) = &self.seen[place];
        let about = format!("seed {seed}, as of step {place}, {at}");
        let told = match try_ask(&self.life.handle, ALL, Some(*at)) {
            Ok(told) => told,
            Err(QueryRefusal::Pruned { first, .. }) => {
                assert!(first > *at, "{about}: refused, and the history begins at {first}");
                tally.refused += 1;
                return;
            }
            Err(refusal) => unreachable!("{about}: {refusal}"),
        };
        let untold = untold(&self.life, *at);
        let held = |map: &Map| map.keyword("reveille.engine/held").map(ToString::to_string);
        let knows_hold = held(&told) == held(seen);
        let mut missing = usize::from(!knows_hold);
        for (list, id) in [
            (KEY, "psi.scheduler/schedule-id"),
            ("psi.agent-session/sessions", "psi.agent-session/session-id"),
        ] {
            let (told, seen) = (items(&told, list, id), items(seen, list, id));
            // Why a run waits follows from the hold, which is counted as missing itself.
            let plain = |row: &String| if knows_hold { row.clone() } else { row.replace(" :held ", " nil ") };
            for (id, row) in &told {
                let (told, seen) = (plain(row), seen.get(id).map(plain));
                assert_eq!(Some(told), seen, "{about}: {id} is told, and was otherwise");
            }
            tally.told += told.len();
            missing += seen.len() - told.len();
        }
        // Of a session over its share nobody knows how many schedules are missing: it counts once.
        let counted = if self.is_shared { missing.min(1) } else { missing };
        assert!(
            i64::try_from(counted).expect("few") <= untold,
            "{about}: {missing} missing, {untold} counted"
        );
        tally.missing += missing;
    }
}

#[derive(Debug, Default)]
struct Tally {
    told: usize,
    missing: usize,
    refused: usize,
}

#[test]
fn whatever_is_told_of_the_past_is_as_it_was() {
    let mut tally = Tally::default();
    for seed in 0..150 {
        let mut course = Course::new(seed);
        for step in 0..60 {
            course.step();
            // Also while the history goes on, and is pruned further.
            if step % 20 == 19 {
                for _ in 0..4 {
                    let place = course.dice.below(course.seen.len() as u64);
                    course.check(seed, usize::try_from(place).expect("few"), &mut tally);
                }
            }
        }
        for place in (0..course.seen.len()).step_by(3) {
            course.check(seed, place, &mut tally);
        }
    }
    assert!(tally.told > 5_000 && tally.missing > 500 && tally.refused > 200, "{tally:?}");
}
