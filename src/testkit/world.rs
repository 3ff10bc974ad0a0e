//! A whole engine in simulated surroundings: random actions happen to it, and the laws are checked.
//!
//! One thread and one seed, so every run of a world is identical. The actions are in `actions`, the
//! laws in `checks`.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::breach::Breach;
use super::checks::law::StateView;
use super::disk::{Disk, UnpublishedFact};
use super::history::{Observation, Reception, Seen};
use super::laws::{Broken, Laws, feed_tells, reads_change_nothing};
use super::sim::behaviour::Behaviour;
use super::sim::sim_courier::{self, CHANNELS, SimCourier};
use super::sim::sim_executor::{self, SimExecutor};
use super::sim::sim_guard::SimGuard;
use super::sim::sim_host::SimHost;
use super::sim::stage::Stage;
use super::tally::Tally;
use super::trace::Trace;
use super::world_config::{Action, WorldConfig};
use crate::domain::{
    BootTime, Cursor, Decision, Durability, HostId, Moment, RunId, ScheduleId, Scope, SessionId, Ways,
};
use crate::engine::{Command, Input, Mode, Report, ScheduleRecord, SessionRecord, State, Which};
use crate::port::{Clock, Host, Store};
use crate::runtime::{Handle, Subscription, WaiterId};

/// A seeded random world.
pub struct World {
    pub(super) seed: u64,
    pub(super) config: WorldConfig,
    pub(super) stage: Stage,
    pub(super) handle: Handle,
    /// The built-in host, then the connected ones.
    pub(super) hosts: Vec<Arc<SimHost>>,
    pub(super) connected: u32,
    pub(super) opened: u64,
    /// The external guard, asked if the policy wants it.
    pub(super) guard: Arc<SimGuard>,
    /// Runs that hosts have received, used for false receipts.
    pub(super) heard: Vec<RunId>,
    pub(super) turned: bool,
    /// The world's store; `None` for a world without one.
    pub(super) disk: Option<Disk>,
    /// The end has begun: no more crashes and disk failures.
    pub(super) is_ending: bool,
    /// The simulated courier of the channels.
    pub(super) courier: Arc<SimCourier>,
    /// The simulated executor of tools.
    pub(super) executor: Arc<SimExecutor>,
    /// Those who wait for the end of a call, each with its schedule.
    pub(super) waiting: Vec<(ScheduleId, WaiterId)>,
    /// Facts that the feed has not shown yet, oldest first.
    pub(super) untold: VecDeque<UnpublishedFact>,
    pub(super) laws: Laws,
    pub(super) feed: Subscription,
    pub(super) tally: Tally,
    trace: Trace,
    pub(super) judged: usize,
    step: u32,
}

impl World {
    /// A world with this seed, before its first step.
    pub fn new(seed: u64, config: WorldConfig) -> World {
        let stage = Stage::seeded(seed);
        let local = SimHost::new(&stage, HostId::LOCAL);
        local.behave(&config.behaviours);
        let local = Arc::new(match &config.local {
            Some(inner) => local.over(Arc::clone(inner)),
            None => local,
        });
        let handle = Handle::new(stage.parts(local.clone()));
        let guard = Arc::new(SimGuard::new(Arc::clone(&stage.entropy)));
        handle.outside().set_guard(guard.clone());
        let courier = Arc::new(SimCourier::new(&stage, config.places_outside));
        handle.outside().open_channels(courier.clone(), sim_courier::channels());
        let executor = Arc::new(sim_executor::of_world(&stage, &config));
        executor.serve(&handle);
        let feed = handle.subscribe(Cursor::START);
        // Drawn from the seed, so that a seed reproduces the kind of world too.
        let is_stored = stage.entropy.one_in(config.stored_one_in);
        // Attaching cannot fail: a new store is empty.
        let disk = is_stored.then(|| Disk::taken_up_by(&handle).ok()).flatten();
        World {
            seed,
            config,
            stage,
            handle,
            hosts: vec![local],
            connected: 0,
            opened: 0,
            guard,
            heard: Vec::new(),
            turned: false,
            disk,
            is_ending: false,
            courier,
            executor,
            waiting: Vec::new(),
            untold: VecDeque::new(),
            tally: Tally::default(),
            laws: Laws::new(),
            feed,
            trace: Trace::new(),
            judged: 0,
            step: 0,
        }
    }

    /// The trace so far.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The counts so far.
    pub fn tally(&self) -> Tally {
        Tally { steps: u64::from(self.step), ..self.tally }
    }

    /// The handle of the engine under test.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Performs all steps and the end. At the end either faults stop and everything has to finish,
    /// or the engine is shut down and nothing may happen any more.
    ///
    /// # Errors
    /// [`Breach`], with the first law that is broken; a panic breaks a law too.
    pub fn run(&mut self) -> Result<(), Box<Breach>> {
        for _ in 0..self.config.steps {
            self.step()?;
        }
        self.step += 1;
        self.guard(World::end)
    }

    /// Performs one random action, and checks the laws.
    ///
    /// # Errors
    /// [`Breach`], with the first law that is broken.
    pub fn step(&mut self) -> Result<(), Box<Breach>> {
        self.step += 1;
        self.guard(|world| {
            let action = world.stage.entropy.pick_weighted(&world.config.actions);
            if let Some(action) = action {
                world.act(action)?;
            }
            world.judge(world.step.is_multiple_of(world.config.deep_every.max(1)))
        })
    }

    fn guard(&mut self, live: impl FnOnce(&mut World) -> Result<(), Broken>) -> Result<(), Box<Breach>> {
        self.stage.entropy.allow(DRAWS_MAX);
        // Unwind safe: after a panic the world is only reported, never continued.
        let outcome = catch_unwind(AssertUnwindSafe(|| live(self)));
        let (broken, readable) = match outcome {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(broken)) => (broken, true),
            Err(panic) => (Broken { law: "nothing_panics", detail: panic_text(panic.as_ref()) }, false),
        };
        // A panic may have left the state half changed: reading it could panic again.
        let state = if readable { self.handle.view(State::to_string) } else { String::new() };
        Err(Box::new(Breach { seed: self.seed, step: self.step, broken, trace: self.trace.tail(30), state }))
    }

    /// Checks the laws against everything observed since the last check.
    pub(super) fn judge(&mut self, deep: bool) -> Result<(), Broken> {
        if self.publish() {
            // A commit may release more work that is due, so the last turn no longer counts.
            self.turned = false;
        }
        if let Some(disk) = &self.disk {
            self.laws.know_kept(disk.store.health().head);
        }
        let seen = self.stage.history.after(self.judged);
        self.judged += seen.len();
        let decisions = self.feed.poll(usize::MAX).decisions;
        for decision in &decisions {
            self.trace.push(decision_line(decision));
        }
        for observation in &seen {
            // Asked before the model contains the fact, which may create the schedule that it is
            // about.
            let (is_lasting, is_shown) = (self.laws.is_lasting(observation), self.laws.is_shown(observation));
            self.take_note(observation);
            self.laws.observe(observation)?;
            if let Seen::Fact(fact) = &observation.seen
                && is_shown
            {
                let (cursor, fact) = (self.laws.cursor(), fact.clone());
                self.untold.push_back(UnpublishedFact { cursor, fact, is_lasting });
            }
        }
        let told = self.take_told(decisions.len())?;
        feed_tells(&told, &decisions)?;
        // With a slow disk, work that is due may have to wait for it.
        let turned = std::mem::take(&mut self.turned) && self.is_all_kept();
        let now = self.stage.clock.now();
        // Tools apply limits of their own, so the configured one does not hold then.
        let session_live_max =
            Some(self.config.session_live_max).filter(|_| !self.config.has(Action::CallTool));
        let laws = &self.laws;
        self.handle.view(|state| {
            let standing = StateView { state, now, turned, session_live_max };
            laws.stand(&standing)?;
            if deep { laws.stand_deep(&standing) } else { Ok(()) }
        })?;
        if deep { reads_change_nothing(&self.handle) } else { Ok(()) }
    }

    fn take_note(&mut self, observation: &Observation) {
        match &observation.seen {
            Seen::Received(Reception { host, run, phase, .. }) => {
                self.say(format!("    {host} received {} {run}", phase.name()));
                self.heard.push(run.clone());
                self.tally.hand_overs += 1;
            }
            Seen::DiskFailed { kept } => {
                self.say(format!("    the store has failed, and {kept} is the last fact kept"));
                // Uncommitted durable facts are rolled back: the feed will never show them.
                self.untold.retain(|untold| !untold.is_lasting || untold.cursor <= *kept);
            }
            Seen::Fact(fact) => self.tally.note(fact),
            Seen::Local(_) | Seen::CancelAcknowledged { .. } | Seen::HostLost(_) | Seen::ShutDown => {}
        }
    }

    /// Submits an input; returns whether it was acknowledged. A refusal must change nothing.
    pub(super) fn submit(&mut self, input: Input) -> Result<bool, Broken> {
        self.trace.push(format!("  {input:?}"));
        if let Some(schedule) = input.settles_first() {
            // Such an input settles the schedule's due slots first, even if it is then refused. Do
            // it here, so that the comparison below sees only the input's own changes.
            let (schedule, now) = (schedule.clone(), self.stage.clock.now());
            while self.handle.view(|state| state.is_slot_due(&schedule, now)) {
                // Mostly after the work that is due; sometimes before it, as in a burst that does
                // not wait.
                let in_turn = !self.stage.history.shared_len().is_multiple_of(4);
                let settle =
                    if in_turn { Input::Wake } else { Input::FlushDue { schedule: schedule.clone() } };
                let settled = self.submit_to_engine(settle);
                settled.map_err(|refusal| Broken {
                    law: "refusals_change_nothing",
                    detail: format!("what is due was refused: {refusal}"),
                })??;
            }
        }
        // What was committed meanwhile goes out with whatever is submitted next, refused or not.
        self.publish();
        let before = (self.handle.view(State::cursor), self.stage.history.len());
        let needs_no_disk = creates_in_memory(&input);
        let refusal = match self.submit_to_engine(input) {
            Ok(told) => return told,
            Err(refusal) => refusal,
        };
        self.trace.push(format!("    refused: {refusal}"));
        self.judge_refusal(needs_no_disk, &refusal)?;
        let after = (self.handle.view(State::cursor), self.stage.history.len());
        // Neither a fact nor an observation: nothing has changed.
        if before == after {
            return Ok(false);
        }
        Err(Broken {
            law: "refusals_change_nothing",
            detail: format!("{refusal}: {before:?} became {after:?}"),
        })
    }

    /// Runs everything due, and checks that the engine reports the right time of its next wake-up.
    pub(super) fn turn(&mut self) -> Result<(), Broken> {
        let mut next = self.handle.run_due();
        // A commit may make more due at this very time.
        while self.publish() {
            next = self.handle.run_due();
        }
        self.turned = true;
        self.say(format!("  turn, next wake {:?}", next.map(BootTime::nanos)));
        let of_state = self.handle.view(|state| state.next_wake(self.handle.now()));
        let calls = self.handle.calls().in_use();
        let truth = of_state.into_iter().chain(calls.next_deadline).min();
        if next == truth {
            self.calls_are_runs(&calls)?;
            return self.places_are_kept(&calls);
        }
        Err(Broken { law: "turn_names_the_next", detail: format!("{next:?} was named, but it is {truth:?}") })
    }

    /// Opens the channels of an engine that has just started.
    pub(super) fn open_channels(&self) {
        let opened = self.handle.outside().open_channels(self.courier.clone(), sim_courier::channels());
        assert!(opened, "an engine's channels are opened once");
    }

    /// Adds a line to the trace.
    pub(super) fn say(&mut self, line: String) {
        self.trace.push(line);
    }

    fn end(&mut self) -> Result<(), Broken> {
        self.is_ending = true;
        self.mend_disk()?;
        self.stage.clock.drift(0);
        if self.stage.entropy.one_in(self.config.shutdown_one_in) {
            self.end_in_shutdown()
        } else {
            self.end_in_peace()
        }
    }

    /// Stops all faults and lets time pass: everything has to finish.
    fn end_in_peace(&mut self) -> Result<(), Broken> {
        self.say("faults stop".to_owned());
        for host in &self.hosts {
            host.behave(Behaviour::FAULTLESS);
        }
        self.courier.be_faultless();
        self.executor.be_faultless();
        let orphans =
            self.sessions(|state, id| state.session(id).is_some_and(|session| !session.is_hosted()));
        self.connect_host(orphans, Behaviour::FAULTLESS)?;
        self.end_what_recurs()?;
        for _ in 0..ROUNDS_MAX {
            while self.courier.answer_one().is_some() {}
            while self.executor.answer_one() {}
            for host in self.hosts.clone() {
                while let Some(report) = host.take_receipt(0) {
                    self.submit(Input::Report(report))?;
                }
            }
            for session in self.sessions(|state, id| state.session(id).is_some_and(SessionRecord::is_busy)) {
                self.submit(Input::Report(Report::Busy { session, busy: false, by: None }))?;
            }
            self.turn()?;
            self.judge(false)?;
            let Some(next) = self.handle.view(|state| state.next_wake(self.handle.now())) else { break };
            // Jump straight to the next deadline: no simulated time is too long.
            self.stage.clock.advance_to(next);
        }
        self.judge(true)?;
        self.laws.everything_ends()
    }

    /// Cancels schedules that would never end, and releases what is paused.
    fn end_what_recurs(&mut self) -> Result<(), Broken> {
        self.submit(Input::Command(Command::ReleaseAll { by: Scope::Operator.into() }))?;
        let pauses = self.config.has(Action::PauseChannel);
        for channel in CHANNELS.into_iter().filter(|_| pauses) {
            let (ways, by) = (Ways::Both, Scope::Operator.into());
            self.submit(Input::Command(Command::ResumeChannel { channel: channel.into(), ways, by }))?;
        }
        let live = self.handle.view(|state| {
            let live = state.schedules().into_iter().filter(|record| !record.status().is_terminal());
            // The boot clock cannot count to the year 9999, so such a slot would never come.
            let far = |slot: Moment| slot.seconds() > YEAR_2500;
            let endless = |record: &ScheduleRecord| {
                let is_far = record.schedule().is_durable() && record.next_slot().is_some_and(far);
                record.schedule().recurs() || is_far || record.progress().awaits_event
            };
            live.map(|record| (record.schedule().id.clone(), endless(record))).collect::<Vec<_>>()
        });
        for (schedule, endless) in live {
            let which = Which::any(Scope::Operator, schedule);
            let end = if endless { Command::CancelSchedule(which) } else { Command::ResumeSchedule(which) };
            self.submit(Input::Command(end))?;
        }
        Ok(())
    }

    /// Shuts the engine down: a grace period for receipts, then nothing may happen any more.
    fn end_in_shutdown(&mut self) -> Result<(), Broken> {
        self.stop(false)?;
        for _ in 0..5 {
            self.act(Action::AnswerReceipt)?;
            self.judge(false)?;
        }
        self.stop(true)?;
        if !self.handle.view(State::is_settled) {
            let detail = "something in memory only is left when the engine has stopped".to_owned();
            return Err(Broken { law: "nothing_lives_after_shutdown", detail });
        }
        // Nothing is in flight, so this returns at once.
        self.handle.shut_down();
        self.judge(true)?;
        self.stage.history.note(self.stage.clock.now(), Seen::ShutDown);
        for _ in 0..20 {
            let action = self.stage.entropy.pick_weighted(&self.config.actions);
            if let Some(action) = action {
                self.act(action)?;
            }
            self.judge(false)?;
        }
        self.judge(true)
    }

    fn stop(&mut self, abandon: bool) -> Result<(), Broken> {
        self.submit(Input::Command(Command::Shutdown { abandon }))?;
        // A second, softer request to stop may come at any time, and must not undo the first.
        if abandon && self.stage.entropy.one_in(3) {
            self.submit(Input::Command(Command::Shutdown { abandon: false }))?;
        }
        // An action between the command and the turn is a race that a driver thread can lose.
        if self.stage.entropy.one_in(2) && self.handle.view(State::mode) != Mode::Running {
            let action = self.stage.entropy.pick_weighted(&self.config.actions);
            if let Some(action) = action {
                self.act(action)?;
            }
        }
        self.turn()?;
        self.judge(false)
    }

    /// The ids of the open sessions for which `holds` is true.
    pub(super) fn sessions(&self, holds: impl Fn(&State, &SessionId) -> bool) -> Vec<SessionId> {
        self.handle.view(|state| {
            let ids = state.sessions().into_iter().map(|session| session.id().clone());
            ids.filter(|id| holds(state, id)).collect()
        })
    }

    /// Connects a host, which takes these sessions over.
    pub(super) fn connect_host(
        &mut self,
        sessions: Vec<SessionId>,
        behaviours: &[(Behaviour, u32)],
    ) -> Result<(), Broken> {
        self.connected += 1;
        let host = Arc::new(SimHost::new(&self.stage, HostId::new(self.connected)));
        host.behave(behaviours);
        let number = self.handle.hosts().attach(Arc::clone(&host) as Arc<dyn Host>);
        assert_eq!(number, host.number(), "hosts are numbered in the order in which they connect");
        // Before it takes sessions over, so that the calls that wait for it find its tools.
        self.executor.serve_host(&self.handle, number);
        self.say(format!("  {number} connects"));
        self.hosts.push(host);
        self.submit(Input::Command(Command::HostSessions {
            host: number,
            sessions,
            busy: Some(false),
            by: None,
        }))?;
        Ok(())
    }
}

/// Whether an input creates a volatile schedule.
fn creates_in_memory(input: &Input) -> bool {
    matches!(input, Input::Command(Command::CreateSchedule(new)) if new.durability == Durability::Volatile)
}

fn decision_line(decision: &Decision) -> String {
    let mut line = format!("    {} {} {}", decision.cursor, decision.at, decision.kind.name());
    let reason = decision.reason.map(|reason| reason.name().to_owned());
    let schedule = decision.schedule().map(ToString::to_string);
    let session = decision.session.as_ref().map(ToString::to_string);
    let detail = decision.detail.as_ref().map(|detail| format!("({detail})"));
    for part in [reason, schedule, session, detail].into_iter().flatten() {
        line.push(' ');
        line.push_str(&part);
    }
    line
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without text").to_owned()
}

/// 2500-01-01T00:00:00Z.
const YEAR_2500: i64 = 16_725_225_600;
/// More engine steps than any step of a world needs; beyond it the engine is in a loop.
const DRAWS_MAX: u64 = 100_000;
/// More rounds than any world needs; a world that uses them all never ends.
const ROUNDS_MAX: u32 = 5_000;
