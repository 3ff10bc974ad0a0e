//! A step, and a step in the making: what a transition reads, and what it has decided so far.

use super::effect::Effect;
use super::local_fact::LocalFact;
use super::state::{Mode, State};
use crate::calendar::Zones;
use crate::domain::{
    BootTime, Entropy, Fact, Now, RunFact, RunId, ScheduleFact, ScheduleId, SessionFact, SessionId, Span,
};
use crate::limits;

/// What a decision is given of the world: nothing else of it is known here.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The clocks.
    pub now: Now,
    /// Used up by the ids that the step invents.
    pub entropy: Entropy,
    /// What the names of zones mean.
    pub zones: &'a Zones,
}

/// What follows from one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// To be appended and applied, in this order, together or not at all.
    pub facts: Vec<Fact>,
    /// To be applied before them, and stored nowhere.
    pub local: Vec<LocalFact>,
    /// To be performed after that, in this order.
    pub effects: Vec<Effect>,
    /// Whether the randomness was used up; if not, it is as fresh as before.
    pub drew: bool,
}

/// The state before the step, the moment, the randomness, and the facts and effects so far.
pub(super) struct Draft<'a> {
    pub(super) state: &'a State,
    pub(super) now: Now,
    pub(super) zones: &'a Zones,
    /// Whether nothing may be handed over: everything is held, or the engine stops. What this step has decided on that is
    /// included.
    pub(super) held: bool,
    /// Fresh sessions that this step lets hosts create.
    pub(super) creating: usize,
    entropy: Entropy,
    step: Step,
}

impl<'a> Draft<'a> {
    pub(super) fn new(step: Step, state: &'a State, given: Given<'a>) -> Draft<'a> {
        let Given { now, entropy, zones } = given;
        Draft {
            state,
            now,
            zones,
            held: state.held.is_some() || state.mode != Mode::Running,
            creating: 0,
            entropy,
            step,
        }
    }

    pub(super) fn finish(self) -> Step {
        let Step { facts, local, effects, .. } = &self.step;
        // Local facts are applied before the others, and nothing was decided on what they change.
        debug_assert!(
            local.is_empty() || facts.is_empty() && effects.is_empty(),
            "{} local of {:?}",
            local.len(),
            self.step
        );
        debug_assert!(
            effects.iter().all(|effect| is_said_by(effect, facts)),
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
        self.fact(Fact::Session(session.clone(), fact));
    }

    pub(super) fn schedule_fact(&mut self, schedule: &ScheduleId, fact: ScheduleFact) {
        self.fact(Fact::Schedule(schedule.clone(), fact));
    }

    /// Whether this step has given a schedule its next slot, or none.
    pub(super) fn has_armed(&self, schedule: &ScheduleId) -> bool {
        let is_it =
            |fact: &Fact| matches!(fact, Fact::Schedule(id, ScheduleFact::Armed { .. }) if id == schedule);
        self.step.facts.iter().any(is_it)
    }

    /// The delivery that is out to a session, unless this step has dealt with it.
    pub(super) fn is_out(&self, session: &SessionId) -> Option<RunId> {
        let out = self.state.runs.get(self.state.session(session)?.in_flight?)?;
        let run = self.state.run_id(out)?;
        let is_dealt_with = self.step.facts.iter().any(|fact| fact.run() == Some(&run));
        (!is_dealt_with).then_some(run)
    }

    pub(super) fn run_fact(&mut self, run: &RunId, fact: RunFact) {
        self.fact(Fact::Run(run.clone(), fact));
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.step.effects.push(effect);
    }

    /// Bits for one id; the next call gives others, so a step can invent several.
    pub(super) fn draw(&mut self) -> Entropy {
        self.step.drew = true;
        let drawn = self.entropy;
        let next = u128::from_le_bytes(drawn.0).wrapping_add(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        self.entropy = Entropy(next.to_le_bytes());
        drawn
    }

    /// When the receipt for what is handed over now is overdue.
    pub(super) fn overdue(&self) -> BootTime {
        self.now.boot.after(Span::from_millis(limits::RECEIPT_MS.value))
    }
}

/// Whether a hand-over is in the facts: what is performed and is in no fact would be performed again after a crash.
fn is_said_by(effect: &Effect, facts: &[Fact]) -> bool {
    let run = match effect {
        Effect::Deliver(delivery) => &delivery.run,
        Effect::CreateSession(opening) => &opening.run,
        Effect::Send(parcel) => &parcel.run,
        Effect::AskGuard(_)
        | Effect::OpenSession { .. }
        | Effect::RecordMessage { .. }
        | Effect::ForgetSession { .. } => return true,
    };
    facts.iter().any(|fact| matches!(fact, Fact::Run(id, RunFact::Dispatched(_)) if id == run))
}
