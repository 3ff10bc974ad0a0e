//! Which tools a client is shown: the crate's own unless it asks for those of other dialects.
//!
//! A model chooses better among six tools than among twenty. The choice is part of the address or of the command line, so a
//! list never changes under a client's hands.

use crate::domain::Dialect;
use crate::runtime::{TOOLBOX, ToolInfo};

/// The dialects whose tools are offered, in the order of the toolbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer(Vec<Dialect>);

/// There is no dialect of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no dialect of that name; there are {}", Dialect::NAMES.join(", "))]
pub struct UnknownDialect;

impl Default for Offer {
    fn default() -> Offer {
        Offer(vec![Dialect::Native])
    }
}

impl Offer {
    /// Reads a list such as `native,cron`.
    ///
    /// # Errors
    /// [`UnknownDialect`]; an empty list is none.
    pub fn parse(text: &str) -> Result<Offer, UnknownDialect> {
        let dialects = text.split(',').map(|name| Dialect::parse(name.trim()).ok_or(UnknownDialect));
        dialects.collect::<Result<_, _>>().map(Offer)
    }

    /// The same as one reads it.
    pub fn print(&self) -> String {
        self.0.iter().map(|dialect| dialect.name()).collect::<Vec<_>>().join(",")
    }

    /// The tools, in the order of the toolbox.
    pub fn tools(&self) -> impl Iterator<Item = &'static ToolInfo> + use<'_> {
        TOOLBOX.iter().filter(|tool| self.0.contains(&tool.dialect))
    }

    /// The tool of this name, if it is offered.
    pub fn find(&self, name: &str) -> Option<&'static ToolInfo> {
        self.tools().find(|tool| tool.name == name)
    }
}
