//! What became of the calls of one tool.

/// The calls of a tool that have ended since the process began. Calls that were cancelled do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCounts {
    /// How many calls have ended.
    pub calls: u64,
    /// How many of them have failed.
    pub failures: u64,
    /// Why the last of those has failed.
    pub last_error: Option<Box<str>>,
}
