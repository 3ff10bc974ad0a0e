//! What the host of an agent knows of why it cannot reach a conversation, beyond the reason.

/// What stands between the host of an agent and a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obstacle {
    /// The process that has the conversation open.
    pub holder: Option<HolderProcess>,
    /// What the agent wrote when its start failed last, without what looks like a secret.
    pub error: Option<Box<str>>,
}

/// A process that has a conversation open, and is not one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HolderProcess {
    /// Its process id; `None` if the agent does not say it.
    pub pid: Option<u32>,
    /// Whether a turn is going on there.
    pub busy: bool,
}
