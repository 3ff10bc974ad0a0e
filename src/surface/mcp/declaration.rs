//! What a request declares: its wire shape, and what that requires of it.
//!
//! Each request is examined by itself. If its `_meta` declares the stateless revision, the answer has that shape, and
//! the request must contain everything that revision requires. Any other request counts as one after a handshake; the
//! handshake itself is not remembered. Source: MCP 2026-07-28, "Versioning and Compatibility"; Streamable HTTP,
//! "Server Validation".

use super::fault::McpFault;
use super::message::McpRequest;
use super::method::Method;
use super::mirrored_headers::MirroredHeaders;
use super::revision::Revision;
use super::wire_version::WireVersion;
use crate::dialect::echo;
use crate::edn::{Map, Value};

/// Determines the shape of a request. `mirror` has the headers if the request came over HTTP.
///
/// # Errors
/// The declaration that the request lacks, or a contradiction between its body and its headers.
pub(super) fn wire_version(
    request: &McpRequest,
    mirror: Option<&MirroredHeaders<'_>>,
) -> Result<WireVersion, McpFault> {
    let method = &*request.method;
    let discovers = method == Method::Discover.name();
    let meta = request.param("_meta").and_then(Value::as_map);
    let declared = meta.and_then(|meta| meta.text(REVISION));
    // `initialize` negotiates the revision, so no header can name it yet.
    if method == Method::Initialize.name() && declared.is_none() {
        return Ok(WireVersion::Handshake);
    }
    let header = mirror.map(MirroredHeaders::revision).transpose()?.flatten();
    let Some(declared) = declared else {
        // Only the header or the method suggests the stateless shape, and the body lacks the declaration.
        let of_header = header.map(spoken).transpose()?;
        let is_stateless = discovers || of_header.is_some_and(Revision::is_stateless);
        return if is_stateless { Err(lacking(meta)) } else { Ok(WireVersion::Handshake) };
    };
    let Some(declared) = declared.as_str() else { return Err(lacking(meta)) };
    if let Some(mirror) = mirror {
        mirror.check_revision(declared)?;
    }
    // `server/discover` exists only in the stateless shape, whichever revision is declared.
    if !spoken(declared)?.is_stateless() && !discovers {
        return Ok(WireVersion::Handshake);
    }
    if meta.and_then(|meta| meta.text(CAPABILITIES)).and_then(Value::as_map).is_none() {
        return Err(lacking(meta));
    }
    if let Some(mirror) = mirror {
        mirror.check(method, named(request))?;
    }
    Ok(WireVersion::Stateless)
}

/// The tool or resource that a request names, for methods whose name is repeated in a header.
pub(super) fn named(request: &McpRequest) -> Option<&str> {
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

fn spoken(text: &str) -> Result<Revision, McpFault> {
    Revision::parse(text).ok_or_else(|| McpFault::NoRevision { requested: echo(&text.into()) })
}

/// The fault of a request whose `_meta` lacks required entries, with their names.
fn lacking(meta: Option<&Map>) -> McpFault {
    let has = |name: &str, is: fn(&Value) -> bool| meta.and_then(|meta| meta.text(name)).is_some_and(is);
    let mut missing = Vec::new();
    if !has(REVISION, |value| value.as_str().is_some()) {
        missing.push(REVISION);
    }
    if !has(CAPABILITIES, |value| value.as_map().is_some()) {
        missing.push(CAPABILITIES);
    }
    McpFault::LacksMeta { missing }
}

/// The key in `_meta` that declares the revision.
pub(super) const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
