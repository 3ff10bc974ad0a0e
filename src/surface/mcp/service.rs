//! One message, one answer: the methods there are, and what each leads to.
//!
//! Invariant: an answer depends on the message and on the features of who calls, and on no message before.

use super::era::Era;
use super::fault::{self, Fault};
use super::features::{Features, Tool};
use super::message::{self, Message, Request};
use super::mirror::Mirror;
use super::revision::Revision;
use crate::dialect::echo;
use crate::domain::names;
use crate::edn::{Map, Value};

/// The protocol, for one caller.
#[derive(Clone, Copy)]
pub struct Service<'a> {
    /// What this caller is offered.
    pub features: &'a dyn Features,
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
            Method::ListTools => whole(request, "tools", self.features.tools().into_iter().map(Tool::print))?,
            Method::CallTool => self.call(request)?,
            Method::ListResources => self.list_resources(request)?,
            Method::ListTemplates => {
                let listings = self.features.templates().into_iter();
                whole(request, "resourceTemplates", listings.map(|it| it.print("uriTemplate")))?
            }
            Method::ReadResource => self.read_resource(request)?,
        };
        Ok(match era {
            Era::Handshake => result,
            Era::Stateless => stateless(method, &result),
        })
    }

    fn call(&self, request: &Request) -> Result<Map, Fault> {
        let name = request.text("name")?;
        let args = request.param("arguments").cloned().unwrap_or_else(|| Map::new().into());
        if args.as_map().is_none() {
            return Err(Fault::BadParams { why: "params.arguments must be an object".to_owned() });
        }
        self.features.call(name, &args).ok_or_else(|| {
            let tools = self.features.tools().into_iter().map(|tool| tool.name);
            Fault::NoTool { name: echo(&name.into()), tools: tools.collect() }
        })
    }

    fn list_resources(&self, request: &Request) -> Result<Map, Fault> {
        let cursor = request.param("cursor").map(|_| request.text("cursor")).transpose()?;
        let absent = || Fault::BadParams { why: "there is no such page".to_owned() };
        let page = self.features.resources(cursor).map_err(|unserved| fault::of(unserved, absent))?;
        let items: Vec<Value> = page.items.into_iter().map(|it| it.print("uri")).collect();
        let listed = Map::new().with("resources", items);
        Ok(match page.next {
            Some(next) => listed.with("nextCursor", next),
            None => listed,
        })
    }

    fn read_resource(&self, request: &Request) -> Result<Map, Fault> {
        let uri = request.text("uri")?;
        let absent = || Fault::NoResource { uri: echo(&uri.into()) };
        let content = self.features.read(uri).map_err(|unserved| fault::of(unserved, absent))?;
        Ok(Map::new().with("contents", vec![Value::from(content)]))
    }
}

/// A list that is not cut into pages, and takes no cursor.
fn whole(request: &Request, name: &str, items: impl Iterator<Item = Value>) -> Result<Map, Fault> {
    match request.param("cursor") {
        None => Ok(Map::new().with(name, items.collect::<Vec<_>>())),
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
