//! Reads what an agent gives its hooks: one JSON object on stdin.

use std::io::{self, Read};
use std::path::PathBuf;

use super::schedules;
use crate::dialect::REQUEST_CAPS;
use crate::domain::{Address, AgentKind, AgentName, AgentSchedules, LiveDoor};
use crate::edn::{Caps, Value};
use crate::service::AgentProcess;
use crate::surface::json;

/// What happened in the agent's conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookEvent {
    /// A process goes on with a conversation, new or old.
    Begins,
    /// A person has written, and a turn begins.
    Prompted,
    /// A turn has ended.
    TurnEnds,
    /// The agent has waited for a person for a while. After a turn that the person has cut short there is no other sign.
    Idles,
    /// A process is done with a conversation.
    Ends,
}

impl HookEvent {
    /// Reads an event by its name in Claude Code, Codex or Gemini CLI.
    fn parse(name: &str) -> Option<HookEvent> {
        Some(match name {
            "SessionStart" => HookEvent::Begins,
            "UserPromptSubmit" | "BeforeAgent" => HookEvent::Prompted,
            "Stop" | "AfterAgent" => HookEvent::TurnEnds,
            "Notification" => HookEvent::Idles,
            "SessionEnd" => HookEvent::Ends,
            // Agents have many more events than are of interest here.
            _ => return None,
        })
    }
}

/// What a hook was given.
pub(super) struct HookInput {
    /// The agent's process, if it is known.
    pub(super) process: Option<AgentProcess>,
    pub(super) event: HookEvent,
    /// The agent's conversation.
    pub(super) address: Address,
    /// What a person has written.
    pub(super) prompt: Option<String>,
    /// The file in which the agent writes the conversation down, of agents that show prompts of ours there and to no hook.
    pub(super) transcript: Option<PathBuf>,
    /// The schedules that the agent holds itself for the conversation, if it names them.
    pub(super) schedules: Option<AgentSchedules>,
}

impl HookInput {
    /// Reads stdin; `None` if it is not what a hook is given, or an event that is not for us.
    pub(super) fn read(agent: &AgentName, input: impl Read) -> Option<HookInput> {
        let mut text = Vec::new();
        input.take(BYTES_MAX).read_to_end(&mut text).ok()?;
        HookInput::parse(agent, &text)
    }

    /// What is known of the agent.
    pub(super) fn kind(&self) -> &'static AgentKind {
        AgentKind::of(self.address.agent().as_str())
    }

    fn parse(agent: &AgentName, text: &[u8]) -> Option<HookInput> {
        let value = json::read(text, &CAPS).ok()?;
        let field = |name: &str| value.as_map()?.text(name).and_then(Value::as_str);
        let address = Address::of(agent.clone()).with_conversation(field("session_id")?).ok()?;
        // Where the agent was started; a conversation without one is still a conversation.
        let address = match field("cwd").map(|path| address.clone().in_directory(path)) {
            Some(Ok(whole)) => whole,
            Some(Err(_)) | None => address,
        };
        let event = HookEvent::parse(field("hook_event_name")?)?;
        let prompt = field("prompt").map(str::to_owned);
        let is_shown_there = AgentKind::of(agent.as_str()).live == LiveDoor::Socket;
        let transcript = field("transcript_path").filter(|_| is_shown_there).map(PathBuf::from);
        let schedules = value.as_map().and_then(schedules::parse);
        Some(HookInput { process: None, event, address, prompt, transcript, schedules })
    }
}

/// The standard input of this process.
pub(super) fn stdin() -> impl Read {
    io::stdin().lock()
}

/// Far more than a hook is given, prompts with pasted files included.
const BYTES_MAX: u64 = 16 << 20;
const CAPS: Caps = Caps { bytes_max: 16 << 20, forms_max: 1_000_000, ..REQUEST_CAPS };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_hooks_input_is_nothing() {
        let claude = AgentName::new("claude").unwrap();
        for text in
            ["", "{}", "[]", r#"{"session_id":"a b","hook_event_name":"Stop"}"#, r#"{"session_id":"a"}"#]
        {
            assert!(HookInput::parse(&claude, text.as_bytes()).is_none(), "{text}");
        }
        let text = r#"{"session_id":"a","hook_event_name":"Stop","cwd":"relative","session_crons":[{}]}"#;
        let input = HookInput::parse(&claude, text.as_bytes()).unwrap();
        assert_eq!((input.address.to_string().as_str(), input.event), ("claude:a", HookEvent::TurnEnds));
        assert_eq!(
            input.schedules, None,
            "what has another shape is nothing, and the turn ends all the same"
        );
    }
}
