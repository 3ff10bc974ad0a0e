//! Which wire shape a request is answered in: that of the handshake, or the stateless one.
//!
//! Each request is looked at by itself. One that says in its `_meta` that it speaks the stateless revision is answered so, and
//! has to say all that this revision asks for; any other is taken for one after a handshake, which nobody here remembers.
//! Source: MCP 2026-07-28, "Versioning and Compatibility"; Streamable HTTP, "Server Validation".

use super::fault::Fault;
use super::message::Request;
use super::mirror::Mirror;
use super::revision::Revision;
use super::service::Method;
use crate::dialect::echo;
use crate::edn::{Map, Value};

/// The wire shape of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// After a handshake: 2025-11-25 and before.
    Handshake,
    /// Each request for itself: 2026-07-28.
    Stateless,
}

impl Era {
    /// The shape of a request, which came over HTTP if there is a mirror.
    ///
    /// # Errors
    /// What it should have said of itself, or says in two ways.
    pub(super) fn of(request: &Request, mirror: Option<&Mirror<'_>>) -> Result<Era, Fault> {
        let method = &*request.method;
        let discovers = method == Method::Discover.name();
        let meta = request.param("_meta").and_then(Value::as_map);
        let declared = meta.and_then(|meta| meta.text(REVISION));
        // A handshake finds the revision, so no header can name it before.
        if method == Method::Initialize.name() && declared.is_none() {
            return Ok(Era::Handshake);
        }
        let header = mirror.map(Mirror::revision).transpose()?.flatten();
        let Some(declared) = declared else {
            let of_header = header.map(spoken).transpose()?;
            let is_stateless = discovers || of_header.is_some_and(Revision::is_stateless);
            return if is_stateless { Err(lacking(meta)) } else { Ok(Era::Handshake) };
        };
        let Some(declared) = declared.as_str() else { return Err(lacking(meta)) };
        if let Some(mirror) = mirror {
            mirror.check_revision(declared)?;
        }
        if !spoken(declared)?.is_stateless() && !discovers {
            return Ok(Era::Handshake);
        }
        if meta.and_then(|meta| meta.text(CAPABILITIES)).and_then(Value::as_map).is_none() {
            return Err(lacking(meta));
        }
        if let Some(mirror) = mirror {
            mirror.check(method, named(request))?;
        }
        Ok(Era::Stateless)
    }
}

/// What a request is about, where its header says so too.
pub(super) fn named(request: &Request) -> Option<&str> {
    let name = match Method::parse(&request.method)? {
        Method::CallTool => "name",
        Method::ReadResource => "uri",
        Method::Initialize
        | Method::Discover
        | Method::Ping
        | Method::ListTools
        | Method::ListResources
        | Method::ListTemplates => return None,
    };
    request.param(name).and_then(Value::as_str)
}

fn spoken(text: &str) -> Result<Revision, Fault> {
    Revision::parse(text).ok_or_else(|| Fault::NoRevision { requested: echo(&text.into()) })
}

fn lacking(meta: Option<&Map>) -> Fault {
    let has = |name: &str, is: fn(&Value) -> bool| meta.and_then(|meta| meta.text(name)).is_some_and(is);
    let mut missing = Vec::new();
    if !has(REVISION, |value| value.as_str().is_some()) {
        missing.push(REVISION);
    }
    if !has(CAPABILITIES, |value| value.as_map().is_some()) {
        missing.push(CAPABILITIES);
    }
    Fault::LacksMeta { missing }
}

/// Where a request says which revision it speaks.
pub(super) const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
