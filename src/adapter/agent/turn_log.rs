//! The record of a turn while it goes on: bounded, and truthful about what was not said.

use std::collections::BTreeMap;

use serde_json::Value;

use super::details::Details;
use super::questions::Questions;
use super::wire::{self, Asked, Update};
use crate::domain::{Address, BootTime, Moment, Now, RunId, Span, ToolCall, Turn, TurnOutcome, Usage};
use crate::engine::QuestionAnswer;
use crate::limits::{self, Limit};

/// A turn that goes on.
#[derive(Debug)]
pub(super) struct TurnLog {
    turn: Turn,
    /// Whether what the agent says next begins a new message.
    is_new: bool,
    /// Why we stop it, if we do.
    cause: Option<TurnOutcome>,
    has_done: bool,
    /// The questions that wait for an operator.
    questions: Questions,
    /// What the agent said of the calls that have not ended, by their ids.
    details: BTreeMap<Box<str>, Details>,
}

impl TurnLog {
    /// Begins the record of a turn.
    pub(super) fn new(run: RunId, address: Address, now: Moment) -> TurnLog {
        let turn = Turn {
            run,
            address,
            started_at: now,
            receipt_at: None,
            ended_at: None,
            outcome: None,
            stop_reason: None,
            text: "".into(),
            usage: Usage::default(),
            tool_calls: Vec::new(),
            questions: Vec::new(),
            process: None,
            version: None,
        };
        TurnLog {
            turn,
            is_new: false,
            cause: None,
            has_done: false,
            questions: Questions::default(),
            details: BTreeMap::new(),
        }
    }

    pub(super) fn by(mut self, process: Option<u32>, version: Option<Box<str>>) -> TurnLog {
        self.turn.process = process;
        self.turn.version = version;
        self
    }

    pub(super) fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Notes that the agent has the prompt; returns whether this is the first sign of it.
    pub(super) fn receive(&mut self, now: Moment) -> bool {
        let is_first = self.turn.receipt_at.is_none();
        self.turn.receipt_at.get_or_insert(now);
        is_first
    }

    pub(super) fn is_received(&self) -> bool {
        self.turn.receipt_at.is_some()
    }

    pub(super) fn note(&mut self, update: Update) {
        match update {
            Update::Said(text) => {
                self.has_done |= !text.trim().is_empty();
                // Only the last message is retained.
                let mut whole = if std::mem::take(&mut self.is_new) {
                    String::new()
                } else {
                    String::from(std::mem::take(&mut self.turn.text))
                };
                let room = most(limits::TURN_TEXT_BYTES).saturating_sub(whole.len());
                whole.push_str(wire::cut(&text, room));
                self.turn.text = whole.into();
            }
            Update::Tool(id, parts, details) => {
                self.has_done = true;
                self.is_new = true;
                self.note_details(&id, parts[2].as_deref(), details);
                self.note_tool(id, parts);
            }
            // What the agent says behind a prompt or a thought is another message.
            Update::User(_) | Update::Thought => self.is_new = true,
            Update::Cost(amount, currency) => self.turn.usage.cost = Some((amount, currency)),
            Update::Other => {}
        }
    }

    fn note_tool(&mut self, id: Box<str>, [title, kind, status]: [Option<Box<str>>; 3]) {
        if let Some(call) = self.turn.tool_calls.iter_mut().find(|call| call.id == id) {
            call.title = title.unwrap_or_else(|| std::mem::take(&mut call.title));
            call.kind = kind.unwrap_or_else(|| std::mem::take(&mut call.kind));
            call.status = status.unwrap_or_else(|| std::mem::take(&mut call.status));
        } else if self.turn.tool_calls.len() < most(limits::TURN_TOOL_CALLS) {
            let [title, kind, status] = [title, kind, status].map(Option::unwrap_or_default);
            self.turn.tool_calls.push(ToolCall { id, title, kind, status });
        }
    }

    fn note_details(&mut self, id: &str, status: Option<&str>, details: Details) {
        if matches!(status, Some("completed" | "failed")) {
            self.details.remove(id);
        } else if let Some(earlier) = self.details.get_mut(id) {
            earlier.amend(details);
        } else if self.details.len() < most(limits::TURN_TOOL_CALLS) {
            self.details.insert(id.into(), details);
        }
    }

    /// Completes a question that names a call of which the agent has told more before.
    pub(super) fn complete(&self, asked: &mut Asked) {
        if let Some(earlier) = self.details.get(&asked.call) {
            let later = std::mem::replace(&mut asked.details, earlier.clone());
            asked.details.amend(later);
        }
        let Some(call) = self.turn.tool_calls.iter().find(|call| call.id == asked.call) else { return };
        for (part, known) in [(&mut asked.title, &call.title), (&mut asked.kind, &call.kind)] {
            if part.is_empty() {
                part.clone_from(known);
            }
        }
    }

    /// Notes a question that a rule answers. Returns the line with the answer.
    pub(super) fn answer(&mut self, id: &Value, asked: &Asked, is_allowed: bool) -> String {
        Questions::answer(&mut self.turn, id, asked, is_allowed)
    }

    /// Asks an operator, for so long at most. Returns the line with the answer if nobody can be asked.
    pub(super) fn ask(&mut self, id: Value, asked: Asked, (now, patience): (Now, Span)) -> Option<String> {
        self.questions.ask(&mut self.turn, id, asked, (now, patience))
    }

    /// Returns when something has to be done about the turn, which may be silent and may last until these times. An agent that
    /// waits for an operator is not silent.
    pub(super) fn stops(&self, silent_until: BootTime, turn_until: BootTime) -> BootTime {
        self.questions.until().unwrap_or(silent_until).min(turn_until)
    }

    /// Returns whether a question is too old that waits.
    pub(super) fn asks_too_long(&self, now: BootTime) -> bool {
        self.questions.until().is_some_and(|until| until <= now)
    }

    /// Notes what an operator has decided. Returns the line with the answer, if that question waits.
    pub(super) fn decide(&mut self, answer: QuestionAnswer) -> Option<String> {
        self.questions.decide(&mut self.turn, answer)
    }

    /// Answers the questions that are too old. Returns the lines.
    pub(super) fn expire(&mut self, now: BootTime) -> Vec<String> {
        self.questions.expire(&mut self.turn, now)
    }

    /// Answers all questions that wait, because the turn is stopped. Returns the lines.
    pub(super) fn withdraw(&mut self) -> Vec<String> {
        self.questions.withdraw(&mut self.turn)
    }

    /// Notes the answer to the prompt. Of an agent that says tokens, nothing is done without them, whatever it has said.
    pub(super) fn answered(&mut self, answer: &Value, says_tokens: bool) {
        self.turn.stop_reason = Some(wire::stop_reason(answer).into());
        let [input_tokens, output_tokens, total_tokens] = wire::tokens(answer);
        // The cost comes with updates, and not with the answer.
        let cost = self.turn.usage.cost.take();
        self.turn.usage = Usage { input_tokens, output_tokens, total_tokens, cost };
        let has_written = output_tokens.is_some_and(|tokens| tokens > 0);
        self.has_done = has_written || self.has_done && !says_tokens;
    }

    /// Notes that the prompt was answered with an error.
    pub(super) fn failed(&mut self, message: &str) {
        self.turn.stop_reason = Some(message.into());
        self.turn.outcome = Some(TurnOutcome::Error);
    }

    /// Notes why we stop the turn.
    pub(super) fn stop(&mut self, cause: TurnOutcome) {
        self.cause = Some(cause);
    }

    pub(super) fn cause(&self) -> TurnOutcome {
        self.cause.unwrap_or(TurnOutcome::Cancelled)
    }

    /// Ends the record, with this outcome or the one that the agent's answer has.
    pub(super) fn end(mut self, now: Moment, outcome: Option<TurnOutcome>) -> Turn {
        let told = match self.turn.stop_reason.as_deref() {
            Some("end_turn") if self.has_done => TurnOutcome::Completed,
            Some("max_tokens" | "max_turn_requests") => TurnOutcome::CutShort,
            Some("refusal") => TurnOutcome::Refusal,
            Some("cancelled") => TurnOutcome::Cancelled,
            // Success without a word: some agents end a turn so whose model answered with an error.
            Some(_) | None => TurnOutcome::Doubtful,
        };
        // The agent has ended the turn, so it waits for no answer.
        self.withdraw();
        self.turn.outcome = outcome.or(self.turn.outcome).or(Some(told));
        self.turn.ended_at = Some(now);
        self.turn
    }
}

fn most(limit: Limit) -> usize {
    usize::try_from(limit.value).unwrap_or(usize::MAX)
}
