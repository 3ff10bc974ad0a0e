//! What a schedule tells people without a turn: the model does not run on it.
//!
//! What lives elsewhere: how a host shows it. Invariant: a path is the caller's; nothing here opens a file.

use super::names;

names! {
    /// What a notice is about.
    About {
        /// Something that was to be said at a time.
        Reminder = "reminder",
        /// A job that is ready.
        JobReady = "job-ready",
    }
}

/// What is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is about.
    pub about: About,
    /// What it says; with a file, it may say nothing.
    pub text: Box<str>,
    /// The file that goes with it.
    pub file: Option<Attachment>,
}

/// A file, for whoever shows a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Where it is, as the host knows its files.
    pub path: Box<str>,
    /// What it is to be called; `None` for its own name.
    pub name: Option<Box<str>>,
}
