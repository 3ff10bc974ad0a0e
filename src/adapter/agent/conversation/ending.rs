//! How a turn ends: with the agent's answer, or without one.

use super::{Conversation, Stage};
use crate::adapter::agent::exchange::Told;
use crate::adapter::agent::turn_log::TurnLog;
use crate::adapter::agent::wire::{NOT_AUTHENTICATED, RpcError};
use crate::domain::{Now, Reason, TurnOutcome};

impl Conversation {
    pub(super) fn end_turn(
        &mut self,
        now: Now,
        mut log: Box<TurnLog>,
        answer: &Result<serde_json::Value, RpcError>,
        outcome: Option<TurnOutcome>,
    ) {
        let run = log.turn().run.clone();
        match answer {
            Ok(answer) => {
                // The answer is a sign too, unless the run has failed for the want of one.
                if outcome.is_none() && log.receive(now.wall) {
                    self.tell(Told::Receipt(run));
                }
                log.answered(answer, self.plan.kind.says_tokens);
            }
            Err(error) => {
                if outcome.is_none() && !log.is_received() {
                    // An agent may have taken the prompt before it answers so, as opencode does whose model is overloaded. A
                    // refusal would let a policy send it again.
                    let reason = match error.code {
                        NOT_AUTHENTICATED => Reason::NotAuthenticated,
                        _ => Reason::OutcomeUnknown,
                    };
                    self.tell(Told::Failed(run, reason, error.message.clone()));
                }
                log.failed(&error.message);
            }
        }
        self.tell(Told::Turn(Box::new(log.end(now.wall, outcome))));
    }

    /// Ends the turn that a cancel did not end.
    pub(super) fn leave_turn(&mut self, now: Now) {
        if let Stage::Cancelling(log) = &mut self.stage
            && let Some(log) = log.take()
        {
            let outcome = log.cause();
            self.tell(Told::Turn(Box::new(log.end(now.wall, Some(outcome)))));
        }
    }
}
