//! The address of a session: the agent behind it, and that agent's own conversation.
//!
//! What lives elsewhere: how an agent is started and reached (`adapter/agent`), and who holds a conversation now.
//!
//! Invariant: every text of an address is bounded and holds no control character; a directory is an absolute path.

use std::fmt;
use std::str::FromStr;

use crate::limits;

/// Why a text is not an address, or not a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The name of the agent has other characters, or too many.
    #[error("an agent's name has 1 to {} lower-case letters, digits and hyphens", limits::AGENT_NAME_BYTES.value)]
    Agent,
    /// The id of the conversation is blank, has spaces or control characters, or is too long.
    #[error("a conversation's id has 1 to {} printable characters without blanks", limits::ID_BYTES.value)]
    Conversation,
    /// The directory is not an absolute path, or too long.
    #[error("a directory is an absolute path of at most {} bytes", limits::PATH_BYTES.value)]
    Directory,
    /// A directory or a profile without an agent.
    #[error("a directory and a profile belong to an address")]
    NoAgent,
}

/// The name of an agent, or of a profile of it: `claude`, `codex`, `opencode`, `gemini`, `qwen`, or any other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentName(Box<str>);

/// Where a session's turns are: an agent's own conversation. Its text is `AGENT:CONVERSATION`, or `AGENT` for a conversation
/// that the agent has yet to begin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    agent: AgentName,
    conversation: Option<Box<str>>,
    directory: Option<Box<str>>,
    profile: Option<AgentName>,
    /// Whether we began the conversation, so that nobody else knows of it.
    is_ours: bool,
}

impl AgentName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`AddressError::Agent`]
    pub fn new(text: &str) -> Result<AgentName, AddressError> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (1..=limits::AGENT_NAME_BYTES.value).contains(&(text.len() as u64));
        if fits && text.bytes().all(is_plain) { Ok(AgentName(text.into())) } else { Err(AddressError::Agent) }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Address {
    /// Makes the address of a conversation that the agent has yet to begin.
    pub fn of(agent: AgentName) -> Address {
        Address { agent, conversation: None, directory: None, profile: None, is_ours: false }
    }

    /// Makes an address from its text and the parts that are written apart from it.
    ///
    /// # Errors
    /// [`AddressError`], for the first part that is wrong.
    pub fn from_parts(
        text: Option<&str>,
        directory: Option<&str>,
        profile: Option<&str>,
    ) -> Result<Option<Address>, AddressError> {
        let Some(text) = text else {
            // A directory or a profile alone names no agent to use it.
            return if directory.is_none() && profile.is_none() {
                Ok(None)
            } else {
                Err(AddressError::NoAgent)
            };
        };
        let mut address: Address = text.parse()?;
        if let Some(directory) = directory {
            address = address.in_directory(directory)?;
        }
        address.profile = profile.map(AgentName::new).transpose()?;
        Ok(Some(address))
    }

    /// Returns the same address with this conversation.
    ///
    /// # Errors
    /// [`AddressError::Conversation`]
    pub fn with_conversation(mut self, id: &str) -> Result<Address, AddressError> {
        let fits = (1..=limits::ID_BYTES.value).contains(&(id.len() as u64));
        if !fits || id.chars().any(|char| char.is_whitespace() || char.is_control()) {
            return Err(AddressError::Conversation);
        }
        self.conversation = Some(id.into());
        Ok(self)
    }

    /// Returns the same address with this working directory.
    ///
    /// # Errors
    /// [`AddressError::Directory`]
    pub fn in_directory(mut self, path: &str) -> Result<Address, AddressError> {
        let fits = path.len() as u64 <= limits::PATH_BYTES.value;
        if !fits || !path.starts_with('/') || path.chars().any(char::is_control) {
            return Err(AddressError::Directory);
        }
        self.directory = Some(path.into());
        Ok(self)
    }

    /// Returns the address of a new conversation beside this one: with the same agent, directory and profile.
    #[must_use]
    pub fn beside(&self) -> Address {
        // Nobody has begun the new conversation yet.
        Address { conversation: None, is_ours: false, ..self.clone() }
    }

    /// Returns the same address as one of a conversation that we began.
    #[must_use]
    pub fn begun_by_us(mut self) -> Address {
        self.is_ours = true;
        self
    }

    /// Returns the same address as one of a conversation of which others may know, or that must not be loaded again.
    #[must_use]
    pub fn not_ours(mut self) -> Address {
        self.is_ours = false;
        self
    }

    /// Returns whether we began the conversation.
    pub fn is_begun_by_us(&self) -> bool {
        self.is_ours
    }

    /// Returns the agent.
    pub fn agent(&self) -> &AgentName {
        &self.agent
    }

    /// Returns the agent's id of the conversation; `None` if the agent has yet to begin one.
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// Returns the working directory of the conversation, if it is known.
    pub fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// Returns the profile: the configuration to use, if it is not the one of the agent's name.
    pub fn profile(&self) -> Option<&AgentName> {
        self.profile.as_ref()
    }

    /// Returns the name under which the agent is configured.
    pub fn configured_as(&self) -> &AgentName {
        self.profile.as_ref().unwrap_or(&self.agent)
    }

    /// Returns the size of its texts, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let parts = [self.conversation.as_deref(), self.directory.as_deref()];
        let profile = self.profile.as_ref().map_or(0, |name| name.0.len());
        self.agent.0.len() + parts.into_iter().flatten().map(str::len).sum::<usize>() + profile
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        match text.split_once(':') {
            None => Ok(Address::of(AgentName::new(text)?)),
            Some((agent, id)) => Address::of(AgentName::new(agent)?).with_conversation(id),
        }
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.agent.0)?;
        self.conversation.as_ref().map_or(Ok(()), |id| write!(f, ":{id}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_back() {
        for text in ["claude:0f0e7a36-95c8-4f2c-9a3b-1f6d9e4ac111", "codex", "opencode:ses_1", "my-agent:a:b"]
        {
            let address: Address = text.parse().expect(text);
            assert_eq!(address.to_string(), text);
        }
        let whole = Address::from_parts(Some("qwen:x"), Some("/home/a b"), Some("work")).unwrap().unwrap();
        assert_eq!((whole.directory(), whole.configured_as().as_str()), (Some("/home/a b"), "work"));
        assert_eq!(whole.beside().to_string(), "qwen");
        assert_eq!(whole.beside().directory(), Some("/home/a b"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let long = "x".repeat(129);
        for (text, fault) in [
            ("", AddressError::Agent),
            ("Claude:1", AddressError::Agent),
            (":1", AddressError::Agent),
            ("claude:", AddressError::Conversation),
            ("claude:a b", AddressError::Conversation),
            ("claude:a\n", AddressError::Conversation),
            (&format!("claude:{long}"), AddressError::Conversation),
            (&long, AddressError::Agent),
        ] {
            assert_eq!(text.parse::<Address>(), Err(fault), "{text:?}");
        }
        let parts = Address::from_parts;
        assert_eq!(parts(None, Some("/x"), None), Err(AddressError::NoAgent));
        assert_eq!(parts(Some("codex"), Some("x"), None), Err(AddressError::Directory));
        assert_eq!(parts(Some("codex"), Some("/x\0"), None), Err(AddressError::Directory));
        assert_eq!(parts(Some("codex"), None, Some("A")), Err(AddressError::Agent));
        assert_eq!(parts(None, None, None), Ok(None));
    }
}
