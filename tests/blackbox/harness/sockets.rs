//! Connections that a test holds itself, byte by byte: requests that are not read, EDN streams, WebSockets, subscriptions.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use crate::harness::daemon::{Daemon, PATIENCE};

/// A connection from an address of this machine, with a small buffer for what comes.
pub(crate) fn connect(daemon: &Daemon, from: Ipv4Addr) -> Option<TcpStream> {
    let to: SocketAddr = daemon.address().parse().expect("an address");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4_096)?;
        socket.bind((from, 0).into())?;
        socket.connect(to).await?.into_std()
    });
    let stream = stream.ok()?;
    stream.set_nonblocking(false).expect("ours");
    stream.set_nodelay(true).expect("ours");
    stream.set_read_timeout(Some(PATIENCE)).expect("ours");
    Some(stream)
}

/// Sends the head of a request with this token, if there is one, and a body.
pub(crate) fn say(stream: &mut TcpStream, daemon: &Daemon, request: &str, token: &str, rest: &str) {
    let bearer = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    let text = format!("{request} HTTP/1.1\r\nHost: {}\r\n{bearer}{rest}", daemon.address());
    // One for which there is no room is dropped at once.
    let _ = stream.write_all(text.as_bytes());
}

/// Reads the head of an answer, and the body that it announces; nothing of what was upgraded.
pub(crate) fn head(stream: &mut TcpStream) -> (u16, String) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|length| length == 1) {
        head.extend(byte);
    }
    let head = String::from_utf8(head).expect("UTF-8").to_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; if status < 400 { 0 } else { length.unwrap_or(0) }];
    stream.read_exact(&mut body).expect("as long as announced");
    (status, String::from_utf8(body).expect("UTF-8"))
}

/// What asks for an EDN stream.
pub(crate) const STREAM: &str = "Connection: Upgrade\r\nUpgrade: reveille-edn\r\n\r\n";
/// What asks for a WebSocket.
pub(crate) const WEBSOCKET: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                         Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n";

/// Sends a text frame, masked with zeros.
fn send(stream: &mut TcpStream, text: &str) {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 126).expect("a short frame");
    let frame = [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat();
    let _ = stream.write_all(&frame);
}

/// Reads a frame: its text, or the code and the reason of the end.
fn frame(stream: &mut TcpStream) -> String {
    let mut head = [0; 2];
    stream.read_exact(&mut head).expect("a frame");
    let mut length = usize::from(head[1]);
    if length == 126 {
        stream.read_exact(&mut head).expect("a length");
        length = usize::from(u16::from_be_bytes(head));
        head[0] = 0x81;
    }
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).expect("a payload");
    match head[0] {
        0x88 => {
            let code = u16::from_be_bytes([payload[0], payload[1]]);
            format!("{code} {}", String::from_utf8_lossy(&payload[2..]))
        }
        _ => String::from_utf8(payload).expect("text"),
    }
}

/// A WebSocket of this token, or why it was refused.
pub(crate) fn websocket(daemon: &Daemon, token: &str) -> Result<TcpStream, String> {
    let mut stream = connect(daemon, Ipv4Addr::LOCALHOST).expect("it listens");
    say(&mut stream, daemon, "GET /graphql", "", WEBSOCKET);
    assert_eq!(head(&mut stream).0, 101);
    send(&mut stream, &format!(r#"{{"type":"connection_init","payload":{{"token":"{token}"}}}}"#));
    let answer = frame(&mut stream);
    if answer == r#"{"type":"connection_ack"}"# { Ok(stream) } else { Err(answer) }
}

/// Starts a subscription; whether it runs, or the error.
pub(crate) fn subscribe(stream: &mut TcpStream, id: usize) -> Result<(), String> {
    let query = r#""payload":{"query":"subscription { events { kind } }"}"#;
    send(stream, &format!(r#"{{"id":"{id}","type":"subscribe",{query}}}"#));
    send(stream, r#"{"type":"ping"}"#);
    let answer = frame(stream);
    if answer == r#"{"type":"pong"}"# {
        return Ok(());
    }
    assert_eq!(frame(stream), r#"{"type":"pong"}"#);
    Err(answer)
}
