//! The ways in which a simulated host can treat one call, with weights for a random mix.

/// How a simulated host treats one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Behaviour {
    /// The host does it at once.
    Prompt,
    /// The host accepts it; the receipt follows when the test asks for it.
    Slow,
    /// The host accepts it; a failure follows when the test asks for it.
    SlowFailure,
    /// Creating a session fails. A prompt is done at once.
    FailCreate,
    /// The session is created but cannot be configured. A prompt is done at once.
    FailConfigure,
    /// A session is created at once. The prompt is refused, because its session could not be created.
    DenyCreate,
    /// A prompt is refused. A session is created at once.
    FailSubmit,
    /// The host accepts it and hangs. The engine waits until the receipt is overdue.
    LoseReceipt,
    /// The host does it at once and sends two further copies of the receipt later.
    RepeatReceipt,
    /// The host panics without running a panic hook.
    Panic,
}

impl Behaviour {
    /// Every behaviour, weighted so that most calls succeed and every fault occurs in most worlds.
    pub const MIXED: &[(Behaviour, u32)] = &[
        (Behaviour::Prompt, 8),
        (Behaviour::Slow, 8),
        (Behaviour::SlowFailure, 2),
        (Behaviour::FailCreate, 1),
        (Behaviour::FailConfigure, 1),
        (Behaviour::DenyCreate, 1),
        (Behaviour::FailSubmit, 1),
        (Behaviour::LoseReceipt, 1),
        (Behaviour::RepeatReceipt, 1),
        (Behaviour::Panic, 1),
    ];

    /// A host that does everything at once and never fails.
    pub const FAULTLESS: &[(Behaviour, u32)] = &[(Behaviour::Prompt, 1)];
}
