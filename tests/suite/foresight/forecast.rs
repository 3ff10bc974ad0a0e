//! A forecast is what then happens: worlds are set up at random, asked, and left alone until the forecast's end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::calendar::parse_cron;
use reveille::domain::{
    Actor, BootTime, Calendar, CountFrom, Durability, Every, Fact, GuardFact, GuardPolicy, HostId, Lifetime,
    Missed, Moment, Overlap, Policy, Reason, Rule, RuleScope, Ruling, RunFact, ScheduleFact, ScheduleId,
    Scope, SessionConfig, SessionId, Settings, Span, Target, TimeOfDay, TimeWindow, Trigger, Weekdays, When,
    WhenBusy, Zone,
};
use reveille::engine::{Command, ForecastQuery, ForecastSlot, Input, NewSchedule, SlotOutcome, Which};
use reveille::port::Clock;
use reveille::runtime::{AttachOptions, Handle, StoreReplies};
use reveille::testkit::StoreMemory;
use reveille::testkit::{Seen, SimHost, Stage};

const SEEDS: u64 = 400;

#[test]
fn a_forecast_is_what_then_happens() {
    let mut slots = 0;
    for seed in 0..SEEDS {
        slots += World::new(seed).foretold();
    }
    assert!(slots > 20_000, "too little happens: {slots}");
}

/// What fires every minute does not hide what fires once, and the answer names whose slots were left out.
#[test]
fn a_bound_for_each_schedule_leaves_room_for_the_others() {
    for seed in 0..40 {
        let world = World::new(seed);
        let now = world.stage.clock.now();
        let ask = |each: usize| {
            let ask = ForecastQuery { first: 9_999, each, ..ForecastQuery::of(&Scope::Operator, now.wall) };
            world.handle.view(|state| state.forecast(&world.stage.zones, now, &ask))
        };
        let (all, few) = (ask(usize::MAX), ask(3));
        let mut whose: Vec<&ScheduleId> = all.slots.iter().map(|slot| &slot.schedule).collect();
        whose.sort_unstable();
        whose.dedup();
        for id in whose {
            let listed: Vec<_> = few.slots.iter().filter(|slot| slot.schedule == *id).collect();
            let of_it: Vec<_> = all.slots.iter().filter(|slot| slot.schedule == *id).collect();
            assert_eq!(listed, of_it[..of_it.len().min(3)], "seed {seed}: {id}");
            assert_eq!(few.more.contains(id), of_it.len() > 3, "seed {seed}: {id}");
        }
        assert!(!all.cut && all.more.is_empty(), "seed {seed}");
    }
}

/// One thing that becomes of a slot: when, whose, the last slot, how many, what, why.
pub(crate) type Entry = (Moment, ScheduleId, Moment, u64, SlotOutcome, Option<Reason>);

pub(crate) struct World {
    seed: u64,
    pub(crate) stage: Stage,
    pub(crate) handle: Handle,
    /// What a store answers, where there is one.
    answers: RefCell<Option<StoreReplies>>,
    schedules: Vec<ScheduleId>,
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let stage = Stage::seeded(seed);
        let handle = Handle::new(stage.parts(Arc::new(HostLocal::new())));
        let mut world = World { seed, stage, handle, answers: RefCell::default(), schedules: Vec::new() };
        world.set_up();
        world
    }

    /// The world with this seed, whose engine keeps in a store what is to be kept.
    pub(crate) fn over(seed: u64, store: Arc<StoreMemory>) -> World {
        let stage = Stage::seeded(seed);
        let (handle, answers) = World::take_up(&stage, store);
        let mut world = World { seed, stage, handle, answers, schedules: Vec::new() };
        world.set_up();
        world
    }

    fn take_up(stage: &Stage, store: Arc<StoreMemory>) -> (Handle, RefCell<Option<StoreReplies>>) {
        let handle = Handle::new(stage.parts(Arc::new(SimHost::new(stage, HostId::LOCAL))));
        let answers =
            StoreReplies::attach(&handle, store, AttachOptions::default()).expect("the store is sound");
        (handle, RefCell::new(Some(answers)))
    }

    /// The process ends, and the next one takes up what it has left.
    pub(crate) fn begin_anew(&mut self, store: Arc<StoreMemory>) {
        (self.handle, self.answers) = World::take_up(&self.stage, store);
    }

    /// All that is due happens, and what waits for the store; says when the next is due.
    pub(crate) fn settle(&self) -> Option<BootTime> {
        loop {
            let next = self.handle.run_due();
            let mut answers = self.answers.borrow_mut();
            if !answers.as_mut().is_some_and(StoreReplies::publish) {
                return next;
            }
        }
    }

    fn set_up(&mut self) {
        let gone = self.handle.hosts().attach(Arc::new(SimHost::new(&self.stage, HostId::new(1))));
        for (name, host) in [("one", HostId::LOCAL), ("two", HostId::LOCAL), ("gone", gone)] {
            let opened = self.handle.open_session(Some(session(name)), host, SessionConfig::default());
            opened.expect("a new engine has room");
        }
        self.handle.hosts().detach(gone);
        // What is held from the beginning is part of what is foretold later on.
        self.guard();
        for _ in 0..10 {
            self.create();
        }
        for _ in 0..12 {
            self.live(Span::from_millis(self.below(900_000)));
            self.meddle();
        }
        self.guard();
        self.settle();
    }

    /// At times runs are measured by something from here on. Nobody outside is asked: a forecast takes that for a yes.
    fn guard(&self) {
        if !self.one_in(3) {
            return;
        }
        let rule = |number: u64| {
            let names = ["one", "two", "gone"].map(session);
            let hour = |hour: u64| TimeOfDay::new(u8::try_from(hour).unwrap_or(0), 0, 0).expect("a time");
            let zone = Zone::parse(["UTC", "Europe/Berlin"][self.place(2)]).expect("a zone");
            let (from, until) = (hour(self.below(24)), hour(self.below(24)));
            let window = TimeWindow { days: Weekdays::DAILY, from, until, zone };
            let window = Some(window).filter(|_| self.one_in(2));
            let sessions = names.into_iter().filter(|_| self.one_in(2)).collect();
            let then = Ruling::ALL[self.place(Ruling::ALL.len())];
            Rule {
                name: format!("rule {number}").into(),
                of: RuleScope { sessions, window, ..RuleScope::default() },
                then,
                why: None,
            }
        };
        let policy = GuardPolicy {
            rules: (0..1 + self.below(3)).map(rule).collect(),
            approval: (!self.one_in(4)).then(|| Span::from_millis(1_000 * (1 + self.below(20_000)))),
            asks: None,
        };
        let policy = Some(Arc::new(policy));
        let guard = Command::SetGuard { policy, by: Scope::Operator.into() };
        self.handle.submit(Input::Command(guard)).expect("anybody may, here");
    }

    fn create(&mut self) {
        let owner = ["one", "two", "gone"][usize::try_from(self.below(5) / 2).unwrap_or(0)];
        let mut owner = session(owner);
        let mut settings = self.settings();
        if settings.policy.missed != Missed::All && settings.target == Target::Owner && self.one_in(5) {
            settings.policy.when_busy = WhenBusy::Skip;
            owner = session(&format!("alone-{}", self.schedules.len()));
            let opened =
                self.handle.open_session(Some(owner.clone()), HostId::LOCAL, SessionConfig::default());
            // One whose schedule was refused is there already.
            assert!(opened.is_ok() || self.handle.view(|state| state.session(&owner).is_some()));
        }
        let new = NewSchedule {
            durability: if self.one_in(2) { Durability::Durable } else { Durability::Volatile },
            settings: Some(Box::new(settings)),
            ..NewSchedule::message(owner, self.when(), "a prompt")
        };
        // A trigger without a slot in its lifetime is refused.
        self.schedules.extend(self.handle.schedule(new));
    }

    fn when(&self) -> When {
        let now = self.stage.clock.now().wall;
        let zone = Zone::parse(["UTC", "Europe/Berlin"][self.place(2)]).expect("a zone");
        let from = if self.one_in(3) { CountFrom::Finish } else { CountFrom::Slot };
        match self.below(6) {
            0 => When::After(Span::from_millis(self.below(20_000_000))),
            1 => {
                let text = ["*/5 * * * *", "30 2 * * *", "7,11 9-17 * * MON-FRI"][self.place(3)];
                When::By(Trigger::Cron(parse_cron(text).expect("sound").into(), zone.into()))
            }
            2 => {
                let time = TimeOfDay::new(u8::try_from(self.below(24)).unwrap_or(0), 30, 0);
                let (weekdays, time) = (Weekdays::DAILY, time.expect("a time"));
                When::By(Trigger::Calendar(Box::new(Calendar { weekdays, time, zone })))
            }
            _ => {
                let period = Span::from_millis(60_000 + 1_000 * self.below(7_000));
                When::By(Every::new(period, now, from).expect("a period").into())
            }
        }
    }

    /// Of several in one instant and one session, the later find a delivery out, which by the forecast's assumption has ended
    /// by then: so whoever skips what finds its session busy is alone in it, and neither skips nor folds in what is made up
    /// for, which comes all at once.
    fn settings(&self) -> Settings {
        let missed = Missed::ALL[self.place(3)];
        let coalesces = missed != Missed::All && self.one_in(3);
        let now = self.stage.clock.now().wall;
        let span = |most: u64| Span::from_nanos(1_000_000_000 + self.below(most * 1_000_000_000));
        let end = now.checked_add(span(100_000));
        let target = match self.below(8) {
            0 => Target::Session(session("nowhere")),
            1 => Target::Session(session("gone")),
            _ => Target::Owner,
        };
        Settings {
            target,
            policy: Policy {
                overlap: Overlap::ALL[self.place(2)],
                missed,
                max_late: self.one_in(6).then(|| span(2_000)),
                when_busy: if coalesces { WhenBusy::Coalesce } else { WhenBusy::Queue },
                timeout: self.one_in(4).then(|| span(9_000)),
                backoff: (0..self.below(3)).map(|_| span(900)).collect(),
                ..Policy::PLAIN
            },
            lifetime: Lifetime {
                max_runs: NonZeroU32::new(1 + u32::try_from(self.below(30)).unwrap_or(0))
                    .filter(|_| self.one_in(4)),
                expires_at: end.filter(|_| self.one_in(4)),
                ..Lifetime::PLAIN
            },
            ..Settings::PLAIN
        }
    }

    /// Pauses, resumes, skips, holds, releases, runs by hand: some of it is refused.
    fn meddle(&self) {
        let Some(schedule) = self.schedules.get(self.place(self.schedules.len().max(1))) else { return };
        let which = Which::any(Scope::Operator, schedule.clone());
        let by = Actor::from(Scope::Operator);
        let command = match self.below(10) {
            0..=2 => Command::PauseSchedule { which, reason: None },
            3..=5 => Command::ResumeSchedule(which),
            6 => Command::SkipNext(which),
            7 => Command::RunNow { which, keeps_slot: false },
            8 => Command::HoldAll { by, reason: None },
            _ => Command::ReleaseAll { by },
        };
        let _ = self.handle.submit(Input::Command(command));
    }

    /// Time passes, and nothing is done but what is due.
    pub(crate) fn live(&self, span: Span) {
        let end = self.stage.clock.now().boot.after(span);
        while let Some(wake) = self.settle().filter(|wake| *wake <= end) {
            self.stage.clock.advance_to(wake);
        }
        self.stage.clock.advance_to(end);
    }

    /// Asks, lives, compares; says how much was foretold.
    fn foretold(&self) -> usize {
        // What is overdue is not settled yet: that is part of the question.
        self.stage.clock.advance(Span::from_millis(self.below(3) * 600_000));
        if self.one_in(3) {
            self.meddle();
        }
        let (now, most) = (self.stage.clock.now(), 3_000);
        let span = Span::from_millis(3_600_000 * (1 + self.below(60)));
        let to = now.wall.checked_add(span).expect("near");
        let ask = ForecastQuery { to, first: most, ..ForecastQuery::of(&Scope::Operator, now.wall) };
        let forecast = self.handle.view(|state| state.forecast(&self.stage.zones, now, &ask));
        let seen = self.stage.history.len();
        self.live(span);
        let end = forecast.slots.last().filter(|_| forecast.cut).map_or(to, |last| last.at);
        let mut said = said(&forecast.slots);
        let mut happened = self.happened(seen);
        said.retain(|entry| entry.0 < end);
        happened.retain(|entry| entry.0 < end);
        if let Some(place) = (0..said.len().max(happened.len())).find(|at| said.get(*at) != happened.get(*at))
        {
            let (said, happened) = (said.get(place), happened.get(place));
            assert_eq!(said, happened, "seed {}", self.seed);
        }
        said.len()
    }

    pub(crate) fn happened(&self, skip: usize) -> Vec<Entry> {
        let mut claims: BTreeMap<String, Entry> = BTreeMap::new();
        let mut happened = Vec::new();
        for observation in self.stage.history.after(skip) {
            let at = observation.now.wall;
            let Seen::Fact(fact) = observation.seen else { continue };
            match fact {
                Fact::Schedule(id, ScheduleFact::Skipped(skip)) => {
                    happened.push((at, id, skip.until, skip.count, SlotOutcome::Skipped, Some(skip.reason)));
                }
                Fact::Run(run, RunFact::Claimed(claim), _) if !claim.cause.is_beside_slots() => {
                    let (id, count) = (run.schedule.clone(), claim.folded + 1);
                    claims.insert(run.to_string(), (at, id, run.slot, count, SlotOutcome::Fires, None));
                }
                Fact::Run(run, RunFact::Queued { reason }, _) => {
                    let waits = |entry| queued(entry, reason);
                    happened.extend(claims.remove(&run.to_string()).map(waits));
                }
                Fact::Run(run, RunFact::Dispatched(_), _) => {
                    happened.extend(claims.remove(&run.to_string()));
                }
                Fact::Run(run, RunFact::Failed(it) | RunFact::Retrying { failure: it, .. }, _) => {
                    let came_of = |entry| came(entry, fate_of(it.reason), it.reason);
                    happened.extend(claims.remove(&run.to_string()).map(came_of));
                }
                Fact::Run(run, RunFact::Guard(GuardFact::Held(_)), _) => {
                    let held = |entry| came(entry, SlotOutcome::NeedsApproval, Reason::AwaitingApproval);
                    happened.extend(claims.remove(&run.to_string()).map(held));
                }
                Fact::Session(..)
                | Fact::Created { .. }
                | Fact::Host(..)
                | Fact::Channel(..)
                | Fact::Engine(_)
                | Fact::Schedule(
                    _,
                    ScheduleFact::Changed(_)
                    | ScheduleFact::Paused { .. }
                    | ScheduleFact::Resumed { .. }
                    | ScheduleFact::Armed { .. }
                    | ScheduleFact::Cancelled { .. },
                )
                | Fact::Run(
                    _,
                    RunFact::Claimed(_)
                    | RunFact::Guard(
                        GuardFact::Asked { .. }
                        | GuardFact::Allowed { .. }
                        | GuardFact::Approved { .. }
                        | GuardFact::Denied { .. }
                        | GuardFact::Answered(_),
                    )
                    | RunFact::Accepted
                    | RunFact::Delivered
                    | RunFact::Returned { .. }
                    | RunFact::Folded(_)
                    | RunFact::Joined { .. }
                    | RunFact::Postponed { .. }
                    | RunFact::Left
                    | RunFact::Taken { .. }
                    | RunFact::Cancelled { .. },
                    _,
                ) => {}
            }
        }
        assert!(claims.is_empty(), "claimed, and nothing came of it: {claims:?}");
        happened.sort();
        happened
    }

    pub(crate) fn any_schedule(&self) -> Option<ScheduleId> {
        self.schedules.get(self.place(self.schedules.len().max(1))).cloned()
    }

    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.stage.entropy.below(bound)
    }

    pub(crate) fn place(&self, count: usize) -> usize {
        usize::try_from(self.below(count as u64)).unwrap_or(0)
    }

    pub(crate) fn one_in(&self, count: u64) -> bool {
        self.stage.entropy.one_in(count)
    }
}

/// What a failure was: somebody's no, or the world's.
fn fate_of(reason: Reason) -> SlotOutcome {
    if matches!(reason, Reason::RefusedByRule | Reason::NobodyApproves) {
        SlotOutcome::Refused
    } else {
        SlotOutcome::Fails
    }
}

/// A claim, and what came of it.
/// A run that is queued fires all the same, unless it waits for a host that is gone.
fn queued(claim: Entry, reason: Reason) -> Entry {
    if reason == Reason::HostGone { came(claim, SlotOutcome::Waits, reason) } else { claim }
}

fn came(claim: Entry, fate: SlotOutcome, reason: Reason) -> Entry {
    (claim.0, claim.1, claim.2, claim.3, fate, Some(reason))
}

/// What was said to happen: what is paused or held does not.
pub(crate) fn said(slots: &[ForecastSlot]) -> Vec<Entry> {
    let happens = slots.iter().filter(|it| !matches!(it.outcome, SlotOutcome::Paused | SlotOutcome::AllHeld));
    let mut said: Vec<Entry> =
        happens.map(|it| (it.at, it.schedule.clone(), it.slot, it.count, it.outcome, it.reason)).collect();
    said.sort();
    said
}

fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("an id")
}
