//! One message, one answer: the methods there are, and what each leads to.
//!
//! Invariant: an answer depends on the message, on who calls and on the engine, and on no message before.

use super::era::Era;
use super::fault::Fault;
use super::message::{self, Message, Request};
use super::mirror::Mirror;
use super::offer::Offer;
use super::revision::Revision;
use super::{resources, tools};
use crate::dialect::echo;
use crate::domain::{Caller, names};
use crate::edn::{Map, Value};
use crate::runtime::Handle;

/// The protocol, for one caller.
#[derive(Clone, Copy)]
pub struct Service<'a> {
    /// The way to the engine.
    pub handle: &'a Handle,
    /// Who calls.
    pub caller: &'a Caller,
    /// Which tools are offered.
    pub offer: &'a Offer,
}

/// What is to be sent back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status of HTTP; stdio has none.
    pub status: u16,
    /// The answer as one line of JSON; nothing where nothing is to be said.
    pub body: Option<String>,
}

names! {
    /// A method that is answered.
    Method {
        /// The handshake.
        Initialize = "initialize",
        /// What is spoken here, without a handshake.
        Discover = "server/discover",
        /// Whether anybody is there.
        Ping = "ping",
        /// Which tools there are.
        ListTools = "tools/list",
        /// Calls a tool.
        CallTool = "tools/call",
        /// Which resources there are.
        ListResources = "resources/list",
        /// How the addresses of resources are made.
        ListTemplates = "resources/templates/list",
        /// Reads a resource.
        ReadResource = "resources/read",
    }
}

impl Service<'_> {
    /// Answers a message, which came over HTTP if there is a mirror.
    pub fn answer(&self, text: &[u8], mirror: Option<&Mirror<'_>>) -> Reply {
        let request = match Message::read(text) {
            Ok(Message::Request(request)) => request,
            Ok(Message::Remark) => return Reply { status: 202, body: None },
            Err(misread) => return refused(misread.id.as_ref(), &misread.fault, Era::Stateless),
        };
        let era = match Era::of(&request, mirror) {
            Ok(era) => era,
            // What is refused here is refused alike in both shapes.
            Err(fault) => return refused(Some(&request.id), &fault, Era::Stateless),
        };
        match self.run(&request, era) {
            Ok(result) => Reply { status: 200, body: Some(message::result(&request.id, result)) },
            Err(fault) => refused(Some(&request.id), &fault, era),
        }
    }

    fn run(&self, request: &Request, era: Era) -> Result<Map, Fault> {
        let unknown = || Fault::NoMethod { method: echo(&(&*request.method).into()) };
        let method = Method::parse(&request.method).ok_or_else(unknown)?;
        let result = match method {
            // The stateless revision has neither: every request says what it speaks, and shows whether anybody is there.
            Method::Initialize | Method::Ping if era == Era::Stateless => return Err(unknown()),
            Method::Initialize => initialize(request)?,
            Method::Discover => discover(),
            Method::Ping => Map::new(),
            Method::ListTools => tools::list(self, request)?,
            Method::CallTool => tools::call(self, request)?,
            Method::ListResources => resources::list(self, request)?,
            Method::ListTemplates => resources::templates(request)?,
            Method::ReadResource => resources::read(self, request)?,
        };
        Ok(match era {
            Era::Handshake => result,
            Era::Stateless => stateless(method, &result),
        })
    }
}

/// A list that is not cut into pages takes no cursor.
pub(super) fn whole(request: &Request) -> Result<(), Fault> {
    match request.param("cursor") {
        None => Ok(()),
        Some(_) => Err(Fault::BadParams { why: "this list is one page: leave params.cursor out".to_owned() }),
    }
}

fn initialize(request: &Request) -> Result<Map, Fault> {
    let agreed = Revision::agreed(request.text("protocolVersion")?);
    Ok(Map::new()
        .with("protocolVersion", agreed.name())
        .with("capabilities", capabilities())
        .with("serverInfo", server())
        .with("instructions", INSTRUCTIONS))
}

fn discover() -> Map {
    let spoken: Vec<Value> = Revision::NAMES.iter().map(|name| Value::from(*name)).collect();
    Map::new()
        .with("supportedVersions", spoken)
        .with("capabilities", capabilities())
        .with("instructions", INSTRUCTIONS)
}

/// What the stateless revision wants of every result, and of those that may be kept for a while.
fn stateless(method: Method, result: &Map) -> Map {
    let kept_ms = match method {
        // Constant texts: they change with the program.
        Method::Discover | Method::ListTools | Method::ListTemplates => Some(CONSTANT_MS),
        // Schedules move while nobody asks.
        Method::ListResources | Method::ReadResource => Some(0),
        Method::Initialize | Method::Ping | Method::CallTool => None,
    };
    let meta = Map::new().with("io.modelcontextprotocol/serverInfo", server());
    let mut shaped = Map::new().with("resultType", "complete");
    for (key, value) in result {
        shaped.insert(key.clone(), value.clone());
    }
    if let Some(kept_ms) = kept_ms {
        // What is shown depends on who asks.
        shaped = shaped.with("ttlMs", kept_ms).with("cacheScope", "private");
    }
    shaped.with("_meta", meta)
}

fn capabilities() -> Map {
    Map::new().with("tools", Map::new()).with("resources", Map::new())
}

fn server() -> Map {
    Map::new().with("name", "reveille").with("title", "Reveille").with("version", env!("CARGO_PKG_VERSION"))
}

fn refused(id: Option<&Value>, fault: &Fault, era: Era) -> Reply {
    Reply { status: fault.status(era), body: Some(message::error(id, fault, era)) }
}

const CONSTANT_MS: i64 = 300_000;
const INSTRUCTIONS: &str = "Reveille wakes you later. create takes a message to yourself and when in words, with a zone; the \
                            answer echoes what was understood and the next three instants: check them. Give a key when you \
                            may have to try again. Every error has the call as it would be right. explain says why \
                            something has fired, or has not.";
