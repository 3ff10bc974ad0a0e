//! A stop in the middle of work (T26): over within five seconds, everything in memory ends with an event, nothing is claimed by
//! halves, and what is durable goes on.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use reveille::edn::{Map, Value};
use reveille_checker::{Event, Lifetime, Overlap, Policy, Recovery, Trigger};

use crate::harness::ask::{assert_kept, instant, note_created, only};
use crate::harness::daemon::{Daemon, Home, at, now, pass, text, until};
use crate::harness::ledger::word;
use crate::harness::load::Dice;
use crate::harness::stream::{Harness, Stream};

const CALLERS: u64 = 4;
/// So many that a fast machine does not finish more in one session than remain readable.
const SESSIONS: u64 = 24;
const ROUNDS: u64 = 3;

#[test]
fn a_stop_under_load_is_over_in_five_seconds_and_leaves_nothing_half_done() {
    let home = Home::new("shutdown");
    let sessions: Vec<String> = (0..SESSIONS).map(|number| format!("s{number}")).collect();
    let (mut kept, mut in_memory) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        let daemon = Daemon::start(&home);
        let harness = Harness::attach(&daemon.socket, &sessions).expect("it lives");
        let ends = follow(&daemon);
        let (is_on, socket) = (AtomicBool::new(true), daemon.socket.clone());
        let (made, took) = std::thread::scope(|scope| {
            let (is_on, socket) = (&is_on, &socket);
            let work = |number: u64| move || work(socket, number, round, is_on);
            let callers: Vec<_> = (0..CALLERS).map(|number| scope.spawn(work(number))).collect();
            pass(Duration::from_millis(700));
            let began = now();
            let code = daemon.end("-TERM").code();
            let took = began.elapsed_here();
            assert_eq!(code, Some(0));
            is_on.store(false, Ordering::Relaxed);
            let made = callers.into_iter().flat_map(|caller| caller.join().expect("it only asks"));
            (made.collect::<Vec<Made>>(), took)
        });
        assert!(took < Duration::from_secs(5), "round {round}: {took:?}");
        harness.finish();
        let ends = ends.join().expect("it only reads");
        let volatile: Vec<&Made> = made.iter().filter(|made| !made.is_durable).collect();
        for made in &volatile {
            assert!(ends.contains(&made.id), "round {round}: nobody was told what became of {}", made.id);
        }
        println!("stopped after {took:?}: {} made, {} of them in memory", made.len(), volatile.len());
        assert!(!volatile.is_empty() && volatile.len() < made.len(), "this is no load");
        in_memory += volatile.len();
        kept.extend(made.into_iter().filter(|made| made.is_durable).map(|made| made.id));
    }
    let daemon = Daemon::start(&home);
    let harness = Harness::attach(&daemon.socket, &sessions).expect("it lives");
    assert_kept(&daemon, &kept);
    let mut stream = Stream::connect(&daemon.socket).expect("it lives");
    until("all that was made has come", Duration::from_secs(30), || {
        while harness.next(Duration::from_millis(20)).is_some() {}
        let found = stream.eql("[:psi.scheduler/pending-count :reveille.engine/imbalance]");
        let found = found.expect("it lives").expect("it is answered");
        assert_eq!(at(&found, &["reveille.engine/imbalance"]).and_then(Value::as_int), Some(0));
        at(&found, &["psi.scheduler/pending-count"]).and_then(Value::as_int) == Some(0)
    });
    note_unanswered(&mut stream, &kept);
    assert_eq!(daemon.end("-TERM").code(), Some(0));
    home.assert_sound();
    let report = home.assert_history();
    println!("{} durable, {in_memory} in memory: {report}", kept.len());
}

struct Made {
    id: String,
    is_durable: bool,
}

/// Asks until it is answered no more. What was made and told is remembered.
fn work(socket: &std::path::Path, number: u64, round: u64, is_on: &AtomicBool) -> Vec<Made> {
    let mut stream = Stream::connect(socket).expect("it lives");
    let (mut dice, mut made) = (Dice::new(round * CALLERS + number), Vec::new());
    while is_on.load(Ordering::Relaxed) {
        let is_durable = dice.below(2) == 0;
        let durability = if is_durable { "durable" } else { "volatile" };
        let delay = 20 + dice.below(1_200);
        let ask = format!(
            ":durability :{durability} :delay-ms {delay} :message \"m\" :policy {{:overlap :parallel :recovery :redeliver}}"
        );
        let session = format!("s{}", dice.below(SESSIONS));
        let Some(id) = ask_once(&mut stream, &session, &ask, is_durable) else { return made };
        made.push(Made { id, is_durable });
    }
    made
}

/// `None`: it was not answered, or the stop came first.
fn ask_once(stream: &mut Stream, session: &str, rest: &str, is_durable: bool) -> Option<String> {
    let query = format!(
        "[{{(psi.scheduler/create {{:kind :message :session-id {session:?} {rest}}}) \
         [:psi.scheduler/schedule-id :psi.scheduler/created-at :psi.scheduler/fire-at]}}]"
    );
    let answer = stream.eql(&query)?.ok()?;
    let made = only(&answer);
    let id = text(made, &["psi.scheduler/schedule-id"])?.to_owned();
    if !is_durable {
        stream.diary.leave_out(&id);
        return Some(id);
    }
    stream.diary.note(Event::Create {
        at: instant(at(made, &["psi.scheduler/created-at"])),
        schedule: id.clone(),
        session: Some(session.to_owned()),
        trigger: Trigger::At { at: instant(at(made, &["psi.scheduler/fire-at"])) },
        policy: Policy { overlap: Overlap::Parallel, recovery: Recovery::Redeliver, ..Policy::default() },
        lifetime: Lifetime::default(),
    });
    Some(id)
}

/// What was kept and not answered, because the stop came between, is made all the same.
fn note_unanswered(stream: &mut Stream, known: &[String]) {
    let query = "[{:psi.scheduler/schedules [:psi.scheduler/schedule-id]}]";
    let answer = stream.eql(query).expect("it lives").expect("it is answered");
    let list = at(&answer, &["psi.scheduler/schedules"]).and_then(Value::as_items).expect("a list");
    let ids = list.iter().filter_map(Value::as_map).filter_map(|it| text(it, &["psi.scheduler/schedule-id"]));
    ids.filter(|id| !known.iter().any(|known| known == id)).for_each(|id| note_created(stream, id));
}

/// The schedules that came to their end, by the feed.
fn follow(daemon: &Daemon) -> JoinHandle<BTreeSet<String>> {
    let mut feed = Stream::connect(&daemon.socket).expect("it lives");
    let answer = feed.ask("{:op :subscribe :after 0}").expect("it lives");
    assert!(at(&answer, &["ok"]).is_some(), "{answer:?}");
    std::thread::spawn(move || {
        let mut ended = BTreeSet::new();
        while let Some(push) = feed.pushed() {
            ended.extend(ended_schedule(&push));
        }
        ended
    })
}

fn ended_schedule(push: &Map) -> Option<String> {
    let event = at(push, &["event"])?.as_map()?;
    let kind = word(event, "kind")?;
    let is_end =
        ["run-delivered", "run-failed", "run-cancelled", "schedule-cancelled"].contains(&kind.as_str());
    is_end.then(|| text(event, &["schedule-id"]).map(str::to_owned))?
}
