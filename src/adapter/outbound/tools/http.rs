//! Executor of `http.get` and `http.head`: reads from the endpoints that an operator allows.
//!
//! What lives elsewhere: checks of addresses, and connections (`post.rs`, `fetch.rs` beside this folder). Invariants: no redirect
//! is followed; of the request only a few headers are the caller's; the answer does not hold what differs each time, such as how
//! long it took, so that equal answers are equal.

use std::sync::Arc;
use std::time::Duration;

use hyper::header::{
    ACCEPT, ACCEPT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER,
};

use super::{ToolTasks, spec};
use crate::adapter::outbound::endpoint::Endpoint;
use crate::adapter::outbound::fetch::{Fetch, Fetched};
use crate::adapter::outbound::post::Client;
use crate::domain::{Outcome, SessionId, Span, ToolSpec};
use crate::edn::{Map, Value};
use crate::engine::Invocation;
use crate::port::{Executor, Returned};

/// What may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpReach {
    /// Whether every public address may be.
    pub is_public: bool,
    /// The endpoints that may be read, whatever their paths.
    pub origins: Vec<Endpoint>,
}

/// The two tools.
pub struct HttpTools {
    tasks: Arc<ToolTasks>,
    client: Arc<Client>,
    specs: Arc<[ToolSpec]>,
}

impl HttpTools {
    /// Makes the tools over a client, which is limited to this reach.
    pub fn new(tasks: Arc<ToolTasks>, client: Client, reach: &HttpReach) -> HttpTools {
        let client = reach.origins.iter().fold(client, Client::allowing);
        // An operator who names an endpoint of this machine means it.
        let is_here = |endpoint: &Endpoint| endpoint.address().is_some_and(|address| address.is_loopback());
        // Only the endpoints that are named: the client checks that as well (`Client::addresses`).
        let client = if reach.origins.iter().any(is_here) { client.with_loopback() } else { client };
        let client = if reach.is_public { client.anywhere() } else { client };
        let specs =
            [spec(GET, GET_DOES, SCHEMA), spec(HEAD, HEAD_DOES, SCHEMA)].into_iter().flatten().collect();
        HttpTools { tasks, client: Arc::new(client), specs }
    }
}

impl Executor for HttpTools {
    fn specs(&self, _session: &SessionId) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        let client = Arc::clone(&self.client);
        let fetch = fetch(&invocation);
        self.tasks.begin(&invocation.id, returned, async move {
            let answered = match fetch {
                Ok(fetch) => client.fetch(fetch).await.map_err(|fault| fault.to_string()),
                Err(error) => Err(error),
            };
            match answered {
                Ok(fetched) => outcome(fetched),
                Err(error) => Outcome::of_error(error, Span::ZERO),
            }
        });
    }

    fn cancel(&self, id: &str) {
        self.tasks.cancel(id);
    }
}

/// What a call asks for.
fn fetch(invocation: &Invocation) -> Result<Fetch, String> {
    let args = invocation.args.as_map().cloned().unwrap_or_default();
    let given = |key: &str| args.text(key).or_else(|| args.keyword(key)).filter(|value| !value.is_nil());
    let url = given("url").and_then(Value::as_str).ok_or("url is required, a string")?;
    let endpoint = Endpoint::parse(url).map_err(|fault| format!("url: {fault}"))?;
    let mut headers = Vec::new();
    if let Some(given) = given("headers") {
        let map = given.as_map().ok_or("headers must be an object")?;
        for (key, value) in map {
            let name = key.as_str().or_else(|| key.as_keyword().map(crate::edn::Keyword::as_str));
            let name = name.and_then(|name| name.to_ascii_lowercase().parse::<HeaderName>().ok());
            let allowed = [ACCEPT, ACCEPT_LANGUAGE, IF_MODIFIED_SINCE, IF_NONE_MATCH];
            let name = name.filter(|name| allowed.contains(name)).ok_or_else(|| {
                let allowed: Vec<&str> = allowed.iter().map(HeaderName::as_str).collect();
                format!("headers may be {}", allowed.join(", "))
            })?;
            let value = value.as_str().and_then(|value| HeaderValue::from_str(value).ok());
            headers.push((name, value.ok_or("the value of a header must be a line of text")?));
        }
    }
    // A condition of the caller's own goes before ours.
    if !headers.iter().any(|(name, _)| [IF_NONE_MATCH, IF_MODIFIED_SINCE].contains(name)) {
        headers.extend(invocation.last.as_deref().and_then(unless_changed));
    }
    Ok(Fetch {
        endpoint,
        is_head: invocation.tool.as_str() == HEAD,
        headers,
        time: Duration::from_nanos(invocation.timeout.nanos()),
        bytes_max: BODY_BYTES,
    })
}

/// The header by which an endpoint says that nothing has changed since it answered this, by the mark that it gave then.
fn unless_changed(last: &Outcome) -> Option<(HeaderName, HeaderValue)> {
    let value = last.value.as_deref()?.as_map()?;
    let is_whole = value.keyword("status_code").and_then(Value::as_int) == Some(200);
    let headers = value.keyword("headers").filter(|_| is_whole)?.as_map()?;
    let of = |name: &HeaderName| HeaderValue::from_str(headers.text(name.as_str())?.as_str()?).ok();
    let by_tag = || Some((IF_NONE_MATCH, of(&ETAG)?));
    by_tag().or_else(|| Some((IF_MODIFIED_SINCE, of(&LAST_MODIFIED)?)))
}

fn outcome(fetched: Fetched) -> Outcome {
    let Fetched { status, headers, body, is_cut } = fetched;
    let text = match std::str::from_utf8(&body) {
        Ok(text) => text,
        // Only the last character was cut in two.
        Err(error) if is_cut && error.error_len().is_none() => {
            std::str::from_utf8(&body[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return Outcome::of_error("the body is not UTF-8", Span::ZERO),
    };
    let value = Map::new()
        .with("status_code", i64::from(status))
        .with("headers", shown(&headers))
        .with("body", text)
        .with("truncated", is_cut)
        .with("not_modified", status == 304);
    Outcome::of_value(value.into(), 0, Span::ZERO)
}

/// The few headers that say something of the content.
fn shown(headers: &HeaderMap) -> Map {
    let named = [CONTENT_LENGTH, CONTENT_TYPE, ETAG, LAST_MODIFIED, LOCATION, RETRY_AFTER];
    let value = |name: &HeaderName| headers.get(name)?.to_str().ok().map(str::to_owned);
    named.iter().filter_map(|name| Some((Value::from(name.as_str()), Value::from(value(name)?)))).collect()
}

const GET: &str = "http.get";
const HEAD: &str = "http.head";
const GET_DOES: &str = "Reads a web address, and answers with its status, some headers and the beginning of its body. Redirects \
                        are not followed: location says where one leads. Give if-none-match to be told whether it changed.";
const HEAD_DOES: &str =
    "Asks for the status and some headers of a web address, without its body. Redirects are not followed.";
const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["url"],"properties":{
    "url":{"type":"string","description":"https, or http on this machine","examples":["https://example.com/health"]},
    "headers":{"type":"object","additionalProperties":{"type":"string"},
        "description":"accept, accept-language, if-modified-since and if-none-match"}}}"#;
/// Bytes of a body that are read. With its head the whole is within the bound on outcomes.
const BODY_BYTES: usize = 49_152;
