//! Transition: an operator answers what an agent asks permission for in the turn that a run began.
//!
//! The answer is recorded before the agent has it. What lives elsewhere: the questions, and whether one waits (the host).

use crate::domain::{Decided, GuardFact, Refusal, RunFact, RunId, Scope};
use crate::engine::effect::{Effect, QuestionAnswer};
use crate::engine::step_builder::StepBuilder;

pub(in crate::engine) fn answer_question(
    step: &mut StepBuilder<'_>,
    run: &RunId,
    decided: Decided,
) -> Result<(), Refusal> {
    let record = step.state.run(run).filter(|_| decided.by.scope == Scope::Operator);
    let session = record.and_then(|record| record.run.session.clone());
    // To anyone else the run answers like one that does not exist.
    let session = session.ok_or_else(|| Refusal::UnknownRun { run: run.clone() })?;
    let answer = QuestionAnswer {
        session,
        question: decided.question,
        is_allowed: decided.is_allowed,
        by: decided.by.clone(),
    };
    step.run_fact(run, RunFact::Guard(GuardFact::Answered(Box::new(decided))));
    step.effect(Effect::AnswerQuestion(Box::new(answer)));
    Ok(())
}
