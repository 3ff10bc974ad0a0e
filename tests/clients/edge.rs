//! The protocol on HTTP, as bare as it can be: what the daemon has around it (tokens, Host, bounds) is tested on the daemon.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use reveille::surface::mcp::{Features, McpReply, McpService, MirroredHeaders, MirroredValue};

/// Serves `POST /mcp` on a free port for as long as the process lives, and says where.
pub(crate) fn serve(features: impl Features + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let features = Arc::new(features);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let features = Arc::clone(&features);
            // A client that goes away gets no answer, and wants none.
            thread::spawn(move || answer(&stream, &*features));
        }
    });
    url
}

fn answer(mut stream: &TcpStream, features: &dyn Features) -> io::Result<()> {
    let mut input = BufReader::new(stream);
    let mut lines = input.by_ref().lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut headers = Vec::new();
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let said = |name: &str| {
        let mut values = headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (None, _) => MirroredValue::Nothing,
            (Some(value), None) => MirroredValue::Once(value),
            (Some(_), Some(_)) => MirroredValue::Unclear,
        }
    };
    let length = match said("content-length") {
        MirroredValue::Once(length) => length.parse().map_err(io::Error::other)?,
        MirroredValue::Nothing | MirroredValue::Unclear => 0,
    };
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    let mirror = MirroredHeaders {
        revision: said(MirroredHeaders::REVISION),
        method: said(MirroredHeaders::METHOD),
        name: said(MirroredHeaders::NAME),
    };
    let reply = match first.starts_with("POST /mcp ") {
        true => McpService { features }.answer(&body, Some(&mirror)),
        false => McpReply { status: 405, body: None },
    };
    let text = reply.body.unwrap_or_default();
    write!(
        stream,
        "HTTP/1.1 {} -\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        reply.status,
        text.len()
    )
}
