//! GraphQL over HTTP, as a function from the parts of a request to a reply.
//!
//! Lives here: content negotiation, parameters, status codes. Does not live here: sockets, tokens, and the access
//! checks before every route. Source: the GraphQL over HTTP specification; `tests/clients/graphql_http_audit.mjs`
//! checks us against it.
//!
//! Invariant: `answer` changes nothing for a GET, and refuses a POST that a form on a foreign page could send.

use crate::dialect::REQUEST_CAPS;
use crate::edn::{Map, Value};
use crate::surface::graphql::error::{Code, GraphqlError, refusal};
use crate::surface::graphql::execution::execute::{GraphqlReply, Outcome};
use crate::surface::graphql::operation::request::GraphqlRequest;
use crate::surface::json;

/// The parts of an HTTP request that GraphQL needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpRequest<'a> {
    /// The method, in upper case.
    pub(crate) method: &'a str,
    /// The `Content-Type` header.
    pub(crate) content_type: Option<&'a str>,
    /// The `Accept` header.
    pub(crate) accept: Option<&'a str>,
    /// The query string, without `?`.
    pub(crate) query: &'a str,
    /// The body.
    pub(crate) body: &'a [u8],
}

/// The reply to an HTTP request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpReply {
    /// The status code.
    pub(crate) status: u16,
    /// The `Content-Type` header.
    pub(crate) content_type: &'static str,
    /// The `Allow` header, if the method is refused.
    pub(crate) allow: Option<&'static str>,
    /// The body.
    pub(crate) body: String,
}

/// Reads the GraphQL request without running it, for a transport with an answer format of its own.
/// Also returns whether the request may only read.
///
/// # Errors
/// Returns the reply to an invalid request.
pub fn read(http: &HttpRequest<'_>) -> Result<(GraphqlRequest, bool), HttpReply> {
    let mut asked = None;
    // Without `Accept`: it names the transport's own format, which `answer` would refuse with 406.
    let reply = answer(&HttpRequest { accept: None, ..*http }, |request, is_reading| {
        asked = Some((request.clone(), is_reading));
        GraphqlReply { body: String::new(), outcome: Outcome::Ran }
    });
    asked.ok_or(reply)
}

/// Answers a request. `run` gets the GraphQL request, and whether it may only read.
pub fn answer(http: &HttpRequest<'_>, run: impl FnOnce(&GraphqlRequest, bool) -> GraphqlReply) -> HttpReply {
    let Some(format) = Format::accepted(http.accept) else {
        let message = "the answer is application/graphql-response+json or application/json";
        return Format::Json.refuse(406, GraphqlError::new(Code::Document, message));
    };
    let request = match (http.method, is_json(http.content_type)) {
        ("GET", _) => from_query(http.query),
        ("POST", true) => GraphqlRequest::from_json(http.body),
        ("POST", false) => {
            let message = "send the request as application/json, in UTF-8";
            return format.refuse(415, GraphqlError::new(Code::Document, message));
        }
        _ => {
            let error = GraphqlError::new(Code::Document, "send the request with POST, or a query with GET");
            return HttpReply { allow: Some("GET, POST"), ..format.refuse(405, error) };
        }
    };
    let request = match request {
        Ok(request) => request,
        Err(error) => return format.refuse(400, error),
    };
    let reply = run(&request, http.method == "GET");
    let status = match (reply.outcome, format) {
        // GET is a safe method of HTTP, so the specification demands 405 for a mutation.
        (Outcome::NotReading, _) => 405,
        // With `application/json`, a well-formed request gets 200 whatever its errors: a client cannot tell whether
        // another status comes from GraphQL or from a proxy.
        (Outcome::Refused, Format::Response) => 400,
        (Outcome::Refused, Format::Json) | (Outcome::Ran, _) => 200,
    };
    let allow = (status == 405).then_some("POST");
    HttpReply { status, content_type: format.content_type(), allow, body: reply.body }
}

/// The media type of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// `application/graphql-response+json`: the status code shows whether the operation ran.
    Response,
    /// `application/json`: the status code shows whether the request was well-formed.
    Json,
}

impl Format {
    /// Returns the format that `Accept` prefers, the first of equal ones; `None` if it accepts neither.
    fn accepted(accept: Option<&str>) -> Option<Self> {
        let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else {
            // No preference, as with a wildcard below: older clients understand only this type.
            return Some(Self::Json);
        };
        let mut best: Option<(u32, Self)> = None;
        for range in accept.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let format = match parts.next().unwrap_or_default().to_ascii_lowercase().as_str() {
                "application/graphql-response+json" => Self::Response,
                "application/json" | "application/*" | "*/*" => Self::Json,
                _ => continue,
            };
            let (mut weight, mut is_utf8) = (1_000, true);
            for part in parts {
                let (name, value) = part.split_once('=').unwrap_or((part, ""));
                match name.trim().to_ascii_lowercase().as_str() {
                    "q" => weight = thousandths(value.trim()),
                    "charset" => is_utf8 = is_utf8_name(value),
                    _ => {}
                }
            }
            // Answers are always UTF-8. A weight of 0 means "not acceptable" (RFC 9110, section 12.4.2).
            if is_utf8 && weight > 0 && best.is_none_or(|(most, _)| weight > most) {
                best = Some((weight, format));
            }
        }
        best.map(|(_, format)| format)
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Response => "application/graphql-response+json; charset=utf-8",
            Self::Json => "application/json; charset=utf-8",
        }
    }

    fn refuse(self, status: u16, error: GraphqlError) -> HttpReply {
        HttpReply { status, content_type: self.content_type(), allow: None, body: refusal(&[error]) }
    }
}

/// Returns whether a body is declared as JSON in UTF-8.
fn is_json(content_type: Option<&str>) -> bool {
    // Security: a form on a foreign page can send only urlencoded, multipart and plain text bodies. For any other type
    // the browser asks first with a CORS preflight, so requiring JSON keeps such forms out.
    let mut parts = content_type.unwrap_or_default().split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    is_json
        && parts.all(|part| match part.split_once('=') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => is_utf8_name(value),
            Some(_) | None => true,
        })
}

fn is_utf8_name(charset: &str) -> bool {
    let charset = charset.trim().trim_matches('"');
    charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
}

/// Parses a quality value as thousandths, to compare integers; an invalid value counts as 1.
fn thousandths(quality: &str) -> u32 {
    let (whole, fraction) = quality.split_once('.').unwrap_or((quality, ""));
    // A quality value has at most three decimals (RFC 9110, section 12.4.2).
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    match (whole.parse::<u32>(), digits.parse::<u32>()) {
        (Ok(whole), Ok(fraction)) => whole.saturating_mul(1_000).saturating_add(fraction),
        _ => 1_000,
    }
}

/// Reads a request from a query string.
fn from_query(query: &str) -> Result<GraphqlRequest, GraphqlError> {
    let mut map = Map::new();
    for pair in query.split('&') {
        // A parameter without a value counts as omitted (GraphQL over HTTP, "GET").
        let Some((name, value)) = pair.split_once('=').filter(|(_, value)| !value.is_empty()) else {
            continue;
        };
        let (Some(name), Some(value)) = (decoded(name), decoded(value)) else {
            return Err(GraphqlError::new(Code::Document, "the query string is not percent-encoded UTF-8"));
        };
        let value = match name.as_str() {
            // These two are JSON texts; all other parameters are plain strings.
            "variables" | "extensions" => json::read(value.as_bytes(), &REQUEST_CAPS).map_err(|error| {
                GraphqlError::new(Code::Document, format!("`{name}` is not JSON: {error}"))
            })?,
            _ => Value::string(value),
        };
        // Implementations differ in which of two values counts, so a duplicate is refused.
        if map.insert(Value::string(name.as_str()), value).is_some() {
            return Err(GraphqlError::new(Code::Document, format!("`{name}` is given twice")));
        }
    }
    GraphqlRequest::from_value(&map.into())
}

/// Decodes a name or value of a query string: `+` is a space, `%41` is `A`. Returns `None` if it is malformed.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(_: &GraphqlRequest, is_reading: bool) -> GraphqlReply {
        GraphqlReply { body: format!("{{\"data\":{is_reading}}}"), outcome: Outcome::Ran }
    }

    #[track_caller]
    fn check(http: &HttpRequest<'_>, status: u16, content_type: &str, part: &str) {
        let reply = answer(http, ran);
        assert_eq!(reply.status, status, "{http:?}: {}", reply.body);
        assert!(reply.content_type.starts_with(content_type), "{http:?}: {}", reply.content_type);
        assert!(reply.body.contains(part), "{http:?}: {}", reply.body);
    }

    #[test]
    fn notations_are_negotiated() {
        let get =
            HttpRequest { method: "GET", query: "query=%7Bp%7D&variables=%7B%7D", ..HttpRequest::default() };
        let (new, old) = ("application/graphql-response+json", "application/json");
        for (accept, expected) in [
            (None, old),
            (Some("*/*"), old),
            (Some("application/graphql-response+json"), new),
            (Some("application/graphql-response+json;q=0.5, application/json"), old),
            (Some("application/json;q=0.9, application/graphql-response+json"), new),
            (Some("application/graphql-response+json; charset=utf-8, application/json;q=0.9"), new),
            (Some("text/html, application/json;q=0.1"), old),
        ] {
            check(&HttpRequest { accept, ..get }, 200, expected, "true");
        }
        for accept in ["text/html", "application/json;q=0", "application/json; charset=iso-8859-1"] {
            check(&HttpRequest { accept: Some(accept), ..get }, 406, old, "errors");
        }
    }

    #[test]
    fn requests_are_taken_as_json_only() {
        let body = br#"{"query":"{p}"}"#;
        let post = HttpRequest { method: "POST", body, ..HttpRequest::default() };
        for kind in
            ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\""]
        {
            check(&HttpRequest { content_type: Some(kind), ..post }, 200, "application/json", "false");
        }
        for kind in [
            None,
            Some("text/plain"),
            Some("application/x-www-form-urlencoded"),
            Some("multipart/form-data; boundary=x"),
            Some("application/json; charset=utf-16"),
        ] {
            check(&HttpRequest { content_type: kind, ..post }, 415, "application/json", "errors");
        }
        for method in ["PUT", "HEAD", "OPTIONS", "get"] {
            check(&HttpRequest { method, ..post }, 405, "application/json", "errors");
        }
    }

    #[test]
    fn parameters_are_checked() {
        let json =
            HttpRequest { method: "POST", content_type: Some("application/json"), ..HttpRequest::default() };
        for (body, part) in [
            ("", "not JSON"),
            ("[]", "batches"),
            ("[{\"query\":\"{p}\"}]", "batches"),
            ("7", "not a JSON object"),
            ("{}", "needs a `query`"),
            (r#"{"query":1}"#, "needs a `query`"),
            (r#"{"query":"{p}","query":"{q}"}"#, "duplicate key"),
            (r#"{"query":"{p}","variables":[]}"#, "`variables`"),
            (r#"{"query":"{p}","extensions":""}"#, "`extensions`"),
            (r#"{"query":"{p}","operationName":1}"#, "`operationName`"),
        ] {
            check(&HttpRequest { body: body.as_bytes(), ..json }, 400, "application/json", part);
        }
        let get = HttpRequest { method: "GET", ..HttpRequest::default() };
        for query in ["", "query", "query=%7", "query=%ff", "query=a&query=b", "query=a&variables=%7B"] {
            check(&HttpRequest { query, ..get }, 400, "application/json", "errors");
        }
        let query = "query=a&operationName=&variables=&extensions";
        check(&HttpRequest { query, ..get }, 200, "application/json", "data");
    }
}
