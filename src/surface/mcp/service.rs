//! Executes the methods of the protocol: one message in, one answer out.
//!
//! Invariant: an answer depends on the message and on the caller's features, never on an earlier message.

use super::declaration::wire_version;
use super::fault::{self, McpFault};
use super::features::{Begun, Features, Tool};
use super::message::{self, McpMessage, McpRequest, Misread};
use super::method::Method;
use super::mirrored_headers::MirroredHeaders;
use super::revision::Revision;
use super::wire_version::WireVersion;
use crate::dialect::{Answer, echo};
use crate::edn::{Map, Value};
use crate::service::{Called, Pending};

/// The protocol, for one caller.
#[derive(Clone, Copy)]
pub struct McpService<'a> {
    /// The features this caller may use.
    pub features: &'a dyn Features,
}

/// The reply to one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpReply {
    /// The HTTP status; stdio ignores it.
    pub status: u16,
    /// The answer as one line of JSON; `None` if the message gets no answer.
    pub body: Option<String>,
}

/// What a message has led to.
pub enum McpBegun {
    /// The reply.
    Now(McpReply),
    /// An answer that comes later, and what makes the reply from it.
    Later(Pending, McpLater),
}

/// A message whose reply comes later.
pub struct McpLater {
    id: Value,
    era: WireVersion,
    shown: fn(Answer) -> Map,
}

impl McpLater {
    /// The reply, once the answer is there.
    pub(crate) fn reply(self, answer: Answer) -> McpReply {
        done(&self.id, shaped(Method::CallTool, (self.shown)(answer), self.era))
    }
}

impl McpService<'_> {
    /// Answers a message, and waits for an answer that comes later. `mirror` has the headers if the message came over HTTP.
    pub fn answer(&self, text: &[u8], mirror: Option<&MirroredHeaders<'_>>) -> McpReply {
        match self.begin(text, mirror) {
            McpBegun::Now(reply) => reply,
            McpBegun::Later(pending, later) => later.reply(Called::Later(pending).wait()),
        }
    }

    /// Answers a message now, or later.
    pub(crate) fn begin(&self, text: &[u8], mirror: Option<&MirroredHeaders<'_>>) -> McpBegun {
        self.begin_read(McpMessage::read(text), mirror)
    }

    /// Answers a message that has been read, now or later.
    pub(crate) fn begin_read(
        &self,
        message: Result<McpMessage, Misread>,
        mirror: Option<&MirroredHeaders<'_>>,
    ) -> McpBegun {
        let request = match message {
            Ok(McpMessage::Request(request)) => request,
            Ok(McpMessage::Remark) => return McpBegun::Now(McpReply { status: 202, body: None }),
            // The wire shape is not known yet. These faults have the same code and status in both.
            Err(misread) => {
                return McpBegun::Now(refused(misread.id.as_ref(), &misread.fault, WireVersion::Stateless));
            }
        };
        let era = match wire_version(&request, mirror) {
            Ok(era) => era,
            // These faults have the same code and status in both shapes.
            Err(fault) => return McpBegun::Now(refused(Some(&request.id), &fault, WireVersion::Stateless)),
        };
        match self.run(&request, era) {
            Ok(Begun::Now(result)) => McpBegun::Now(done(&request.id, result)),
            Ok(Begun::Later(pending, shown)) => {
                McpBegun::Later(pending, McpLater { id: request.id.clone(), era, shown })
            }
            Err(fault) => McpBegun::Now(refused(Some(&request.id), &fault, era)),
        }
    }

    fn run(&self, request: &McpRequest, era: WireVersion) -> Result<Begun, McpFault> {
        let unknown = || McpFault::NoMethod { method: echo(&(&*request.method).into()) };
        let method = Method::parse(&request.method).ok_or_else(unknown)?;
        let result = match method {
            // The stateless revision has neither method: every request declares its revision, and any answer shows
            // that the server responds.
            Method::Initialize | Method::Ping if era == WireVersion::Stateless => return Err(unknown()),
            Method::Initialize => initialize(request, self.instructions())?,
            Method::Discover => discover(self.instructions()),
            Method::Ping => Map::new(),
            Method::ListTools => whole(request, "tools", self.features.tools().into_iter().map(Tool::print))?,
            Method::CallTool => match self.call(request)? {
                Begun::Now(result) => result,
                later @ Begun::Later(..) => return Ok(later),
            },
            Method::ListResources => self.list_resources(request)?,
            Method::ListTemplates => {
                let listings = self.features.templates().into_iter();
                whole(request, "resourceTemplates", listings.map(|it| it.print("uriTemplate")))?
            }
            Method::ReadResource => self.read_resource(request)?,
        };
        Ok(Begun::Now(shaped(method, result, era)))
    }

    /// What a model is told of the tools that it has.
    fn instructions(&self) -> String {
        let has_own = self.features.tools().iter().any(|tool| tool.name == "create");
        [BEGINNING, if has_own { OF_OWN_TOOLS } else { OF_OTHER_TOOLS }, END].concat()
    }

    fn call(&self, request: &McpRequest) -> Result<Begun, McpFault> {
        let name = request.text("name")?;
        // Absent arguments count as an empty object.
        let args = request.param("arguments").cloned().unwrap_or_else(|| Map::new().into());
        if args.as_map().is_none() {
            return Err(McpFault::BadParams { why: "params.arguments must be an object".to_owned() });
        }
        self.features.begin(name, &args).ok_or_else(|| {
            let tools = self.features.tools().into_iter().map(|tool| tool.name);
            McpFault::NoTool { name: echo(&name.into()), tools: tools.collect() }
        })
    }

    fn list_resources(&self, request: &McpRequest) -> Result<Map, McpFault> {
        let cursor = request.param("cursor").map(|_| request.text("cursor")).transpose()?;
        let absent = || McpFault::BadParams { why: "there is no such page".to_owned() };
        let page = self.features.resources(cursor).map_err(|unserved| fault::of(unserved, absent))?;
        let items: Vec<Value> = page.items.into_iter().map(|it| it.print("uri")).collect();
        let listed = Map::new().with("resources", items);
        Ok(listed.with_some("nextCursor", page.next))
    }

    fn read_resource(&self, request: &McpRequest) -> Result<Map, McpFault> {
        let uri = request.text("uri")?;
        let absent = || McpFault::NoResource { uri: echo(&uri.into()) };
        let content = self.features.read(uri).map_err(|unserved| fault::of(unserved, absent))?;
        Ok(Map::new().with("contents", vec![Value::from(content)]))
    }
}

fn done(id: &Value, result: Map) -> McpReply {
    McpReply { status: 200, body: Some(message::result(id, result)) }
}

fn shaped(method: Method, result: Map, era: WireVersion) -> Map {
    match era {
        WireVersion::Handshake => result,
        WireVersion::Stateless => stateless(method, result),
    }
}

/// Answers with a complete list, which takes no cursor.
fn whole(request: &McpRequest, name: &str, items: impl Iterator<Item = Value>) -> Result<Map, McpFault> {
    match request.param("cursor") {
        None => Ok(Map::new().with(name, items.collect::<Vec<_>>())),
        Some(_) => {
            Err(McpFault::BadParams { why: "this list is one page: leave params.cursor out".to_owned() })
        }
    }
}

fn initialize(request: &McpRequest, instructions: String) -> Result<Map, McpFault> {
    let agreed = Revision::agreed(request.text("protocolVersion")?);
    Ok(Map::new()
        .with("protocolVersion", agreed.name())
        .with("capabilities", capabilities())
        .with("serverInfo", server())
        .with("instructions", instructions))
}

fn discover(instructions: String) -> Map {
    let spoken: Vec<Value> = Revision::NAMES.iter().map(|name| Value::from(*name)).collect();
    Map::new()
        .with("supportedVersions", spoken)
        .with("capabilities", capabilities())
        .with("instructions", instructions)
}

/// Adds what the stateless revision requires in every result, and the caching hints of results that may be cached.
fn stateless(method: Method, result: Map) -> Map {
    let kept_ms = match method {
        // Changes only with the program.
        Method::ListTemplates => Some(CONSTANT_MS),
        // Schedules change at any time, and so do the grant of a session and the switches, on which its tools and the
        // instructions depend. No notification tells the client of it.
        Method::Discover | Method::ListTools | Method::ListResources | Method::ReadResource => Some(0),
        Method::Initialize | Method::Ping | Method::CallTool => None,
    };
    let meta = Map::new().with("io.modelcontextprotocol/serverInfo", server());
    let mut shaped = Map::new().with("resultType", "complete");
    for (key, value) in result {
        shaped.insert(key, value);
    }
    if let Some(kept_ms) = kept_ms {
        // The result depends on the caller.
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

fn refused(id: Option<&Value>, fault: &McpFault, era: WireVersion) -> McpReply {
    McpReply { status: fault.status(era), body: Some(message::error(id, fault, era)) }
}

const CONSTANT_MS: i64 = 300_000;
const BEGINNING: &str = "Reveille keeps time for you. It wakes you if your host listens; ";
/// To who has the tools of the crate itself.
const OF_OWN_TOOLS: &str = "else the message waits for inbox, and create says so. create takes a message to yourself and when in \
                            words, with a zone; the answer echoes what was understood and the next three instants: check \
                            them. Give a key when you may have to try again. explain says why something has fired, or has \
                            not. ";
/// To who has others.
const OF_OTHER_TOOLS: &str = "else the message waits in the inbox of your session. ";
const END: &str = "An error says what is accepted; its example, if it has one, is your call put right.";
