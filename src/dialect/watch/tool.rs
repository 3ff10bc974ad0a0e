//! The seven tools of SEED-001, `ping.age`, which is made to be watched, and their declarations for models.
//!
//! The arguments are parsed in `call.rs`. Invariant: a tool is described once, in the EDN file of its name, in the form that
//! the toolbox prints; a test compares its words and bounds with the parser.

use crate::domain::{NotifyWhen, names};

names! {
    /// A tool of the dialect. Source: SEED-001.
    Tool {
        /// Start a watch.
        Start = "watch_start",
        /// End a watch.
        Stop = "watch_stop",
        /// Make no checks until the watch is resumed.
        Pause = "watch_pause",
        /// Make checks again.
        Resume = "watch_resume",
        /// Show a watch.
        Status = "watch_status",
        /// List the watches.
        List = "watch_list",
        /// Show the newest checks of a watch.
        History = "watch_history",
        /// Say how long ago this session was last pinged under a name. It is ours, and not the seed's.
        PingAge = "ping.age",
    }
}

impl Tool {
    /// The declaration in EDN: a map with `:description` and `:input-schema`, a JSON Schema (2020-12).
    pub const fn declaration(self) -> &'static str {
        match self {
            Tool::Start => include_str!("tools/watch_start.edn"),
            Tool::Stop => include_str!("tools/watch_stop.edn"),
            Tool::Pause => include_str!("tools/watch_pause.edn"),
            Tool::Resume => include_str!("tools/watch_resume.edn"),
            Tool::Status => include_str!("tools/watch_status.edn"),
            Tool::List => include_str!("tools/watch_list.edn"),
            Tool::History => include_str!("tools/watch_history.edn"),
            Tool::PingAge => include_str!("tools/ping_age.edn"),
        }
    }
}

/// The strategies by the names that SEED-001 gives them, in the order of [`NotifyWhen::ALL`].
pub(in crate::dialect) const STRATEGIES: &[&str] =
    &["on_change", "on_error", "on_threshold", "summary", "always"];

/// The name that SEED-001 gives a strategy.
pub(in crate::dialect) fn name_of(when: NotifyWhen) -> &'static str {
    let place = NotifyWhen::ALL.iter().position(|known| *known == when);
    place.and_then(|place| STRATEGIES.get(place)).copied().unwrap_or_default()
}
