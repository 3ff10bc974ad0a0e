//! The tools and resources of a server. The protocol accesses them only through [`Features`]; the scheduler's are in
//! `scheduler`.
//!
//! Invariant: every method returns at once; only the answer to a call may come later. A feature cannot write to the client before
//! its answer, and cannot ask the client anything.

use crate::dialect::Answer;
use crate::edn::{Map, Value};
use crate::service::Pending;

/// The tools and resources of a server, as one caller sees them.
pub trait Features {
    /// All tools that the caller has. They change only with its grant, and with the program.
    fn tools(&self) -> Vec<Tool>;

    /// Calls a tool; its arguments are a map. The result has `content` and `isError`, for refusals too. `None` if
    /// there is no tool with this name.
    fn call(&self, name: &str, args: &Value) -> Option<Map>;

    /// Calls a tool, as [`call`](Features::call), and may answer later.
    fn begin(&self, name: &str, args: &Value) -> Option<Begun> {
        self.call(name, args).map(Begun::Now)
    }

    /// The page of resources after this cursor; without a cursor, the first page.
    ///
    /// # Errors
    /// [`Unserved`]; `Absent` means that the cursor leads nowhere.
    fn resources(&self, cursor: Option<&str>) -> Result<ResourcePage, Unserved>;

    /// The templates of the URIs of resources.
    fn templates(&self) -> Vec<ResourceInfo>;

    /// Reads one resource: its `uri`, and `text` or `blob`.
    ///
    /// # Errors
    /// [`Unserved`]; `Absent` also covers resources that this caller may not see.
    fn read(&self, uri: &str) -> Result<Map, Unserved>;
}

/// What a call of a tool has led to.
pub enum Begun {
    /// Its result.
    Now(Map),
    /// An answer that comes later, and how its result is made from it.
    Later(Pending, fn(Answer) -> Map),
}

/// A tool, as shown to the model that chooses one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The tool's name.
    pub name: String,
    /// What the tool does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// Hints for hosts that ask a person before a call.
    pub annotations: Option<Map>,
}

/// A resource, or a template for many.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceInfo {
    /// The URI, or the template of one.
    pub uri: String,
    /// The display name.
    pub name: String,
    /// What the resource is.
    pub description: String,
    /// The media type of the content.
    pub mime_type: String,
}

/// One page of the list of resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourcePage {
    /// The resources on the page.
    pub items: Vec<ResourceInfo>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// Why a feature has no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Unserved {
    /// The object does not exist for this caller.
    Absent,
    /// A parameter is invalid.
    Wrong {
        /// What is wrong with it.
        why: String,
    },
    /// The request exceeds a bound.
    Exceeded {
        /// The bound, in words.
        message: String,
        /// The bound, as data.
        data: Map,
    },
}

impl Tool {
    /// Prints the tool in the protocol's shape.
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

impl ResourceInfo {
    /// Prints the listing in the protocol's shape. The key of the URI differs between the two lists.
    pub(super) fn print(self, address: &str) -> Value {
        Map::new()
            .with(address, self.uri)
            .with("name", self.name)
            .with("description", self.description)
            .with("mimeType", self.mime_type)
            .into()
    }
}
