//! What an agent asks permission for in a turn, and how it is answered: by a rule at once, or by an operator in time.
//!
//! What lives elsewhere: the rules (`plan.rs`). Invariants: each question is answered exactly once, and never for always; an
//! operator is asked about nothing that cannot be shown whole.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::plan;
use super::wire::{self, Asked};
use crate::domain::{BootTime, Digest, Moment, Now, PermissionAnswer, Question, Span, Turn};
use crate::engine::QuestionAnswer;
use crate::limits;

/// The questions that wait for an operator.
#[derive(Debug, Default)]
pub(super) struct Questions(Vec<Waiting>);

#[derive(Debug)]
struct Waiting {
    /// Where it is among the questions of the turn.
    at: usize,
    /// The agent's id of the request.
    id: Value,
    asked: Asked,
    until: BootTime,
}

impl Questions {
    /// Notes a question that a rule answers. Returns the line with the answer.
    pub(super) fn answer(turn: &mut Turn, id: &Value, asked: &Asked, is_allowed: bool) -> String {
        let (answer, option) = plan::answer(asked, is_allowed);
        // Beyond the bound a question is answered all the same. It is only not listed.
        if has_room(turn) {
            let question = question(turn, asked, None);
            turn.questions.push(question);
            note(turn, turn.questions.len() - 1, answer);
        }
        wire::permit(id, option)
    }

    /// Asks an operator, for so long at most. Returns the line with the answer if nobody can be asked.
    pub(super) fn ask(
        &mut self,
        turn: &mut Turn,
        id: Value,
        asked: Asked,
        (now, patience): (Now, Span),
    ) -> Option<String> {
        // Nobody can approve what cannot be shown, so it is refused at once.
        if asked.details.text().is_err() || !has_room(turn) {
            return Some(Questions::answer(turn, &id, &asked, false));
        }
        let question = question(turn, &asked, now.wall.checked_add(patience));
        let at = turn.questions.len();
        turn.questions.push(question);
        self.0.push(Waiting { at, id, asked, until: now.boot.after(patience) });
        None
    }

    /// Returns when the first of them is too old.
    pub(super) fn until(&self) -> Option<BootTime> {
        self.0.iter().map(|waiting| waiting.until).min()
    }

    /// Notes what an operator has decided. Returns the line with the answer, if that question waits.
    pub(super) fn decide(&mut self, turn: &mut Turn, answer: QuestionAnswer) -> Option<String> {
        let is_it = |waiting: &mut Waiting| {
            turn.questions.get(waiting.at).is_some_and(|question| question.digest == answer.question)
        };
        let waiting = self.0.extract_if(.., is_it).next()?;
        let (said, option) = plan::answer(&waiting.asked, answer.is_allowed);
        note(turn, waiting.at, said);
        if let Some(question) = turn.questions.get_mut(waiting.at) {
            question.by = Some(answer.by);
        }
        Some(wire::permit(&waiting.id, option))
    }

    /// Refuses those that are too old. Returns the lines.
    pub(super) fn expire(&mut self, turn: &mut Turn, now: BootTime) -> Vec<String> {
        let expired = self.0.extract_if(.., |waiting| waiting.until <= now);
        let refuse = |waiting: Waiting| {
            note(turn, waiting.at, PermissionAnswer::Expired);
            wire::permit(&waiting.id, plan::answer(&waiting.asked, false).1)
        };
        expired.map(refuse).collect()
    }

    /// Withdraws all of them. Returns the lines.
    pub(super) fn withdraw(&mut self, turn: &mut Turn) -> Vec<String> {
        let withdraw = |waiting: Waiting| {
            note(turn, waiting.at, PermissionAnswer::Cancelled);
            wire::permit(&waiting.id, None)
        };
        self.0.drain(..).map(withdraw).collect()
    }
}

fn has_room(turn: &Turn) -> bool {
    (turn.questions.len() as u64) < limits::TURN_QUESTIONS.value
}

fn note(turn: &mut Turn, at: usize, answer: PermissionAnswer) {
    if let Some(question) = turn.questions.get_mut(at) {
        question.answer = Some(answer);
        // Nobody decides by them any more.
        question.details = None;
    }
}

fn question(turn: &Turn, asked: &Asked, until: Option<Moment>) -> Question {
    let details = asked.details.text().unwrap_or_default();
    let (number, title, kind) = (turn.questions.len(), asked.title.clone(), asked.kind.clone());
    // Debug output quotes texts, so different questions have different texts.
    let text = format!("{} {number} {title:?} {kind:?} {details:?}", turn.run);
    let digest = Digest(Sha256::digest(text.as_bytes()).into());
    Question { title, kind, details, digest, until, answer: None, by: None }
}
