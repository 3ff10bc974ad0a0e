//! The name of a tool that a run can call.
//!
//! Invariant: a name is `module.action`, both halves non-empty, without control characters, blanks or a slash, and at most
//! `ToolName::BYTES` long.

use std::fmt;
use std::sync::Arc;

/// The name of a tool: a module and an action, with a dot between them. Copies share one text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(Arc<str>);

/// Why a text is not the name of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolNameError {
    /// It has no dot, or nothing before or after the first one.
    #[error("a tool is named module.action, for example http.get")]
    NoModule,
    /// It is longer than `ToolName::BYTES`.
    #[error("the name of a tool must not be longer than {} bytes", ToolName::BYTES)]
    TooLong,
    /// It has a blank, a slash or a control character.
    #[error("the name of a tool must not contain blanks, slashes or control characters")]
    Character,
}

impl ToolName {
    /// The longest name, in bytes. Source: SEED-001, `action` of `schedule`.
    pub const BYTES: usize = 128;

    /// Checks a name.
    ///
    /// # Errors
    /// [`ToolNameError`] if it is not `module.action`, too long, or has a character that names must not have.
    pub fn new(text: &str) -> Result<ToolName, ToolNameError> {
        let halves = text.split_once('.');
        if !halves.is_some_and(|(module, action)| is_word(module) && action.split('.').all(is_word)) {
            return Err(ToolNameError::NoModule);
        }
        if text.len() > ToolName::BYTES {
            return Err(ToolNameError::TooLong);
        }
        let is_strange =
            |character: char| character.is_control() || character.is_whitespace() || character == '/';
        if text.contains(is_strange) { Err(ToolNameError::Character) } else { Ok(ToolName(text.into())) }
    }

    /// Returns the whole name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the module: what stands before the first dot.
    pub fn module(&self) -> &str {
        self.0.split_once('.').map_or(&*self.0, |(module, _)| module)
    }
}

fn is_word(half: &str) -> bool {
    !half.is_empty()
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
