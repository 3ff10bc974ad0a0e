//! One data directory through many lives of its daemon, each cut short at a random moment; and the verdict at the end.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::panic::resume_unwind;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use reveille::edn::{Map, Value};
use reveille::limits::{ATTEMPTS, FINISHED_KEPT};
use reveille_checker::{Event, Recovery};

use crate::faults::machine::Machine;
use crate::harness::daemon::{Daemon, Home, PROMPT, at, eventually, spawn, text, wall};
use crate::harness::diary::Diary;
use crate::harness::ledger::Ledger;
use crate::harness::load::{Caller, Dice, Told};
use crate::harness::stalls::Stalls;
use crate::harness::stream::{Harness, Receipt, Stream};

/// What was found out about one data directory.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) kills: u64,
    /// Of them, those before the daemon was ready.
    pub(crate) early: u64,
    pub(crate) told: Told,
    pub(crate) received: u64,
    /// Received again after a kill, under the same run id.
    pub(crate) redelivered: u64,
    pub(crate) facts: u64,
    pub(crate) slowest_start: Duration,
    /// How long the machine itself withheld its disk or its processors.
    pub(crate) stalled: Duration,
    /// Of the kills, those with which the power went.
    pub(crate) cuts: u64,
    /// Of these, those that lost something that was not flushed.
    pub(crate) lossy: u64,
}

/// Lives through so many worlds, some at a time, and judges each; `None` is one that this machine cannot have.
pub(crate) fn live_all(
    worlds: u64,
    at_a_time: usize,
    live: impl Fn(u64) -> Option<Figures> + Sync,
) -> Vec<Figures> {
    let waiting = Mutex::new((0..worlds).collect::<Vec<u64>>());
    let all = Mutex::new(Vec::new());
    let work = || {
        let next = || waiting.lock().expect("nobody panics").pop();
        for number in std::iter::from_fn(next) {
            let figures = live(number);
            all.lock().expect("nobody panics").extend(figures);
        }
    };
    thread::scope(|scope| (0..at_a_time).for_each(|_| _ = scope.spawn(work)));
    all.into_inner().expect("nobody panicked")
}

pub(crate) struct World {
    stalls: Stalls,
    home: Home,
    dice: Dice,
    sessions: Vec<String>,
    callers: Vec<Caller>,
    received: Vec<Receipt>,
    /// Where the power goes with the daemon.
    machine: Option<Machine>,
    figures: Figures,
}

impl World {
    pub(crate) fn new(number: u64) -> World {
        World::of(Home::new(&format!("kills-{number}")), number, None)
    }

    /// A daemon on a machine whose power can be cut.
    pub(crate) fn on(machine: Machine, home: Home, number: u64) -> World {
        World::of(home, number, Some(machine))
    }

    fn of(home: Home, number: u64, machine: Option<Machine>) -> World {
        let sessions: Vec<String> = (0..4).map(|session| format!("session-{session}")).collect();
        let caller = |place| Caller::new(format!("{number}-{place}"), number * 97 + place, &sessions);
        World {
            stalls: Stalls::watch(&home),
            home,
            dice: Dice::new(number),
            callers: (0..2).map(caller).collect(),
            sessions,
            received: Vec::new(),
            machine,
            figures: Figures::default(),
        }
    }

    /// Starts the daemon and kills it, so often.
    pub(crate) fn live(&mut self, kills: u64) {
        for _ in 0..kills {
            self.live_once();
        }
    }

    /// The same, until the power went so often.
    pub(crate) fn live_through(&mut self, cuts: u64) {
        while self.figures.cuts < cuts {
            self.live_once();
            let machine = self.machine.as_mut().expect("a machine with a plug");
            if let Some(loss) = machine.life_ended(&mut self.dice) {
                self.figures.cuts += 1;
                self.figures.lossy += u64::from(loss);
            }
        }
    }

    fn live_once(&mut self) {
        if self.figures.kills % 10 == 9 {
            self.kill_at_start();
        } else {
            self.kill_at_work();
        }
        self.figures.kills += 1;
    }

    fn serve(&self) -> Command {
        self.machine.as_ref().map_or_else(|| self.home.serve(), |machine| machine.serve(&self.home))
    }

    /// Killed while it opens what it was left, or just after.
    fn kill_at_start(&mut self) {
        let mut child: Child = spawn(&mut self.serve(), &self.home.path().join("log-early"));
        let stdout = child.stdout.take().expect("a pipe");
        let (ready, heard) = channel();
        let reader = thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(stdout).read_line(&mut line);
            let _ = ready.send(line);
        });
        let moment = Duration::from_micros(self.dice.below(40_000));
        let _ = heard.recv_timeout(moment);
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
        reader.join().expect("it only reads");
        let diary = Diary::of(self.home.path());
        diary.note(Event::Down { at: diary.now() });
        self.figures.early += 1;
    }

    fn kill_at_work(&mut self) {
        let began = crate::harness::daemon::now();
        let daemon = Daemon::start_with(&self.home, &mut self.serve());
        if let Some(machine) = &mut self.machine {
            // Whoever has read it uses it from here on.
            machine.disk.promise("operator.token");
        }
        self.figures.slowest_start = self.figures.slowest_start.max(began.elapsed_here());
        // Once in a while it lives long enough for all that waits.
        let millis = if self.dice.below(40) == 0 { self.dice.below(1_900) } else { 5 + self.dice.below(60) };
        let (ended, all_ended) = channel::<()>();
        let socket = daemon.socket.clone();
        let received = thread::scope(|scope| {
            let harness = Harness::attach(&socket, &self.sessions);
            let mut working = Vec::new();
            for caller in &mut self.callers {
                let (socket, ended) = (&socket, ended.clone());
                working.push(scope.spawn(move || {
                    caller.work(socket);
                    drop(ended);
                }));
            }
            drop(ended);
            let early = all_ended.recv_timeout(Duration::from_millis(millis));
            let log = daemon.log();
            daemon.kill();
            for caller in working {
                // With what it said, which the scope would keep to itself.
                caller.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
            // Last, because a caller that found a fault ends early as well, and its words are the ones that matter.
            assert_eq!(early, Err(std::sync::mpsc::RecvTimeoutError::Timeout), "{log}");
            harness.map(Harness::finish).unwrap_or_default()
        });
        self.received.extend(received);
    }

    /// A last life, in which all that is open comes to its end; then everything is held against everything.
    pub(crate) fn judge(mut self) -> Figures {
        let daemon = Daemon::start_with(&self.home, &mut self.serve());
        let harness = Harness::attach(&daemon.socket, &self.sessions).expect("it lives");
        for caller in &mut self.callers {
            caller.settle(&daemon.socket);
        }
        let mut stream = Stream::connect(&daemon.socket).expect("it lives");
        let pending = "[:psi.scheduler/pending-count :reveille.engine/imbalance \
                       {(:psi.scheduler/schedules {:status [:pending :queued]}) [:psi.scheduler/schedule-id \
                       :psi.scheduler/reason :psi.scheduler/in-flight? :psi.scheduler/next-fire-at]}]";
        let mut last = String::new();
        let is_over = eventually(SETTLED, || {
            let found = stream.eql(pending).expect("it lives").expect("it is answered");
            assert_eq!(at(&found, &["reveille.engine/imbalance"]).and_then(Value::as_int), Some(0));
            let count = at(&found, &["psi.scheduler/pending-count"]).and_then(Value::as_int);
            last = Value::from(found).to_string();
            count == Some(0)
        });
        assert!(is_over.is_some(), "still pending at {}: {last}", wall());
        let kept = kept(&mut stream);
        // So long nothing may come any more that has come already.
        let quiet = Duration::from_millis(300);
        while let Some(receipt) = harness.next(quiet) {
            self.received.push(receipt);
        }
        let end = wall();
        assert_eq!(daemon.end("-TERM").code(), Some(0));
        self.received.extend(harness.finish());
        self.home.assert_sound();
        let ledger = Ledger::read(&self.home.store("store.db"));
        ledger.assert_settled(end);
        self.assert_all_there(&kept, &ledger);
        self.assert_receipts(&ledger);
        self.check(&ledger);
        self.figures.facts = ledger.facts;
        for told in self.callers.iter().map(|caller| caller.told) {
            let sum = &mut self.figures.told;
            sum.created += told.created;
            sum.cancelled += told.cancelled;
            sum.changed += told.changed;
            sum.refused += told.refused;
            sum.found_again += told.found_again;
        }
        self.figures
    }

    /// Whatever was acknowledged is in the daemon's answers, as it was acknowledged last, and nothing beside it; but for what
    /// has come to its end and was forgotten for so many others of its session that came to theirs later.
    fn assert_all_there(&self, kept: &BTreeMap<String, Map>, ledger: &Ledger) {
        let is_over =
            |it: &Map| at(it, &["psi.scheduler/next-fire-at"]).is_none_or(|next| *next == Value::Nil);
        let mut finished: BTreeMap<&str, u64> = BTreeMap::new();
        for wish in self.callers.iter().flat_map(|caller| &caller.wishes) {
            let schedule = wish.id.as_ref().and_then(|id| kept.get(id));
            *finished.entry(&wish.session).or_default() += u64::from(schedule.is_some_and(is_over));
        }
        let mut acknowledged = 0;
        for wish in self.callers.iter().flat_map(|caller| &caller.wishes) {
            let Some(id) = &wish.id else { continue };
            let Some(schedule) = kept.get(id.as_str()) else {
                let account = ledger.accounts.get(id);
                let account = account.unwrap_or_else(|| panic!("{id} was acknowledged and is lost"));
                assert!(account.is_over(), "{id} is lost before it came to its end");
                assert_eq!(account.is_cancelled, wish.is_cancelled, "{id}: its end");
                let many = finished[wish.session.as_str()];
                assert!(many >= FINISHED_KEPT.value, "{id} is forgotten for {many} others");
                continue;
            };
            acknowledged += 1;
            let revision = at(schedule, &["psi.scheduler/revision"]).and_then(Value::as_int);
            assert_eq!(revision, Some(wish.revision), "{id}: the last change");
            let status = at(schedule, &["psi.scheduler/status"]).expect("a status").to_string();
            assert_eq!(status == ":cancelled", wish.is_cancelled, "{id} is {status}");
        }
        assert_eq!(kept.len(), acknowledged, "one schedule for one key");
    }

    /// What was received was claimed first, and what counts as delivered was received; twice only where that was agreed.
    fn assert_receipts(&mut self, ledger: &Ledger) {
        let mut times: BTreeMap<String, u64> = BTreeMap::new();
        for receipt in &self.received {
            *times.entry(receipt.run.to_string()).or_default() += 1;
        }
        let recovery: BTreeMap<&str, Recovery> = self
            .callers
            .iter()
            .flat_map(|caller| &caller.wishes)
            .filter_map(|wish| Some((wish.id.as_deref()?, wish.policy.recovery)))
            .collect();
        for (run, times) in &times {
            let schedule = run.split('~').next().expect("a run's id");
            let account = ledger.accounts.get(schedule).unwrap_or_else(|| panic!("{schedule} is not kept"));
            let ends = account.runs.get(run).unwrap_or_else(|| panic!("{run} was never claimed"));
            let again = recovery.get(schedule) == Some(&Recovery::Redeliver);
            assert!(*times == 1 || again, "{run} was received {times} times");
            let (how, reason) = &ends[0];
            // Where the daemon died before it heard of the receipt: given up, or to be repeated, and called off before that.
            let in_doubt = match reason.as_deref() {
                Some("crashed" | "host-lost") => {
                    let tried = account.attempts.get(run).is_some_and(|tried| *tried >= ATTEMPTS.value);
                    !again || account.is_cancelled || tried
                }
                Some("expired" | "cancelled") => again,
                _ => false,
            };
            assert!(how == "run/delivered" || in_doubt, "{run} was received and {how} {reason:?}");
        }
        for (run, ends) in ledger.accounts.values().flat_map(|account| &account.runs) {
            assert!(ends[0].0 != "run/delivered" || times.contains_key(run), "{run} was received by nobody");
        }
        self.figures.received = self.received.len() as u64;
        self.figures.redelivered = times.values().map(|times| times - 1).sum();
    }

    /// The independent checker's word.
    fn check(&mut self, ledger: &Ledger) {
        let diary = Diary::of(self.home.path());
        let noted = self.callers.iter_mut().flat_map(|caller| caller.events.drain(..));
        noted.for_each(|event| diary.note(event));
        // What the machine withheld is not the daemon's delay.
        self.figures.stalled = self.stalls.end();
        diary.assert_clean(Some(ledger), PROMPT + self.figures.stalled);
    }
}

/// Every schedule in the daemon's answer, by its id.
fn kept(stream: &mut Stream) -> BTreeMap<String, Map> {
    let query = "[{:psi.scheduler/schedules [:psi.scheduler/schedule-id :psi.scheduler/status \
                 :psi.scheduler/next-fire-at :psi.scheduler/revision]}]";
    let found = stream.eql(query).expect("it lives").expect("it is answered");
    let list = at(&found, &["psi.scheduler/schedules"]).and_then(Value::as_items).expect("a list");
    let mut kept = BTreeMap::new();
    for schedule in list.iter().filter_map(Value::as_map) {
        let id = text(schedule, &["psi.scheduler/schedule-id"]).expect("an id");
        assert!(kept.insert(id.to_owned(), schedule.clone()).is_none(), "{id} is there twice");
    }
    kept
}

/// How long the last wish may take: recurring ones live for up to four seconds and a half, the rest is the machine's.
const SETTLED: Duration = Duration::from_secs(60);
