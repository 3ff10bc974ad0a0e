//! The seven tools and their declarations for models.
//!
//! What lives elsewhere: their fields and the schema of these (`field.rs`), and reading their arguments (`call.rs`).

use crate::domain::names;

names! {
    /// One of the crate's own tools.
    Tool {
        /// Schedule a prompt.
        Create = "create",
        /// List schedules.
        List = "list",
        /// Cancel a schedule.
        Cancel = "cancel",
        /// Change, pause or resume a schedule.
        Update = "update",
        /// Explain why a schedule has or has not fired, or when it will.
        Explain = "explain",
        /// Take what was left while nobody listened.
        Inbox = "inbox",
        /// Query the graph.
        Query = "query",
    }
}

impl Tool {
    /// What it does, for a model that chooses a tool.
    pub const fn description(self) -> &'static str {
        match self {
            Tool::Create => {
                "Schedule a prompt, once or again. when is in words: \"in 20 minutes\", \"tomorrow at 9\", \
                 \"every 2 hours\", or cron: \"0 9 * * 1\". Name the zone, or the server's is meant. \
                 The answer says what was understood and the next instants. Give a key if you may have to try again."
            }
            Tool::List => {
                "List the schedules of this session to come, the next one first: id, label, when, status, beginning of the \
                 message. explain has the whole."
            }
            Tool::Cancel => {
                "Cancel a schedule, by its id or by the key that it was created with. Once this is answered, it does not \
                 fire."
            }
            Tool::Update => {
                "Change a schedule's time, message or label; or pause or resume it. What is left out stays."
            }
            Tool::Explain => {
                "Say why a schedule has fired, or has not, or when it will; with slot, run, obstacles and the whole message."
            }
            Tool::Inbox => "Take what came due while nobody ran this session, each message once.",
            Tool::Query => {
                "Read schedules, runs and decisions in EQL. \
                 [{(:psi.graph/attributes {:entity :schedule}) [:reveille.attribute/ident]}] lists what there is."
            }
        }
    }
}
