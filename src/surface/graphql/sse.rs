//! Answers as an event stream: the protocol graphql-sse, one connection for each operation.
//!
//! Source: the protocol's description by the package graphql-sse, "distinct connections mode". Invariant: JSON of ours
//! has no line breaks, so that every answer is one line of data.

/// The type of the answer.
pub const CONTENT_TYPE: &str = "text/event-stream; charset=utf-8";

/// What opens the stream: nothing that a client would show.
pub const OPEN: &str = ":\n\n";

/// A sign of life.
pub const HEARTBEAT: &str = ":\n\n";

/// The end of the operation.
pub const COMPLETE: &str = "event: complete\ndata:\n\n";

/// One answer.
pub fn next(body: &str) -> String {
    debug_assert!(!body.contains(['\n', '\r']), "{body}");
    format!("event: next\ndata: {body}\n\n")
}

/// Whether a client asks for an event stream.
pub fn is_wanted(accept: Option<&str>) -> bool {
    let ranges = accept.unwrap_or_default().split(',');
    ranges
        .map(|range| range.split(';').next().unwrap_or_default().trim())
        .any(|kind| kind == "text/event-stream")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_framed() {
        assert_eq!(next("{\"data\":1}"), "event: next\ndata: {\"data\":1}\n\n");
        assert!(is_wanted(Some("application/json, text/event-stream;q=0.9")));
        assert!(!is_wanted(Some("*/*")) && !is_wanted(None));
    }
}
