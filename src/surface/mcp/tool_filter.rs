//! The set of tools that a client is offered: by default, the crate's own.
//!
//! A model chooses better among seven tools than among twenty. The choice is part of the URL or of the command line, so
//! it stays during a connection.

use crate::domain::Dialect;
use crate::service::ToolInfo;

/// The dialects whose tools are offered, in the order of the toolbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFilter(Vec<Dialect>);

/// There is no dialect with this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect; the dialects are {}", Dialect::NAMES.join(", "))]
pub struct UnknownDialect;

impl Default for ToolFilter {
    fn default() -> ToolFilter {
        ToolFilter(vec![Dialect::Native])
    }
}

impl ToolFilter {
    /// Parses a list such as `native,cron`.
    ///
    /// # Errors
    /// [`UnknownDialect`] if a name is unknown, or if the list is empty.
    pub fn parse(text: &str) -> Result<ToolFilter, UnknownDialect> {
        let dialects = text.split(',').map(|name| Dialect::parse(name.trim()).ok_or(UnknownDialect));
        dialects.collect::<Result<_, _>>().map(ToolFilter)
    }

    /// Prints the list in the form that [`ToolFilter::parse`] reads.
    pub fn print(&self) -> String {
        self.0.iter().map(|dialect| dialect.name()).collect::<Vec<_>>().join(",")
    }

    /// Whether the tool is among those that are offered.
    pub(crate) fn has(&self, tool: &ToolInfo) -> bool {
        self.0.contains(&tool.dialect)
    }
}
