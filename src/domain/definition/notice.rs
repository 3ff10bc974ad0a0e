//! Notices: what a schedule tells people in a session without a turn, so that the model does not
//! run.
//!
//! What lives elsewhere: how a host shows a notice. Invariant: a path comes from the caller, and
//! nothing here opens a file.

use crate::domain::names;

names! {
    /// What a notice is about.
    About {
        /// A reminder that was asked for.
        Reminder = "reminder",
        /// A job that is ready.
        JobReady = "job-ready",
    }
}

/// A message for people, to which the model does not react.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The subject of the notice.
    pub about: About,
    /// The text; it may be empty if there is a file.
    pub text: Box<str>,
    /// The file that goes with the notice.
    pub file: Option<Attachment>,
}

/// A file that a host shows together with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The path of the file, as the host sees its file system.
    pub path: Box<str>,
    /// The name to show; `None` for the file's own name.
    pub name: Option<Box<str>>,
}
