//! What the agent asks permission for, and how it is told the answer.

use super::{Conversation, Stage};
use crate::adapter::agent::exchange::{Output, Told};
use crate::adapter::agent::plan::{Verdict, answer};
use crate::adapter::agent::wire::{self, Asked};
use crate::domain::Now;
use crate::engine::QuestionAnswer;

impl Conversation {
    /// The agent asks permission for something.
    pub(super) fn question(&mut self, now: Now, id: serde_json::Value, mut asked: Asked) {
        let Stage::InTurn(log) = &mut self.stage else {
            // Nobody is asked outside of a turn.
            let is_allowed = self.plan.judge(&asked) == Verdict::Allow;
            self.out.push(Output::Send(wire::permit(&id, answer(&asked, is_allowed).1)));
            return;
        };
        log.complete(&mut asked);
        let line = match self.plan.judge(&asked) {
            Verdict::Allow => Some(log.answer(&id, &asked, true)),
            Verdict::Reject => Some(log.answer(&id, &asked, false)),
            Verdict::Ask => log.ask(id, asked, (now, self.plan.timing.answer)),
        };
        // A question shows that the agent works on the prompt.
        self.sign(now);
        self.answered_question(now, line);
    }

    /// Sends the answers to questions for permission, if there are any, and tells how the turn stands.
    pub(super) fn answered_question(&mut self, now: Now, lines: impl IntoIterator<Item = String>) {
        self.out.extend(lines.into_iter().map(Output::Send));
        let Stage::InTurn(log) = &self.stage else { return };
        let turn = Box::new(log.turn().clone());
        self.until = now.boot.after(self.plan.timing.silence);
        self.tell(Told::Turn(turn));
    }

    /// An operator has answered a question.
    pub(super) fn decided(&mut self, now: Now, answer: QuestionAnswer) {
        // Otherwise the question was withdrawn with its turn, or is too old.
        if let Stage::InTurn(log) = &mut self.stage
            && let Some(line) = log.decide(answer)
        {
            self.answered_question(now, Some(line));
        }
    }
}
