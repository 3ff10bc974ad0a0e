//! Frames of an event stream: the protocol graphql-sse, with one connection for each operation.
//!
//! Source: the protocol's description by the package graphql-sse, "distinct connections mode". Invariant: our JSON
//! contains no line breaks, so that every answer is one line of data.

/// The media type of the stream.
pub const CONTENT_TYPE: &str = "text/event-stream; charset=utf-8";

/// The first frame: a comment, which clients ignore.
pub const OPEN: &str = ":\n\n";

/// A comment that shows that the connection is alive.
pub const HEARTBEAT: &str = ":\n\n";

/// The frame at the end of the operation. The empty `data` line is needed: clients drop an event without data.
pub const COMPLETE: &str = "event: complete\ndata:\n\n";

/// Returns the frame of one answer.
pub fn next(body: &str) -> String {
    // A line break would end the `data` line in the middle of the JSON.
    debug_assert!(!body.contains(['\n', '\r']), "{body}");
    format!("event: next\ndata: {body}\n\n")
}

/// Returns whether a client asks for an event stream.
pub fn is_wanted(accept: Option<&str>) -> bool {
    // By name only: a client that accepts `*/*` expects JSON.
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
