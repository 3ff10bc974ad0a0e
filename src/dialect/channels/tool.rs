//! The tools and their declarations for models.
//!
//! Invariant: a tool is described once, in the EDN file of its name; a test compares its words and bounds with the parser.

use crate::domain::names;

names! {
    /// A tool of the dialect. Source: SEED-001, "Output via channels".
    Tool {
        /// Send a message through one channel.
        SendMessage = "channels.send_message",
        /// Send a message through several channels.
        Broadcast = "channels.broadcast",
        /// List the channels.
        ListProviders = "channels.list_providers",
        /// Look at one channel.
        ProviderStatus = "channels.provider_status",
        /// Let nothing through a channel for now. For operators, and for sessions where the channel says so.
        PauseProvider = "channels.pause_provider",
        /// Let messages through a channel again. For operators, and for sessions where the channel says so.
        ResumeProvider = "channels.resume_provider",
        /// List what went through channels.
        ProviderHistory = "channels.provider_history",
        /// Count what went through channels.
        Stats = "channels.stats",
        /// Answer the event that began this turn.
        Reply = "channels.reply",
        /// Try what comes in by a channel. For operators, and for sessions where the channel says so.
        SimulateEvent = "channels.simulate_event",
        /// Try a channel. For operators.
        TestSend = "channels.test_send",
    }
}

impl Tool {
    /// The declaration in EDN: a map with `:description` and `:input-schema`, a JSON Schema (2020-12).
    pub const fn declaration(self) -> &'static str {
        match self {
            Tool::SendMessage => include_str!("tools/send_message.edn"),
            Tool::Broadcast => include_str!("tools/broadcast.edn"),
            Tool::ListProviders => include_str!("tools/list_providers.edn"),
            Tool::ProviderStatus => include_str!("tools/provider_status.edn"),
            Tool::PauseProvider => include_str!("tools/pause_provider.edn"),
            Tool::ResumeProvider => include_str!("tools/resume_provider.edn"),
            Tool::ProviderHistory => include_str!("tools/provider_history.edn"),
            Tool::Stats => include_str!("tools/stats.edn"),
            Tool::Reply => include_str!("tools/reply.edn"),
            Tool::SimulateEvent => include_str!("tools/simulate_event.edn"),
            Tool::TestSend => include_str!("tools/test_send.edn"),
        }
    }

    /// Whether only operators have the tool.
    pub const fn is_for_operators(self) -> bool {
        matches!(self, Tool::TestSend)
    }

    /// Whether only operators have the tool, and sessions for channels whose configuration says so.
    pub const fn is_for_managers(self) -> bool {
        matches!(self, Tool::SimulateEvent | Tool::PauseProvider | Tool::ResumeProvider)
    }
}

/// The words for a direction. Source: SEED-001.
pub(super) const DIRECTIONS: &[&str] = &["all", "inbound", "outbound"];
