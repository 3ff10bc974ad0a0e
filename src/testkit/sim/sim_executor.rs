//! A simulated executor of tools: answers as it was told to, or at random; at once, later, never, or in a panic.
//!
//! Every call is recorded in the stage's history before anything else happens, as with a host.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::domain::{
    BootTime, ExecutorKind, HostId, Outcome, Phase, Reason, RunId, SessionId, Span, ToolName, ToolSpec,
};
use crate::edn::{Map, Value};
use crate::engine::Invocation;
use crate::port::{Clock, Executor, Listening, Returned, Stirred};
use crate::runtime::Handle;
use crate::testkit::history::{Reception, Seen};
use crate::testkit::sim::sim_results::{LastPings, PING_TOOL, SimResults};
use crate::testkit::sim::stage::Stage;
use crate::testkit::world_config::WorldConfig;

/// The tool that worlds call.
pub(in crate::testkit) const TOOL: &str = "http.get";

/// The executor of a world.
pub(in crate::testkit) fn of_world(stage: &Stage, config: &WorldConfig) -> SimExecutor {
    let executor = SimExecutor::random(stage).with(TOOL);
    if config.watches_one_in == 0 {
        return executor;
    }
    executor.mood().results = Some(SimResults::default());
    executor.with(PING_TOOL)
}

/// How a simulated executor treats one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallAnswer {
    /// It answers at once.
    AtOnce(Outcome),
    /// It answers when this much time has passed, and the test asks for it ([`SimExecutor::answer_due`]).
    After(Span, Outcome),
    /// It never answers, and keeps the way back.
    Never,
    /// It drops the way back, which is a failure.
    Drop,
    /// It panics without running a panic hook.
    Panic,
}

/// A simulated executor.
pub struct SimExecutor {
    stage: Stage,
    /// Draws its answers where the script has none; if not, it answers `{"ok": true}` at once.
    is_random: bool,
    mood: Mutex<Mood>,
}

#[derive(Default)]
struct Mood {
    is_faultless: bool,
    /// What it answers to watches, if it does not only say that all is well.
    results: Option<SimResults>,
    /// The tools that it says it has.
    offers: Vec<ToolSpec>,
    script: VecDeque<CallAnswer>,
    /// What it was asked to do, in order.
    calls: Vec<Invocation>,
    /// The calls that nobody waits for any more, in order.
    cancelled: Vec<Box<str>>,
    /// Calls that it will answer, with the time at the earliest.
    out: Vec<(BootTime, Outcome, Returned)>,
    /// Calls that will never get an answer.
    silent: Vec<Returned>,
    /// What hears of changes, and whether it still does.
    listening: Vec<(Stirred, Weak<()>)>,
    /// Why it says that nothing can be heard of.
    is_deaf: Option<&'static str>,
}

/// A simulated listener, until it is dropped.
struct SimListening(Arc<()>);

impl Listening for SimListening {
    fn is_live(&self) -> bool {
        // The other one is in the executor's list, until its test takes it out.
        Arc::weak_count(&self.0) > 0
    }
}

impl SimExecutor {
    /// An executor that answers by its script, and `{"ok": true}` at once where that has no answer.
    pub fn scripted(stage: &Stage) -> SimExecutor {
        SimExecutor { stage: stage.clone(), is_random: false, mood: Mutex::default() }
    }

    /// An executor that answers at random where its script has no answer.
    pub fn random(stage: &Stage) -> SimExecutor {
        SimExecutor { is_random: true, ..SimExecutor::scripted(stage) }
    }

    /// Adds the answer to a later call to its script.
    pub fn script(&self, answer: CallAnswer) {
        self.mood().script.push_back(answer);
    }

    /// Carries out calls of the engine from now on, also those that are for the built-in host.
    pub fn serve(self: &Arc<Self>, handle: &Handle) {
        // Refused if another one has a tool of its names, which then answers.
        let _ = handle.tools().add_executor(ExecutorKind::Operator, self.clone());
        self.serve_host(handle, HostId::LOCAL);
    }

    /// Carries out the calls that are for this host.
    pub fn serve_host(self: &Arc<Self>, handle: &Handle, host: HostId) {
        handle.tools().offer(host, self.clone());
    }

    /// Says from now on that it has this tool, too.
    pub fn offer(&self, spec: ToolSpec) {
        self.mood().offers.push(spec);
    }

    /// Offers a tool that only reads and that sessions may call.
    #[must_use]
    pub fn with(self, tool: &str) -> SimExecutor {
        if let Ok(name) = ToolName::new(tool) {
            self.offer(ToolSpec::reading(name, "Simulated.", Map::new().with("type", "object").into()));
        }
        self
    }

    /// Answers every call at once from now on.
    pub fn be_faultless(&self) {
        self.mood().is_faultless = true;
    }

    /// Lets it know the pings that the sessions have had.
    pub(in crate::testkit) fn know_pings(&self, pings: LastPings) {
        if let Some(results) = &mut self.mood().results {
            results.pings = pings;
        }
    }

    /// Says from now on, for this reason, that nothing can be heard of between calls.
    pub fn be_deaf(&self, why: &'static str) {
        self.mood().is_deaf = Some(why);
    }

    /// Says to all that listen that something has changed; returns how many they are.
    pub fn stir(&self) -> usize {
        let listening: Vec<Stirred> = {
            let mut mood = self.mood();
            mood.listening.retain(|(_, live)| live.strong_count() > 0);
            mood.listening.iter().map(|(stirred, _)| Arc::clone(stirred)).collect()
        };
        listening.iter().for_each(|stirred| stirred());
        listening.len()
    }

    /// Ends all listening, as when a directory is removed.
    pub fn lose_listeners(&self) {
        self.mood().listening.clear();
    }

    /// Returns the calls so far, in order.
    pub fn calls(&self) -> Vec<Invocation> {
        self.mood().calls.clone()
    }

    /// Returns the ids of the calls that nobody waits for any more, in the order in which it was told.
    pub fn cancelled(&self) -> Vec<Box<str>> {
        self.mood().cancelled.clone()
    }

    /// Answers the open calls whose time has come; returns how many.
    pub fn answer_due(&self) -> usize {
        let now = self.stage.clock.now().boot;
        let due: Vec<_> = self.mood().out.extract_if(.., |(at, ..)| *at <= now).collect();
        let count = due.len();
        for (_, outcome, returned) in due {
            returned.give(outcome);
        }
        count
    }

    /// Answers one open call, chosen at random, whether its time has come or not; returns whether there was one.
    pub fn answer_one(&self) -> bool {
        let (outcome, returned) = {
            let mut mood = self.mood();
            let place = self.stage.entropy.below(mood.out.len() as u64);
            let place = usize::try_from(place).ok().filter(|place| *place < mood.out.len());
            let Some(place) = place else { return false };
            let (_, outcome, returned) = mood.out.swap_remove(place);
            (outcome, returned)
        };
        // Unlocked first: the answer may make the engine call again.
        returned.give(outcome);
        true
    }

    /// Removes and returns the ways back of all open calls, because the process that waited for them is gone. A way back that
    /// is dropped answers, so the caller keeps them until that process is.
    pub fn take_open(&self) -> Vec<Returned> {
        let mut mood = self.mood();
        let out: Vec<_> =
            std::mem::take(&mut mood.out).into_iter().map(|(_, _, returned)| returned).collect();
        out.into_iter().chain(std::mem::take(&mut mood.silent)).collect()
    }

    fn next_answer(&self) -> CallAnswer {
        let entropy = &self.stage.entropy;
        if let Some(answer) = self.mood().script.pop_front() {
            return answer;
        }
        let took = Span::from_millis(20);
        let fine = Outcome::of_value(Map::new().with("ok", true).into(), 12, took);
        if !self.is_random || self.mood().is_faultless {
            return CallAnswer::AtOnce(fine);
        }
        let outcome = match entropy.below(8) {
            0 => Outcome::of_error("it went wrong", took),
            1 => Outcome::of_failure(Reason::TooManyCalls, "not now", Span::ZERO),
            2 => Outcome::of_value(Value::from("other"), 7, took),
            _ => fine,
        };
        match entropy.below(12) {
            0..=4 => CallAnswer::AtOnce(outcome),
            5 => CallAnswer::Never,
            6 => CallAnswer::Drop,
            7 => CallAnswer::Panic,
            _ => CallAnswer::After(Span::from_millis(entropy.below(90_000)), outcome),
        }
    }

    /// An answer with a result that is worth watching, mostly at once; `None` if it has none of these.
    fn varied(&self, invocation: &Invocation) -> Option<CallAnswer> {
        let entropy = &self.stage.entropy;
        let now = self.stage.clock.now().wall;
        let mut mood = self.mood();
        let outcome = mood.results.as_mut()?.next(entropy, now, invocation);
        if mood.is_faultless {
            return Some(CallAnswer::AtOnce(outcome));
        }
        Some(match entropy.below(24) {
            0 => CallAnswer::Never,
            1 => CallAnswer::Drop,
            2 => CallAnswer::Panic,
            3..=8 => CallAnswer::After(Span::from_millis(entropy.below(20_000)), outcome),
            _ => CallAnswer::AtOnce(outcome),
        })
    }

    fn mood(&self) -> MutexGuard<'_, Mood> {
        // Never held across a call to the engine, so a simulated panic cannot poison it half changed.
        self.mood.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Executor for SimExecutor {
    fn specs(&self, _: &SessionId) -> Arc<[ToolSpec]> {
        self.mood().offers.as_slice().into()
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        // Recorded first: a panic or a lost answer below must not hide that the call was made.
        if let Some(run) = RunId::parse(&invocation.id) {
            let text = format!("{} {}", invocation.tool, invocation.args).into();
            let (host, session) = (HostId::LOCAL, invocation.session.clone());
            let reception = Reception { host, run, phase: Phase::Call, session, text };
            self.stage.history.note(self.stage.clock.now(), Seen::Received(reception));
        }
        let varied = self.varied(&invocation);
        self.mood().calls.push(invocation);
        match varied.unwrap_or_else(|| self.next_answer()) {
            CallAnswer::AtOnce(outcome) => returned.give(outcome),
            CallAnswer::After(span, outcome) => {
                let at = self.stage.clock.now().boot.after(span);
                self.mood().out.push((at, outcome, returned));
            }
            CallAnswer::Never => self.mood().silent.push(returned),
            CallAnswer::Drop => drop(returned),
            CallAnswer::Panic => {
                drop(returned);
                // Runs no panic hook, so the output stays clean.
                std::panic::resume_unwind(Box::new("a simulated executor panics"));
            }
        }
    }

    fn cancel(&self, id: &str) {
        self.mood().cancelled.push(id.into());
    }

    fn listen(
        &self,
        _: &ToolName,
        _: &Value,
        stirred: Stirred,
    ) -> Result<Option<Box<dyn Listening>>, &'static str> {
        let mut mood = self.mood();
        if let Some(why) = mood.is_deaf {
            return Err(why);
        }
        let live = Arc::new(());
        mood.listening.push((stirred, Arc::downgrade(&live)));
        Ok(Some(Box::new(SimListening(live))))
    }
}
