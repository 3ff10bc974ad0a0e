//! A step under construction: what a transition reads, and the facts and effects it has recorded
//! so far.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::effect::Effect;
use super::local_fact::LocalFact;
use super::state::{Mode, State};
use super::written::Pace;
use crate::calendar::Zones;
use crate::domain::{
    Actor, BootTime, Downtime, EngineFact, Entropy, Fact, HostId, Now, RunFact, RunId, ScheduleFact,
    ScheduleId, SessionFact, SessionId, Span,
};
use crate::limits;

/// Everything that a decision may know of the outside world.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// The present moment, on both clocks.
    pub now: Now,
    /// Random bits for the ids that the step creates.
    pub entropy: Entropy,
    /// The rules of named time zones.
    pub zones: &'a Zones,
    /// The schedules for the ends of whose calls somebody waits, and gets them: their sessions are told nothing.
    pub awaited: Option<&'a BTreeSet<ScheduleId>>,
}

/// What follows from one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Facts to append and apply in this order, all or none.
    pub facts: Vec<Fact>,
    /// Facts to apply before the others. They are not stored.
    pub local: Vec<LocalFact>,
    /// Effects to perform afterwards, in this order.
    pub effects: Vec<Effect>,
    /// Whether the entropy was used; if not, the caller may use it for the next input.
    pub drew: bool,
}

/// A step in progress: its inputs, and the facts and effects recorded so far. The state is the one
/// before the step.
pub(super) struct StepBuilder<'a> {
    pub(super) state: &'a State,
    pub(super) now: Now,
    pub(super) zones: &'a Zones,
    awaited: Option<&'a BTreeSet<ScheduleId>>,
    /// Whether nothing may be handed over, because everything is held or the engine stops. Facts of
    /// this step are taken into account.
    pub(super) held: bool,
    /// The fresh sessions that this step asks hosts to create, each by the root of its family.
    pub(super) creating: Vec<SessionId>,
    /// The pace of each family whose runs this step has handed over or lets wait, by its root.
    pub(super) paces: Option<BTreeMap<SessionId, Pace>>,
    entropy: Entropy,
    step: Step,
}

impl<'a> StepBuilder<'a> {
    pub(super) fn new(step: Step, state: &'a State, env: Env<'a>) -> StepBuilder<'a> {
        let Env { now, entropy, zones, awaited } = env;
        StepBuilder {
            state,
            now,
            zones,
            awaited,
            held: state.held().is_some() || state.mode != Mode::Running,
            creating: Vec::new(),
            paces: None,
            entropy,
            step,
        }
    }

    /// Returns when no process was there, if this step is the start of one or the load after a failure of the store. The state
    /// does not count that yet.
    pub(super) fn downs(&self) -> &[Downtime] {
        // `restart` records this fact before all others.
        let Some(Fact::Engine(EngineFact::Restarted { downs, .. })) = self.step.facts.first() else {
            return &[];
        };
        // Empty after a failure of the store: the process goes on, and the state has the earlier downtimes.
        if downs.is_empty() { &self.state.downs } else { downs }
    }

    /// Returns whether somebody waits for the end of this schedule's call, and gets it.
    pub(super) fn is_awaited(&self, schedule: &ScheduleId) -> bool {
        self.awaited.is_some_and(|awaited| awaited.contains(schedule))
    }

    pub(super) fn finish(self) -> Step {
        let Step { facts, local, effects, .. } = &self.step;
        // Local facts are applied first. Facts decided in the same step would rest on a state that
        // they have changed.
        debug_assert!(
            local.is_empty() || facts.is_empty() && effects.is_empty(),
            "{} local of {:?}",
            local.len(),
            self.step
        );
        debug_assert!(
            effects.iter().all(|effect| has_fact(effect, facts)),
            "an effect without a fact: {effects:?} of {facts:?}"
        );
        self.step
    }

    pub(super) fn fact(&mut self, fact: Fact) {
        self.step.facts.push(fact);
    }

    pub(super) fn local_fact(&mut self, fact: LocalFact) {
        self.step.local.push(fact);
    }

    pub(super) fn session_fact(&mut self, session: &SessionId, fact: SessionFact) {
        self.session_fact_by(session, fact, None);
    }

    /// Records a fact about a session that this actor asked for or reported.
    pub(super) fn session_fact_by(&mut self, session: &SessionId, fact: SessionFact, by: Option<Actor>) {
        self.fact(Fact::Session(session.clone(), fact, by.map(Box::new)));
    }

    pub(super) fn schedule_fact(&mut self, schedule: &ScheduleId, fact: ScheduleFact) {
        self.fact(Fact::Schedule(schedule.clone(), fact));
    }

    /// Returns whether this step has set the schedule's next slot.
    pub(super) fn has_armed(&self, schedule: &ScheduleId) -> bool {
        // The facts are searched, because the state is the one before the step.
        let is_it =
            |fact: &Fact| matches!(fact, Fact::Schedule(id, ScheduleFact::Armed { .. }) if id == schedule);
        self.step.facts.iter().any(is_it)
    }

    /// Returns whether this step claims the run.
    pub(super) fn has_claimed(&self, run: &RunId) -> bool {
        let is_it = |fact: &Fact| matches!(fact, Fact::Run(id, RunFact::Claimed(_), _) if id == run);
        self.step.facts.iter().any(is_it)
    }

    /// Returns whether this step closes the session.
    pub(super) fn closes(&self, session: &SessionId) -> bool {
        let is_it = |fact: &Fact| matches!(fact, Fact::Session(id, SessionFact::Closed, _) if id == session);
        self.step.facts.iter().any(is_it)
    }

    /// Returns the run whose delivery to a session is outstanding, unless this step has a fact
    /// about it.
    pub(super) fn in_flight(&self, session: &SessionId) -> Option<RunId> {
        let out = self.state.runs.get(self.state.session(session)?.in_flight?)?;
        let run = self.state.run_id(out)?;
        (!self.deals_with(&run)).then_some(run)
    }

    /// Returns whether this step has a fact about the run.
    pub(super) fn deals_with(&self, run: &RunId) -> bool {
        self.step.facts.iter().any(|fact| fact.run() == Some(run))
    }

    pub(super) fn run_fact(&mut self, run: &RunId, fact: RunFact) {
        self.run_fact_by(run, fact, None);
    }

    /// Records a fact about a run that this actor reported.
    pub(super) fn run_fact_by(&mut self, run: &RunId, fact: RunFact, by: Option<Arc<Actor>>) {
        self.fact(Fact::Run(run.clone(), fact, by));
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.step.effects.push(effect);
    }

    /// Returns random bits for one id. Each call returns other bits, so a step can create several
    /// ids.
    pub(super) fn draw(&mut self) -> Entropy {
        self.step.drew = true;
        let drawn = self.entropy;
        // An odd increment does not repeat a value until all 2^128 have been used.
        let next = u128::from_le_bytes(drawn.0).wrapping_add(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        self.entropy = Entropy(next.to_le_bytes());
        drawn
    }

    /// Returns when the receipt for a hand-over made now is overdue.
    pub(super) fn overdue(&self) -> BootTime {
        self.now.boot.after(Span::from_millis(limits::RECEIPT_MS.value))
    }

    /// Returns when the receipt for a prompt given to this host now is overdue. An agent may have to be started first.
    pub(super) fn overdue_of(&self, host: HostId) -> BootTime {
        if host != HostId::AGENTS {
            return self.overdue();
        }
        self.now.boot.after(Span::from_millis(limits::AGENT_RECEIPT_MS.value))
    }
}

/// Returns whether an effect that hands a run over has its fact in this step. Without the fact, the
/// effect would be performed again after a crash.
fn has_fact(effect: &Effect, facts: &[Fact]) -> bool {
    let run = match effect {
        Effect::Deliver(delivery) => &delivery.run,
        Effect::CreateSession(opening) => &opening.run,
        Effect::Send(parcel) => &parcel.run,
        Effect::Call { run, .. } => run,
        // These hand no run over.
        Effect::AskGuard(_)
        | Effect::AnswerQuestion(_)
        | Effect::CancelCall { .. }
        | Effect::OpenSession { .. }
        | Effect::RecordMessage { .. }
        | Effect::ForgetSession { .. } => return true,
    };
    facts.iter().any(|fact| matches!(fact, Fact::Run(id, RunFact::Dispatched(_), _) if id == run))
}
