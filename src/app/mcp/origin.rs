//! Whose call a message to the tool server is: the session of the conversation that calls.
//!
//! Agents start one tool server for a process, and go on to other conversations in it, so the question is asked anew for each
//! call. What is asked, in this order: what the agent's client or plugin puts into the call itself, what the hooks of the
//! process that has started this one have told the daemon, and last the agent's own variable, which is right until the first
//! `/clear`. A conversation that nobody knows gets a session of its own, in which nobody can be woken.
//!
//! Invariants: the words of a model are never believed: a mark among the arguments counts only where the agent's plugin sets
//! it each time. Two conversations are two sessions.

use std::collections::BTreeSet;

use super::processes;
use crate::app::client::Client;
use crate::app::config::environment::Environment;
use crate::app::fault::AppFault;
use crate::app::hook::{Link, request};
use crate::dialect::Notation;
use crate::domain::{Address, AgentKind, AgentName, KNOWN_AGENTS, SessionId};
use crate::edn::{Map, Value};
use crate::surface::mcp::Origin;

/// Finds the session of each call.
pub(in crate::app) struct Callers {
    /// The one session of all calls, if it is given.
    fixed: Option<SessionId>,
    /// Whether calls are for no session.
    is_operator: bool,
    /// The name of the client program, once it has said it.
    client: String,
    /// The agent whose plugin marks each call.
    plugin: Option<AgentName>,
    /// What the agent says of itself in the environment.
    variable: Option<Address>,
    /// The daemon's socket.
    socket: Option<std::path::PathBuf>,
    /// Sessions that are known to be open.
    opened: BTreeSet<SessionId>,
    /// The session of the last message.
    last: Option<SessionId>,
}

impl Callers {
    /// Callers of the one session that is given, or of the conversation of each call.
    pub(in crate::app) fn new(
        session: Option<SessionId>,
        is_operator: bool,
        socket: Option<std::path::PathBuf>,
    ) -> Callers {
        let named = Environment::value("REVEILLE_SESSION").and_then(|text| SessionId::new(&text).ok());
        let fixed = session.or_else(|| named.filter(|_| !is_operator));
        // A token in the environment says for whom it is.
        let has_token = Environment::value("REVEILLE_TOKEN").is_some();
        let plugin = Environment::value("REVEILLE_AGENT").and_then(|name| AgentName::new(&name).ok());
        let set = |kind: &AgentKind| Some((kind.name, Environment::value(kind.conversation_variable?)?));
        let variable = KNOWN_AGENTS.iter().find_map(set);
        let variable = variable.and_then(|(name, id)| address(name, &id, None));
        let is_operator = is_operator || fixed.is_none() && has_token;
        Callers {
            fixed,
            is_operator,
            client: String::new(),
            plugin,
            variable,
            socket,
            opened: BTreeSet::new(),
            last: None,
        }
    }

    /// Opens the session that is given, if one is.
    ///
    /// # Errors
    /// [`AppFault`], if the daemon cannot be asked.
    pub(in crate::app) fn begin(&mut self, operator: &Client) -> Result<(), AppFault> {
        self.fixed.clone().map_or(Ok(()), |session| self.open(operator, &session, None))
    }

    /// The session of a message, opened if it is not open; `None` if it is for no session.
    ///
    /// # Errors
    /// [`AppFault`], if the daemon cannot be asked.
    pub(in crate::app) fn session_of(
        &mut self,
        operator: &Client,
        origin: &Origin,
    ) -> Result<Option<SessionId>, AppFault> {
        self.last = self.find(operator, origin)?;
        Ok(self.last.clone())
    }

    /// The session of the last message.
    pub(in crate::app) fn last(&self) -> Option<SessionId> {
        self.last.clone()
    }

    fn find(&mut self, operator: &Client, origin: &Origin) -> Result<Option<SessionId>, AppFault> {
        if let Some(name) = &origin.client {
            self.client.clone_from(name);
        }
        if let Some(session) = self.fixed.clone() {
            self.open(operator, &session, None)?;
            return Ok(Some(session));
        }
        if self.is_operator || !origin.needs_session {
            return Ok(None);
        }
        let address = match self.told(origin) {
            Some(address) => Some(address),
            None => match self.of_process() {
                Some(session) => {
                    // Its hooks have had it opened when they named the conversation (`Service::bind_agent`).
                    self.opened.insert(session.clone());
                    return Ok(Some(session));
                }
                None => self.variable.clone(),
            },
        };
        let session = address.as_ref().map_or_else(own, ToString::to_string);
        let session = SessionId::new(&session).map_err(|error| AppFault::usage(error.to_string()))?;
        self.open(operator, &session, address.as_ref())?;
        Ok(Some(session))
    }

    /// Whether the arguments of calls have marks, which no tool knows.
    pub(in crate::app) fn is_marked(&self, origin: &Origin) -> bool {
        self.plugin.is_some() && (origin.address.is_some() || origin.directory.is_some())
    }

    /// Forgets which sessions are open, because the daemon refuses a call. Returns whether there was one.
    pub(in crate::app) fn forget(&mut self) -> bool {
        !std::mem::take(&mut self.opened).is_empty()
    }

    /// The address that the call itself has.
    fn told(&self, origin: &Origin) -> Option<Address> {
        let is_client = |kind: &&AgentKind| kind.tool_client == Some(&*self.client);
        if let Some(kind) = KNOWN_AGENTS.iter().find(is_client) {
            return address(kind.name, origin.thread.as_deref()?, None);
        }
        let plugin = self.plugin.as_ref()?;
        let marked = Address::from_parts(origin.address.as_deref(), origin.directory.as_deref(), None);
        // The plugin of one agent does not speak for another.
        marked.ok().flatten().filter(|address| address.agent() == plugin && address.conversation().is_some())
    }

    /// The session of the process that has started this one, if its hooks have said it.
    fn of_process(&self) -> Option<SessionId> {
        let pid = processes::parent()?;
        let started = processes::started(pid)?;
        let mut link = Link::open(self.socket.as_deref()?).ok()?;
        let until = link.after(PATIENCE_MS);
        let asked = request("agent/whose").with("pid", i64::from(pid)).with("started", started);
        let told = link.ask(asked, until).ok()?.ok()?;
        SessionId::new(told.keyword("session-id")?.as_str()?).ok()
    }

    /// Opens a session unless it is open. If it is open already, or the token may not open it, the answer is an error map;
    /// that is ignored, because the first call will report what is missing.
    fn open(
        &mut self,
        operator: &Client,
        session: &SessionId,
        address: Option<&Address>,
    ) -> Result<(), AppFault> {
        if self.opened.contains(session) {
            return Ok(());
        }
        let params = Map::new().with("session-id", session.as_str());
        let params = params.with_some("address", address.map(ToString::to_string));
        let params = params.with_some("directory", address.and_then(Address::directory));
        let request = format!("[(psi.agent-session/open {})]", Value::Map(params));
        let answered = operator.post("/eql", Notation::Edn, request.into_bytes())?;
        if answered.status.as_u16() != 200 {
            return Err(answered.fault(Notation::Edn));
        }
        self.opened.insert(session.clone());
        Ok(())
    }
}

/// The address of an agent's conversation, in this directory if none is given.
fn address(agent: &str, conversation: &str, directory: Option<&str>) -> Option<Address> {
    let here = std::env::current_dir().ok().and_then(|path| path.into_os_string().into_string().ok());
    let text = format!("{agent}:{conversation}");
    Address::from_parts(Some(&text), directory.or(here.as_deref()), None).ok().flatten()
}

/// The session of a conversation that nobody knows: it lasts as long as this process.
fn own() -> String {
    let pid = std::process::id();
    // Process ids are used again, so the start of the process is a part of the name.
    format!("mcp:{pid}-{}", processes::started(pid).unwrap_or_default().replace(' ', "-"))
}

const PATIENCE_MS: u64 = 2_000;
