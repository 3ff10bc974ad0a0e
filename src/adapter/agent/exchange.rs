//! What goes into the machine of a conversation, and what comes out of it.

use super::wire::Incoming;
use crate::domain::{Address, Reason, RunId, Turn};
use crate::engine::QuestionAnswer;

/// What happens to the machine.
#[derive(Debug)]
pub enum Input {
    /// The process runs.
    Started {
        /// Its process id.
        process: Option<u32>,
    },
    /// A line came from the agent.
    Line(Incoming),
    /// The process has ended, with what it wrote to its error output at last.
    Ended(Box<str>),
    /// A prompt for the conversation.
    Prompt(Prompt),
    /// Is the prompt of this run in the conversation?
    Look(RunId),
    /// An operator has answered what the agent asks permission for.
    Decided(Box<QuestionAnswer>),
    /// A window has the conversation open.
    Held,
    /// The conversation is not ours any more.
    LetGo,
    /// Time has passed.
    Tick,
}

/// A prompt of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The run.
    pub run: RunId,
    /// What is said, with the mark of the run.
    pub text: Box<str>,
}

/// What the machine wants to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Write this line.
    Send(String),
    /// Ask the processes of the group to end.
    Terminate,
    /// End them.
    Kill,
    /// Something to tell.
    Told(Told),
}

/// What the machine has to tell.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// The agent began this conversation, or it has to be looked at with other eyes.
    Address(Address),
    /// The agent is started and the conversation is open.
    Open,
    /// The prompt of the run was not sent: why, and in whose words. With `Waits` it may be sent later.
    NotSent(RunId, NotSent),
    /// A turn begins.
    Began(RunId),
    /// The agent has the prompt.
    Receipt(RunId),
    /// The agent refused the prompt, or showed no sign of it: the run has failed.
    Failed(RunId, Reason, Box<str>),
    /// The process ended before the agent showed a sign of the prompt, which was sent.
    Doubt(RunId),
    /// What the conversation shows of a run.
    Found(RunId, Found),
    /// A turn as it stands; it is over if it has an outcome.
    Turn(Box<Turn>),
}

/// Why a prompt was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The conversation cannot be reached now.
    Waits(Reason, Box<str>),
    /// It cannot be reached at all.
    Fails(Reason, Box<str>),
}

/// What a conversation shows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Its prompt, and what the agent answered.
    Answered,
    /// Its prompt, and nothing after it.
    Unanswered,
    /// Not its prompt.
    Nothing,
    /// It cannot be found out.
    Unknown,
}
