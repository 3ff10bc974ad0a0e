//! How a simulated host treats one call.

/// One way to treat one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Behaviour {
    /// Done at once.
    Prompt,
    /// Taken; the receipt follows when the test says so.
    Slow,
    /// Taken; a failure follows when the test says so.
    SlowFailure,
    /// The fresh session cannot be created. A prompt is done at once.
    FailCreate,
    /// The fresh session is created but cannot be configured. A prompt is done at once.
    FailConfigure,
    /// The prompt is refused. A session is created at once.
    FailSubmit,
    /// Taken, and never heard of again: a host that hangs. The engine waits for its receipt until that is overdue.
    LoseReceipt,
    /// Done at once, and the same receipt twice more later.
    RepeatReceipt,
    /// The host panics, quietly: no panic hook runs.
    Panic,
}

impl Behaviour {
    /// Every behaviour, each as likely as the faults that it stands for are worth looking at.
    pub const MIXED: &[(Behaviour, u32)] = &[
        (Behaviour::Prompt, 8),
        (Behaviour::Slow, 8),
        (Behaviour::SlowFailure, 2),
        (Behaviour::FailCreate, 1),
        (Behaviour::FailConfigure, 1),
        (Behaviour::FailSubmit, 1),
        (Behaviour::LoseReceipt, 1),
        (Behaviour::RepeatReceipt, 1),
        (Behaviour::Panic, 1),
    ];

    /// No fault at all.
    pub const FAULTLESS: &[(Behaviour, u32)] = &[(Behaviour::Prompt, 1)];
}
