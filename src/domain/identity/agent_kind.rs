//! What is known of agents by their names: one row for each. Everything that treats an agent in its own way asks this table.
//!
//! What lives elsewhere: how a user runs an agent (`app/config/agent_hosts.rs`), and what we write into its configuration
//! (`app/agents/folder.rs`, `app/agents/setup.rs`). The facts come from the agents themselves, run unmodified; docs/AGENTS.md
//! names their versions.

use crate::domain::Span;

/// What is known of agents of a kind.
#[derive(Debug, PartialEq, Eq)]
pub struct AgentKind {
    /// The name under which it is configured, and with which its addresses begin; empty for an agent of which nothing is known.
    pub(crate) name: &'static str,
    /// The program as people start it; `None` if it goes by the name under which the agent is configured.
    pub(crate) program: Option<&'static str>,
    /// The program that speaks the Agent Client Protocol, and its arguments.
    pub(crate) resumed_by: Option<&'static str>,
    pub(crate) resumed_with: &'static [&'static str],
    /// The command that lists who has which conversation open, as arguments of its program.
    pub(crate) lister: &'static [&'static str],
    /// The variable that names the directory of its settings.
    pub(crate) settings_variable: Option<&'static str>,
    /// Where a login may be: variables, and files below the user's home directory.
    pub(crate) login_variables: &'static [&'static str],
    pub(crate) login_files: &'static [&'static str],
    /// How an open, idle window is woken.
    pub(crate) live: LiveDoor,
    /// Whether a hook at the end of a turn can hand over a prompt, with which the agent goes on.
    pub(crate) takes_at_turn_end: bool,
    /// Whether one process has many conversations at a time.
    pub(crate) has_many_conversations: bool,
    /// The variable in which a process finds the conversation that it was started in. It is wrong once the agent goes on with
    /// another one.
    pub(crate) conversation_variable: Option<&'static str>,
    /// The variable in which a hook finds its agent's process, for agents that put a shell between them.
    pub(crate) process_variable: Option<&'static str>,
    /// The name under which the agent calls tool servers, if its calls have the conversation in their metadata.
    pub(crate) tool_client: Option<&'static str>,
    /// Who knows the holder of a conversation.
    pub(crate) holder: HolderKnown,
    /// What is taken as proof that a conversation goes on.
    pub(crate) believes: Believes,
    /// The mode in which the agent asks before it does anything.
    pub(crate) mode: Option<&'static str>,
    /// How old a conversation has to be before it can be loaded.
    pub(crate) age: Span,
    /// Whether a conversation is lost when it is loaded a second time.
    pub(crate) loads_once: bool,
    /// Whether it says with each turn how many tokens its model has written, and with a turn in which the model gave an error
    /// says nothing: it ends such a turn as usual, with the error as its own words.
    pub(crate) says_tokens: bool,
}

/// How an open, idle window is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LiveDoor {
    /// A hook that waits wakes the agent when it ends.
    Hook,
    /// A waiter beside the agent puts what is due into the queue of the conversation, by a command of the agent.
    Queue,
    /// A waiter beside the agent sends what is due to the socket of the window.
    Socket,
    /// A plugin within the agent listens.
    Plugin,
    /// Not at all.
    Closed,
}

/// Who knows the holder of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HolderKnown {
    /// A command of the agent lists the holders: `claude agents --json`.
    Listed,
    /// Each window writes down which conversation it has open. Of a window that does not, nobody knows.
    WrittenDown,
    /// The agent itself refuses to open a conversation for a second writer, with an error that says this.
    ByAgent(&'static str),
    /// Nobody knows what a window has open, but several writers do no harm: a conversation is free while no window of the agent
    /// works in its directory.
    Windows,
    /// Nobody: only a conversation that we began is known to be free, while no window of the agent works in its directory.
    Ours,
}

/// What is taken as proof that a conversation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Believes {
    /// The agent's answer to the opening.
    Answer,
    /// A replay of the conversation: without one, the conversation is not there.
    Replay,
}

impl AgentKind {
    /// Returns what is known of agents of this name.
    pub fn of(name: &str) -> &'static AgentKind {
        KNOWN.iter().find(|kind| kind.name == name).unwrap_or(&UNKNOWN)
    }
}

#[cfg(feature = "cli")]
impl LiveDoor {
    /// Returns the word for people.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            LiveDoor::Hook => "hook",
            LiveDoor::Queue => "queue",
            LiveDoor::Socket => "socket",
            LiveDoor::Plugin => "plugin",
            LiveDoor::Closed => "none",
        }
    }

    /// Returns whether the waiter is a process beside the agent, since the hooks of the agent have to end before a turn goes on.
    pub(crate) const fn is_beside(self) -> bool {
        matches!(self, LiveDoor::Queue | LiveDoor::Socket)
    }
}

/// An agent of which nothing is known. Some answer the opening of what is not there with success, so only a replay is believed.
const UNKNOWN: AgentKind = AgentKind {
    name: "",
    program: None,
    resumed_by: None,
    resumed_with: &[],
    lister: &[],
    settings_variable: None,
    login_variables: &[],
    login_files: &[],
    live: LiveDoor::Closed,
    takes_at_turn_end: false,
    has_many_conversations: false,
    conversation_variable: None,
    process_variable: None,
    tool_client: None,
    holder: HolderKnown::Ours,
    believes: Believes::Replay,
    mode: None,
    age: Span::ZERO,
    loads_once: false,
    says_tokens: false,
};

/// The agents that are known, in the order in which they are shown.
pub(crate) const KNOWN: &[AgentKind] = &[
    AgentKind {
        name: "claude",
        program: Some("claude"),
        resumed_by: Some("claude-agent-acp"),
        lister: &["agents", "--json"],
        settings_variable: Some("CLAUDE_CONFIG_DIR"),
        login_variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
        login_files: &[".claude/.credentials.json"],
        live: LiveDoor::Hook,
        takes_at_turn_end: true,
        conversation_variable: Some("CLAUDE_CODE_SESSION_ID"),
        process_variable: Some("CLAUDE_PID"),
        holder: HolderKnown::Listed,
        believes: Believes::Answer,
        mode: Some("default"),
        ..UNKNOWN
    },
    AgentKind {
        name: "codex",
        program: Some("codex"),
        resumed_by: Some("codex-acp"),
        settings_variable: Some("CODEX_HOME"),
        login_variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        login_files: &[".codex/auth.json"],
        live: LiveDoor::Queue,
        has_many_conversations: true,
        tool_client: Some("codex-mcp-client"),
        holder: HolderKnown::ByAgent("active writer"),
        believes: Believes::Answer,
        mode: Some("read-only"),
        says_tokens: true,
        ..UNKNOWN
    },
    AgentKind {
        name: "opencode",
        program: Some("opencode"),
        resumed_by: Some("opencode"),
        resumed_with: &["acp"],
        // It takes the keys of many providers, and its own file has those that it was given.
        login_variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
        login_files: &[".local/share/opencode/auth.json"],
        // It hands over at the end of a turn, too.
        live: LiveDoor::Plugin,
        has_many_conversations: true,
        holder: HolderKnown::Windows,
        believes: Believes::Answer,
        ..UNKNOWN
    },
    AgentKind {
        name: "gemini",
        program: Some("gemini"),
        resumed_by: Some("gemini"),
        resumed_with: &["--acp"],
        login_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        login_files: &[".gemini/oauth_creds.json"],
        takes_at_turn_end: true,
        believes: Believes::Answer,
        mode: Some("default"),
        // Loading a conversation in the minute in which it was begun wipes it, and so does loading it a second time (0.61).
        age: Span::from_millis(61_000),
        loads_once: true,
        ..UNKNOWN
    },
    AgentKind {
        name: "qwen",
        program: Some("qwen"),
        resumed_by: Some("qwen"),
        resumed_with: &["--acp"],
        settings_variable: Some("QWEN_HOME"),
        login_variables: &["DASHSCOPE_API_KEY", "OPENAI_API_KEY"],
        login_files: &[".qwen/oauth_creds.json"],
        live: LiveDoor::Socket,
        takes_at_turn_end: true,
        holder: HolderKnown::WrittenDown,
        believes: Believes::Answer,
        mode: Some("default"),
        ..UNKNOWN
    },
    AgentKind {
        name: "goose",
        program: Some("goose"),
        resumed_by: Some("goose"),
        resumed_with: &["acp"],
        login_files: &[".config/goose/config.yaml"],
        ..UNKNOWN
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_one_row_and_all_others_share_one() {
        let mut names: Vec<&str> = KNOWN.iter().map(|kind| kind.name).collect();
        assert!(names.iter().all(|name| AgentKind::of(name).name == *name));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KNOWN.len());
        assert_eq!(AgentKind::of("my-agent"), &UNKNOWN);
    }
}
