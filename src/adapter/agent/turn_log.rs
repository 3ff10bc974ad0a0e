//! The record of a turn while it goes on: bounded, and truthful about what was not said.

use serde_json::Value;

use super::wire::{self, Asked, Update};
use crate::domain::{Address, Moment, PermissionAnswer, Question, RunId, ToolCall, Turn, TurnOutcome, Usage};
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
        TurnLog { turn, is_new: false, cause: None, has_done: false }
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
                let mut whole = if std::mem::take(&mut self.is_new) {
                    String::new()
                } else {
                    String::from(std::mem::take(&mut self.turn.text))
                };
                let room = most(limits::TURN_TEXT_BYTES).saturating_sub(whole.len());
                whole.push_str(wire::cut(&text, room));
                self.turn.text = whole.into();
            }
            Update::Tool(id, parts) => {
                self.has_done = true;
                self.is_new = true;
                self.note_tool(id, parts);
            }
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

    pub(super) fn asked(&mut self, asked: &Asked, answer: PermissionAnswer) {
        if self.turn.questions.len() < most(limits::TURN_QUESTIONS) {
            let (title, kind) = (asked.title.clone(), asked.kind.clone());
            self.turn.questions.push(Question { title, kind, answer });
        }
    }

    /// Notes the answer to the prompt.
    pub(super) fn answered(&mut self, answer: &Value) {
        self.turn.stop_reason = Some(wire::stop_reason(answer).into());
        let [input_tokens, output_tokens, total_tokens] = wire::tokens(answer);
        let cost = self.turn.usage.cost.take();
        self.turn.usage = Usage { input_tokens, output_tokens, total_tokens, cost };
        self.has_done |= output_tokens.is_some_and(|tokens| tokens > 0);
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
        self.turn.outcome = outcome.or(self.turn.outcome).or(Some(told));
        self.turn.ended_at = Some(now);
        self.turn
    }
}

fn most(limit: Limit) -> usize {
    usize::try_from(limit.value).unwrap_or(usize::MAX)
}
