//! What an agent did in a turn that a run began, as far as it said so.
//!
//! Invariant: every text and list is bounded by `limits.rs` where it is filled (`adapter/agent`).

use crate::domain::{Actor, Address, Digest, Moment, RunId, names};

names! {
    /// How a turn ended.
    TurnOutcome {
        /// The agent ended its turn, and said or did something.
        Completed = "completed",
        /// A limit of the agent or of its model ended the turn: tokens or requests.
        CutShort = "cut-short",
        /// The model refused to go on.
        Refusal = "refusal",
        /// The turn was cancelled.
        Cancelled = "cancelled",
        /// The agent ended its turn as usual, and neither said nor did anything: it may be an error of its model.
        Doubtful = "doubtful",
        /// The agent answered the prompt with an error.
        Error = "error",
        /// The agent said nothing for too long, and was stopped.
        Silent = "silent",
        /// The turn took too long, and was stopped.
        TimedOut = "timed-out",
        /// The agent's process ended during the turn.
        Crashed = "crashed",
        /// The agent's process or ours ended, and the conversation shows the prompt and what the agent answered.
        Recovered = "recovered",
    }
}

names! {
    /// How a question for permission was answered.
    PermissionAnswer {
        /// A rule of the configuration or an operator allows it, this once.
        Allowed = "allowed",
        /// No rule allows it, or an operator denied it: it was refused, this once.
        Rejected = "rejected",
        /// No operator answered in time: it was refused, this once.
        Expired = "expired",
        /// The turn was stopped before anybody answered, or the agent offered neither to allow nor to refuse it once.
        Cancelled = "cancelled",
    }
}

/// A turn of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The run that began it.
    pub run: RunId,
    /// The conversation in which it was.
    pub address: Address,
    /// When the prompt was sent.
    pub started_at: Moment,
    /// When the agent first showed that it has the prompt.
    pub receipt_at: Option<Moment>,
    /// When the turn ended.
    pub ended_at: Option<Moment>,
    /// How it ended; `None` while it goes on.
    pub outcome: Option<TurnOutcome>,
    /// Why it ended, in the agent's word or ours.
    pub stop_reason: Option<Box<str>>,
    /// The agent's last message, or the beginning of it.
    pub text: Box<str>,
    /// What the turn used.
    pub usage: Usage,
    /// The tools that the agent called.
    pub tool_calls: Vec<ToolCall>,
    /// What the agent asked permission for.
    pub questions: Vec<Question>,
    /// The process of the agent.
    pub process: Option<u32>,
    /// The agent's name and version, in its own words.
    pub version: Option<Box<str>>,
}

/// What a turn used, as far as the agent says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// Tokens that the model read.
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    pub output_tokens: Option<u64>,
    /// Tokens in all.
    pub total_tokens: Option<u64>,
    /// The cost of the conversation so far, and its currency, as a decimal number in text.
    pub cost: Option<(Box<str>, Box<str>)>,
}

/// A tool that an agent called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The agent's id of the call.
    pub id: Box<str>,
    /// What it shows to people.
    pub title: Box<str>,
    /// The kind of tool, in the agent's word.
    pub kind: Box<str>,
    /// How it stands, in the agent's word.
    pub status: Box<str>,
}

/// What an agent asked permission for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What it shows to people.
    pub title: Box<str>,
    /// The kind of tool, in the agent's word.
    pub kind: Box<str>,
    /// What the tool is to do, as the agent says: its input, content and places, as JSON. `None` if the agent says nothing, or
    /// more than can be shown whole, and once the question is answered: a thousand turns are kept.
    pub details: Option<Box<str>>,
    /// Stands for the question, in the answer of an operator: no other question of any turn has it.
    pub digest: Digest,
    /// Until when an operator may answer; `None` if a rule did.
    pub until: Option<Moment>,
    /// How it was answered; `None` while it waits for an operator.
    pub answer: Option<PermissionAnswer>,
    /// The operator who answered; `None` if nobody did.
    pub by: Option<Actor>,
}

impl Turn {
    /// Returns whether the turn waits for an operator's answer.
    pub fn asks(&self) -> bool {
        self.questions.iter().any(|question| question.answer.is_none())
    }
}
