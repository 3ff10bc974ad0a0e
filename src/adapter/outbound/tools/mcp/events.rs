//! Reads event streams (`text/event-stream`): the messages in them, the place that was read last, and the pause before going on.
//!
//! Invariant: no more than `limits::SERVER_MESSAGE_BYTES` of one event are held. Source: WHATWG HTML §9.2, MCP 2025-11-25
//! (streamable HTTP).

use std::time::Duration;

use hyper::header::HeaderValue;

use crate::limits;

/// The reader of one stream after the other, which go on where the one before has ended.
pub(super) struct Events {
    max: usize,
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, after which a line feed begins no line of its own.
    after_return: bool,
    data: Option<Vec<u8>>,
    is_message: bool,
    place: Option<HeaderValue>,
    pause: Duration,
}

/// The server sent an event that is longer than the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong {
    /// The bound in bytes.
    pub(super) max: usize,
}

impl Events {
    pub(super) fn new() -> Events {
        Events {
            max: usize::try_from(limits::SERVER_MESSAGE_BYTES.value).unwrap_or(usize::MAX),
            line: Vec::new(),
            after_return: false,
            data: None,
            is_message: true,
            place: None,
            pause: PAUSE_MIN,
        }
    }

    /// The id of the last event, from which on a further stream can be asked for.
    pub(super) fn place(&self) -> Option<&HeaderValue> {
        self.place.as_ref()
    }

    /// How long to wait before a further stream is asked for.
    pub(super) fn pause(&self) -> Duration {
        self.pause
    }

    /// Drops the beginning of an event whose end did not come, before a further stream is read.
    pub(super) fn begin_stream(&mut self) {
        (self.line, self.data, self.after_return, self.is_message) = (Vec::new(), None, false, true);
    }

    /// Reads a piece of the stream up to the end of the next message, and leaves the rest; `None` if no message ends in it.
    ///
    /// # Errors
    /// [`TooLong`] if an event is longer than the bound; nothing can be read after it.
    pub(super) fn next(&mut self, piece: &mut &[u8]) -> Result<Option<Vec<u8>>, TooLong> {
        while let Some(end) = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (part, is_return) = (&piece[..end], piece[end] == b'\r');
            *piece = &piece[end + 1..];
            // The line feed of a CRLF pair ends no second line.
            let is_second_half = self.after_return && end == 0 && !is_return;
            self.after_return = is_return;
            if is_second_half {
                continue;
            }
            self.hold(part)?;
            let line = std::mem::take(&mut self.line);
            if let Some(message) = self.ended_line(&line) {
                return Ok(Some(message));
            }
        }
        // A byte behind the return means that no line feed belongs to it.
        self.after_return &= piece.is_empty();
        self.hold(piece)?;
        *piece = &[];
        Ok(None)
    }

    fn hold(&mut self, part: &[u8]) -> Result<(), TooLong> {
        let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if held + part.len() > self.max {
            return Err(TooLong { max: self.max });
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    /// Takes a whole line, and returns the message that ends with it.
    fn ended_line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if line.is_empty() {
            let is_message = std::mem::replace(&mut self.is_message, true);
            return self.data.take().filter(|_| is_message);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            b"event" => self.is_message = matches!(value, b"" | b"message"),
            b"id" if value.len() <= PLACE_BYTES => self.place = place(value),
            b"retry" => {
                let asked = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                let asked = asked.map(Duration::from_millis);
                self.pause = asked.map_or(self.pause, |asked| asked.clamp(PAUSE_MIN, PAUSE_MAX));
            }
            // A comment, or a field that nobody has defined.
            _ => {}
        }
        None
    }
}

/// The id of an event as it is sent back; an empty one takes the place away.
fn place(id: &[u8]) -> Option<HeaderValue> {
    HeaderValue::from_bytes(id).ok().filter(|id| !id.is_empty())
}

/// Shortest and longest pause before a further stream is asked for, whatever the server says.
const PAUSE_MIN: Duration = Duration::from_millis(limits::SERVER_REST_MS.value);
const PAUSE_MAX: Duration = Duration::from_millis(limits::SERVER_REST_MS_MAX.value);
/// Longest id of an event that is sent back.
const PLACE_BYTES: usize = 1_024;

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// The messages of a stream, read in pieces of this size.
    fn read(stream: &str, size: usize) -> (Vec<String>, Events) {
        let (mut events, mut found) = (Events::new(), Vec::new());
        for mut piece in stream.as_bytes().chunks(size) {
            while let Some(message) = events.next(&mut piece).expect("short") {
                found.push(String::from_utf8(message).expect("UTF-8"));
            }
        }
        (found, events)
    }

    #[test]
    fn the_messages_of_a_stream_are_read_however_it_is_cut() {
        for (stream, expected, place) in [
            ("data: a\n\ndata:b\n\n", &["a", "b"][..], None),
            ("data: a\ndata: b\r\ndata\r\n\r\n", &["a\nb\n"], None),
            ("data: a\rdata: b\r\rdata: c\r\r", &["a\nb", "c"], None),
            (": ping\n\n\n\nevent: ping\ndata: x\n\ndata: y\n\n", &["y"], None),
            ("id: 7\nevent: message\ndata: x\n\nid: 8\n\n", &["x"], Some("8")),
            ("id: 7\ndata: x\n\nid\n\n", &["x"], None),
            ("id: 7\ndata: cut of", &[], Some("7")),
            ("dates: x\ndata : y\n\n", &[], None),
        ] {
            for size in [1, 2, 3, 1_000] {
                let (found, events) = read(stream, size);
                assert_eq!(found, expected, "{stream:?} by {size}");
                assert_eq!(events.place().and_then(|place| place.to_str().ok()), place, "{stream:?}");
            }
        }
    }

    const WORDS: &[&str] =
        &["data", "event", "id", "retry", "message", ":", " ", "7", "x", "é", "\r", "\n", "\r\n", "\n\n"];

    /// A stream of what servers write, what they might write, and other bytes.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let word = prop_oneof![
            9 => select(WORDS).prop_map(|word| word.as_bytes().to_vec()),
            1 => vec(any::<u8>(), 0..4),
        ];
        vec(word, 0..60).prop_map(|words| words.concat())
    }

    /// All that is read of a stream that arrives in pieces of these sizes, in turn.
    fn read_all(stream: &[u8], sizes: &[usize]) -> (Vec<Vec<u8>>, Option<HeaderValue>, Duration) {
        let (mut events, mut found, mut rest) = (Events::new(), Vec::new(), stream);
        for size in sizes.iter().cycle() {
            let (mut piece, later) = rest.split_at((*size).min(rest.len()));
            while let Some(message) = events.next(&mut piece).expect("short") {
                found.push(message);
            }
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        (found, events.place().cloned(), events.pause())
    }

    proptest! {
        #[test]
        fn any_stream_is_read_alike_however_it_is_cut(stream in stream(), sizes in vec(1..9_usize, 1..20)) {
            let whole = read_all(&stream, &[stream.len().max(1)]);
            prop_assert_eq!(read_all(&stream, &sizes), whole.clone());
            prop_assert!((PAUSE_MIN..=PAUSE_MAX).contains(&whole.2));
        }

        #[test]
        fn any_message_is_read_as_it_was_sent(lines in vec("[^\r\n]{0,20}", 1..5), end in select(&["\r", "\n", "\r\n"][..])) {
            let event: String = lines.iter().map(|line| format!("data: {line}{end}")).collect();
            let (found, _, _) = read_all(format!("{event}{end}").as_bytes(), &[3]);
            prop_assert_eq!(found, [lines.join("\n").into_bytes()]);
        }
    }

    #[test]
    fn the_pause_is_the_servers_within_bounds() {
        for (retry, expected) in [("0", 1_000), ("2500", 2_500), ("9999999", 60_000), ("soon", 1_000)] {
            let (_, events) = read(&format!("retry: {retry}\n\n"), 1_000);
            assert_eq!(events.pause(), Duration::from_millis(expected), "{retry}");
        }
    }

    #[test]
    fn an_event_beyond_the_bound_is_refused_and_the_next_stream_begins_anew() {
        let line = ["data: ".to_owned(), "x".repeat(3 << 20), "\n".to_owned()].concat();
        let (stream, mut events) = ([line.clone(), line].concat(), Events::new());
        let refused = events.next(&mut stream.as_bytes());
        assert_eq!(refused, Err(TooLong { max: 4 << 20 }));
        events.begin_stream();
        assert_eq!(events.next(&mut &b"data: y\n\n"[..]), Ok(Some(b"y".to_vec())));
    }
}
