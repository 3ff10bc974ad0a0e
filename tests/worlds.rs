//! Seeded worlds: an engine with simulated surroundings, random events, and the laws asked after each.
//!
//! `SEEDS=2000 cargo test --test worlds -- --nocapture` lives more of them and says how much happened, with one hash over all
//! that did (`FIRST=3000` begins there); `SEED=42 cargo test --test worlds -- --nocapture` lives one again and prints its
//! trace. A seed that found a bug goes to fixtures/seeds.txt, with the reason.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use reveille::adapter::{HostLocal, HostTapped};
use reveille::domain::{Dialect, Durability, HostId, Payload, SessionConfig, SessionId, Span, When};
use reveille::engine::{Command, Env, Input, NewSchedule, Report, State, decide};
use reveille::limits;
use reveille::port::{Clock, EntropySource};
use reveille::runtime::Handle;
use reveille::testkit::{
    Action, Behaviour, Laws, SimHost, Stage, StateView, Tally, Trace, World, WorldConfig,
};

const SEEDS_DEFAULT: u64 = 200;
const FIRST_DEFAULT: u64 = 1_000;
/// So many worlds have something of everything in them.
const MANY: u64 = 20;

#[test]
fn laws_hold_in_seeded_worlds() {
    if let Some(seed) = number("SEED") {
        let mut world = World::new(seed, config(seed));
        let outcome = world.run();
        println!("{}", world.trace().text());
        outcome.unwrap_or_else(|breach| panic!("{breach}\n{}", to_live_again("SEED", seed)));
        return;
    }
    let count = number("SEEDS").unwrap_or(SEEDS_DEFAULT);
    let first = number("FIRST").unwrap_or(FIRST_DEFAULT);
    let (mut worlds, mut tally, mut all) = (0, Tally::default(), Trace::new());
    for seed in kept_seeds("").into_iter().chain(first..first + count) {
        let (hash, of_world) = live(seed);
        worlds += 1;
        tally += of_world;
        all.push(format!("{seed} {hash:016x}"));
    }
    println!("{worlds} worlds (kept seeds, then {count} from {first}): {tally}");
    println!("hash over all that happened: {:016x}", all.hash());
    for (what, count) in [
        ("crashes", tally.crashes),
        ("disk faults", tally.disk_faults),
        ("deliveries", tally.deliveries),
        ("retries", tally.retries),
        ("tool calls", tally.calls - tally.calls_refused),
    ] {
        assert!(count >= worlds / 4, "too little happens in {worlds} worlds: {count} {what}");
    }
}

/// T72.
#[test]
fn laws_hold_in_worlds_of_calls() {
    hold_in_worlds("CALLS", kept_seeds("calls/"), 2, WorldConfig::of_calls);
}

/// T72: conditions, silence with pings, and what watches remember through crashes.
#[test]
fn laws_hold_in_worlds_of_watches() {
    let (worlds, tally) = hold_in_worlds("WATCHES", kept_seeds("watches/"), 2, WorldConfig::of_watches);
    for (what, count, at_least) in [
        ("checks", tally.checks, worlds * 8),
        ("checks told", tally.checks_told, worlds * 2),
        ("silences", tally.silences, worlds / 4),
    ] {
        let is_enough = worlds < MANY || count >= at_least;
        assert!(is_enough, "too little happens in {worlds} worlds: {count} {what}");
    }
}

#[test]
fn laws_hold_in_worlds_where_sessions_ask() {
    let (worlds, tally) = hold_in_worlds("ASKS", kept_seeds("asks/"), 2, WorldConfig::of_asks);
    let is_enough = worlds < MANY || tally.asked >= worlds / 2;
    assert!(is_enough, "too little happens in {worlds} worlds: {} runs asked for", tally.asked);
}

#[test]
fn laws_hold_in_worlds_of_paused_channels() {
    hold_in_worlds("PAUSES", kept_seeds("pauses/"), 2, WorldConfig::of_pauses);
}

#[test]
fn laws_hold_in_worlds_of_families_that_are_switched() {
    hold_in_worlds("FAMILIES", kept_seeds("families/"), 4, |config| config.of_calls().of_families());
}

/// Few, because each prints megabytes of prompts.
#[test]
fn laws_hold_in_worlds_of_small_budgets() {
    hold_in_worlds("BUDGETS", kept_seeds("budgets/"), 20, WorldConfig::of_budgets);
}

/// Crowds go outside, where the places of a family and of a channel are used up. Few, because a crowd waits for minutes.
#[test]
fn laws_hold_in_worlds_of_crowds_outside() {
    hold_in_worlds("CROWDS", kept_seeds("crowds/"), 10, WorldConfig::of_crowds);
}

/// Lives the kept seeds and one in so many of `SEEDS` more; or the one seed that `variable` names, with its trace. Returns how
/// many worlds that were, and what they came to.
#[expect(clippy::panic, reason = "a breach is the whole report of what went wrong, seed and all")]
#[expect(
    clippy::print_stdout,
    reason = "the trace of one world is asked for by its seed, a sum by --nocapture"
)]
fn hold_in_worlds(
    variable: &str,
    kept: Vec<u64>,
    one_in: u64,
    of_their_kind: fn(WorldConfig) -> WorldConfig,
) -> (u64, Tally) {
    let count = number("SEEDS").unwrap_or(SEEDS_DEFAULT) / one_in;
    let first = number("FIRST").unwrap_or(FIRST_DEFAULT);
    let one = number(variable);
    let seeds = one.map_or_else(|| kept.into_iter().chain(first..first + count).collect(), |seed| vec![seed]);
    let (mut worlds, mut tally) = (0, Tally::default());
    for seed in seeds {
        let mut world = World::new(seed, of_their_kind(config(seed)));
        let outcome = world.run();
        if one.is_some() {
            println!("{}", world.trace().text());
        }
        outcome.unwrap_or_else(|breach| panic!("{breach}\n{}", to_live_again(variable, seed)));
        worlds += 1;
        tally += world.tally();
    }
    println!("{worlds} worlds of {variable}: {tally}");
    (worlds, tally)
}

/// The command that lives one world again.
fn to_live_again(variable: &str, seed: u64) -> String {
    format!("── again: {variable}={seed} cargo test --test worlds -- --nocapture")
}

/// Lives one world; what it came to.
#[expect(clippy::panic, reason = "a breach is the whole report of what went wrong, seed and all")]
fn live(seed: u64) -> (u64, Tally) {
    let mut world = World::new(seed, config(seed));
    world.run().unwrap_or_else(|breach| panic!("{breach}\n{}", to_live_again("SEED", seed)));
    (world.trace().hash(), world.tally())
}

#[test]
fn the_same_seed_gives_the_same_world() {
    let told = |seed| {
        let mut world = World::new(seed, config(seed));
        world.run().unwrap_or_else(|breach| panic!("{breach}"));
        (world.trace().hash(), world.trace().text())
    };
    for seed in 1..=4 {
        assert_eq!(told(seed), told(seed));
        assert_ne!(live(seed).0, live(seed + 1).0);
    }
}

#[test]
fn laws_hold_in_a_long_and_crowded_world() {
    let config =
        WorldConfig { steps: 1_200, sessions_max: 20, session_live_max: 40, deep_every: 50, ..config(3) };
    World::new(3, config.without(Action::CloseSession)).run().unwrap_or_else(|breach| panic!("{breach}"));
}

#[test]
fn finished_schedules_are_kept_up_to_the_limit() {
    let stage = Stage::seeded(7);
    let handle = Handle::new(stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL))));
    let owner =
        handle.open_session(None, HostId::LOCAL, SessionConfig::default()).expect("a new engine has room").0;
    let count = limits::FINISHED_KEPT.value + 10;
    for _ in 0..count {
        let new = new_schedule(&owner, Payload::Turn { text: "a word".into() });
        handle.submit(Input::Command(Command::CreateSchedule(new))).expect("the session has room");
    }
    handle.run_due();
    let mut laws = Laws::new();
    let seen = stage.history.after(0);
    seen.iter().try_for_each(|seen| laws.observe(seen)).unwrap_or_else(|broken| panic!("{broken}"));
    handle.view(|state| {
        let standing = StateView { state, now: stage.clock.now(), turned: true, session_live_max: None };
        laws.stand(&standing)
            .and_then(|()| laws.stand_deep(&standing))
            .unwrap_or_else(|broken| panic!("{broken}"));
        assert_eq!(state.schedules().len() as u64, limits::FINISHED_KEPT.value);
        assert_eq!(state.ledger().delivered, count);
    });
}

/// One session whose schedules open more fresh sessions than a family has places.
#[test]
fn laws_hold_in_a_world_with_a_large_family() {
    let crowded = WorldConfig {
        steps: 1_500,
        sessions_max: 1,
        session_live_max: 40,
        fresh_one_in: 1,
        deep_every: 100,
        ..config(5)
    };
    let kept =
        [Action::CloseSession, Action::Hold, Action::ChangeGrant, Action::ChangeGuard, Action::UserMessage];
    let crowded = kept.into_iter().fold(crowded, WorldConfig::without);
    let mut world = World::new(5, crowded);
    world.run().unwrap_or_else(|breach| panic!("{breach}"));
    let told = world.trace().text();
    let opened = told.matches("session-opened sch-").count() as u64;
    assert!(
        opened > limits::FRESH_SESSIONS.value && told.contains(" session-closed "),
        "only {opened} opened"
    );
}

#[test]
fn a_run_that_finds_no_room_for_its_session_fails_and_the_engine_still_stops() {
    let stage = Stage::seeded(7);
    let mut state = State::new();
    let step = |state: &mut State, input| {
        let (now, entropy) = (stage.clock.now(), stage.entropy.draw());
        let given = Env { now, entropy, zones: &stage.zones, awaited: None };
        let step = decide(state, input, given).unwrap_or_else(|refusal| panic!("{refusal}"));
        for fact in step.facts {
            state.apply(now, fact);
        }
    };
    let owner = SessionId::new("owner").expect("a name is an id");
    let config = Arc::new(SessionConfig::default());
    let open = |session| {
        Input::Command(Command::OpenSession {
            session,
            host: HostId::LOCAL,
            config: config.clone(),
            by: None,
        })
    };
    step(&mut state, open(Some(owner.clone())));
    for _ in 1..limits::SESSIONS.value {
        step(&mut state, open(None));
    }
    let payload = Payload::new_session("a word", config.clone());
    step(&mut state, Input::Command(Command::CreateSchedule(new_schedule(&owner, payload))));
    step(&mut state, Input::Wake);
    assert_eq!((state.ledger().failed, state.live_count()), (1, 0));
    step(&mut state, Input::Command(Command::Shutdown { abandon: false }));
    assert_eq!(state.next_wake(stage.clock.now()), None, "there is nothing to call off");
}

#[test]
fn a_listener_may_speak_to_the_engine_while_it_is_spoken_to() {
    let stage = Stage::seeded(7);
    let way_back: Arc<OnceLock<Handle>> = Arc::default();
    let heard = Arc::new(AtomicU32::new(0));
    let (back, count) = (way_back.clone(), heard.clone());
    let local = HostTapped::new(
        Arc::new(HostLocal::new()),
        move |session: &SessionId, _: &reveille::domain::Message| {
            let handle = back.get().expect("the handle is set before anything is due");
            let busy = |busy| {
                handle.submit(Input::Report(Report::Busy { session: session.clone(), busy, by: None }))
            };
            let next = new_schedule(session, Payload::Turn { text: "again".into() });
            busy(true).expect("the session is open");
            if count.fetch_add(1, Ordering::Relaxed) < 2 {
                handle.submit(Input::Command(Command::CreateSchedule(next))).expect("the session has room");
            }
            busy(false).expect("the session is open");
        },
    );
    let handle = Handle::new(stage.parts(Arc::new(local)));
    assert!(way_back.set(handle.clone()).is_ok());
    let owner =
        handle.open_session(None, HostId::LOCAL, SessionConfig::default()).expect("a new engine has room").0;
    let first = new_schedule(&owner, Payload::Turn { text: "once".into() });
    handle.submit(Input::Command(Command::CreateSchedule(first))).expect("the session has room");
    handle.run_due();
    assert_eq!((heard.load(Ordering::Relaxed), handle.view(State::live_count)), (3, 0));
    assert_eq!(handle.sessions().transcript(&owner).map(|kept| kept.messages.len()), Some(3));
}

fn new_schedule(owner: &SessionId, payload: Payload) -> NewSchedule {
    NewSchedule {
        made_by: None,
        id: None,
        dialect: Dialect::Psi,
        durability: Durability::Volatile,
        label: None,
        owner: owner.clone(),
        when: When::After(Span::ZERO),
        payload,
        settings: None,
        session_live_max: u32::MAX,
    }
}

/// Every third world keeps real transcripts, every fifth has no faulty hosts, and in every fourth nobody calls a tool.
fn config(seed: u64) -> WorldConfig {
    let mut config = WorldConfig::default();
    if seed.is_multiple_of(3) {
        config.local = Some(Arc::new(HostLocal::new()));
    }
    if seed.is_multiple_of(5) {
        config.behaviours = Behaviour::FAULTLESS.to_vec();
    }
    if seed.is_multiple_of(4) { config.without(Action::CallTool) } else { config }
}

/// The seeds that found a bug in worlds of this kind.
fn kept_seeds(kind: &str) -> Vec<u64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/seeds.txt");
    let text = std::fs::read_to_string(path).expect("fixtures/seeds.txt is part of the package");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let first = lines.filter_map(|line| line.split_whitespace().next());
    let of_kind = first.filter_map(|first| first.strip_prefix(kind)).filter(|seed| !seed.contains('/'));
    of_kind.map(|seed| seed.parse().expect("a line of fixtures/seeds.txt starts with a seed")).collect()
}

#[expect(clippy::disallowed_methods, reason = "SEED, SEEDS and FIRST choose what this test lives")]
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("SEED, SEEDS and FIRST are numbers"))
}
