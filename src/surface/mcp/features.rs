//! What a server has to offer over the protocol: tools and resources. The protocol asks for them through [`Features`] and
//! knows nothing else of them; the scheduler's are in `scheduler`.
//!
//! Invariant: everything is asked for at once and answered at once. A feature cannot write to the client before its answer,
//! nor ask the client anything.

use crate::edn::{Map, Value};

/// The tools and resources of a server, as one caller may see them.
pub trait Features {
    /// Every tool. They stay the same for as long as the program runs.
    fn tools(&self) -> Vec<Tool>;

    /// Calls a tool with its arguments, which are a map. The result has `content` and `isError`: what a tool refuses is a
    /// result too. `None` if there is no tool of this name.
    fn call(&self, name: &str, args: &Value) -> Option<Map>;

    /// The page of resources behind this cursor, the first without one.
    ///
    /// # Errors
    /// [`Unserved`]; absent is the place that the cursor names.
    fn resources(&self, cursor: Option<&str>) -> Result<Page, Unserved>;

    /// How the addresses of resources are made.
    fn templates(&self) -> Vec<Listing>;

    /// What there is to know of one resource: its `uri`, and `text` or `blob`.
    ///
    /// # Errors
    /// [`Unserved`]; absent is what this caller may not see, too.
    fn read(&self, uri: &str) -> Result<Map, Unserved>;
}

/// A tool, as whoever chooses one is shown it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// What a host may want to know before it asks a person.
    pub annotations: Option<Map>,
}

/// A resource, or many by the shape of their addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// Its address, or how one is made.
    pub uri: String,
    /// Its name, for people.
    pub name: String,
    /// What it is.
    pub description: String,
    /// What its content is written in.
    pub mime_type: String,
}

/// A part of the list of resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// What is on it.
    pub items: Vec<Listing>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// Why there is nothing to show.
#[derive(Clone, Debug, PartialEq)]
pub enum Unserved {
    /// It does not exist for this caller.
    Absent,
    /// What was asked for is not what it must be.
    Wrong {
        /// What it must be.
        why: String,
    },
    /// What was asked for exceeds a bound.
    Exceeded {
        /// Which, in words.
        message: String,
        /// Which, as data.
        data: Map,
    },
}

impl Tool {
    /// As the protocol has it.
    pub(super) fn print(self) -> Value {
        let printed = Map::new()
            .with("name", self.name)
            .with("description", self.description)
            .with("inputSchema", self.input_schema);
        match self.annotations {
            Some(annotations) => printed.with("annotations", annotations).into(),
            None => printed.into(),
        }
    }
}

impl Listing {
    /// As the protocol has it, which calls the address differently in its two lists.
    pub(super) fn print(self, address: &str) -> Value {
        Map::new()
            .with(address, self.uri)
            .with("name", self.name)
            .with("description", self.description)
            .with("mimeType", self.mime_type)
            .into()
    }
}
