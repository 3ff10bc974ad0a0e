//! The fake server of the Model Context Protocol over HTTP: a listener of this test program, with a thread for each connection.
//!
//! Beside the words of `fake_server.rs` it knows: `events` (answers are streams of events), `stream` (it says by a stream of
//! its own that its tools have changed), `resume` (a stream ends before its answer, and another one goes on), `forget` (it
//! knows no session any more), `closed` (401), `moved` (307), `wrong` (no answer, but 202). Of each request it writes down the
//! method and the headers.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::fake_server::Server;

pub(super) struct FakeHttp {
    shared: Arc<Shared>,
    pub(super) address: SocketAddr,
}

struct Shared {
    home: PathBuf,
    is_over: AtomicBool,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    introduced: usize,
    sessions: BTreeSet<String>,
    streams: Vec<TcpStream>,
    /// Answers that a further stream brings, by the id of the event that was sent instead.
    parked: BTreeMap<String, Vec<u8>>,
}

struct Request {
    method: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl FakeHttp {
    /// Listens at this address; port 0 for any.
    pub(super) fn listen(home: &Path, address: SocketAddr) -> FakeHttp {
        let listener = TcpListener::bind(address).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared =
            Shared { home: home.to_owned(), is_over: AtomicBool::new(false), known: Mutex::default() };
        let shared = Arc::new(shared);
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if accepting.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                thread::spawn(move || shared.serve(stream));
            }
        });
        FakeHttp { shared, address }
    }
}

impl Drop for FakeHttp {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.shared.known.lock().expect("whole").streams.clear();
        // Its thread sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let Some(request) = read(&stream) else { return };
        let server = |out: Box<dyn Write>| Server::new(self.home.clone(), out);
        let plain = server(Box::new(io::sink()));
        plain.append("requests", &format!("{} {:?}", request.method, request.headers));
        if let Some((status, more)) = self.refusal(&plain, &request) {
            let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "go away"}});
            let head =
                format!("HTTP/1.1 {status} No\r\n{more}Content-Length: {}\r\n\r\n", body.to_string().len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
            return;
        }
        match &*request.method {
            "POST" => self.post(&plain, &request, stream, &server),
            "GET" => self.get(&request, stream),
            _ => {
                plain.append("ends", "the session was ended");
                let _ = stream.write_all(b"HTTP/1.1 204 Ended\r\n\r\n");
            }
        }
    }

    /// The status with which a request is refused.
    fn refusal(&self, told: &Server, request: &Request) -> Option<(u16, &'static str)> {
        if told.told("closed") || request.header("authorization") != "Bearer t0ken" {
            return Some((401, ""));
        }
        if told.told("moved") {
            return Some((307, "Location: http://127.0.0.1:1/\r\n"));
        }
        let is_first = request.message()["method"] == "initialize";
        if told.told("forget") {
            self.known.lock().expect("whole").sessions.clear();
        }
        let known = self.known.lock().expect("whole");
        let is_known = known.sessions.contains(request.header("mcp-session-id"));
        match (is_first, request.header("mcp-session-id"), request.header("mcp-protocol-version")) {
            (true, "", "") => None,
            (true, ..) | (false, _, "") | (false, "", _) => Some((400, "")),
            (false, ..) if !is_known => Some((404, "")),
            (false, ..) => {
                let no_stream = request.method == "GET"
                    && !told.told("stream")
                    && request.header("last-event-id").is_empty();
                no_stream.then_some((405, ""))
            }
        }
    }

    fn post(
        &self,
        told: &Server,
        request: &Request,
        mut stream: TcpStream,
        server: &impl Fn(Box<dyn Write>) -> Server,
    ) {
        let message = request.message();
        told.append("lines", &message.to_string());
        if message["id"].is_null() || message["method"].is_null() || told.told("wrong") {
            let _ = stream.write_all(b"HTTP/1.1 202 Accepted\r\n\r\n");
            return;
        }
        let mut head = "HTTP/1.1 200 OK\r\nConnection: close\r\n".to_owned();
        if message["method"] == "initialize" {
            let mut known = self.known.lock().expect("whole");
            known.introduced += 1;
            let id = format!("session-{}", known.introduced);
            head.push_str(&format!("Mcp-Session-Id: {id}\r\n"));
            known.sessions.insert(id);
        }
        let is_call = message["method"] == "tools/call";
        if is_call && told.told("resume") {
            let mut answer = Events { out: Vec::new(), is_begun: false };
            let place = format!("place-{}", message["id"]);
            let shared: Arc<Mutex<Vec<u8>>> = Arc::default();
            server(Box::new(Collected(Arc::clone(&shared)))).hear(&message);
            answer.write_all(&shared.lock().expect("whole")).expect("memory");
            self.known.lock().expect("whole").parked.insert(place.clone(), answer.out);
            let _ = stream.write_all(
                format!("{head}Content-Type: text/event-stream\r\n\r\nid: {place}\nretry: 50\ndata:\n\n")
                    .as_bytes(),
            );
            return;
        }
        let is_events = told.told("events");
        let media_type = if is_events { "text/event-stream; charset=utf-8" } else { "application/json" };
        head.push_str(&format!("Content-Type: {media_type}\r\n\r\n"));
        let body = Late { head: Some(head), stream };
        if is_events {
            server(Box::new(Events { out: body, is_begun: false })).hear(&message);
        } else {
            server(Box::new(body)).hear(&message);
        }
        if is_call && message["params"]["name"] == "change" && told.told("stream") {
            let changed = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";
            for stream in &mut self.known.lock().expect("whole").streams {
                let _ = stream.write_all(changed.as_bytes());
            }
        }
    }

    fn get(&self, request: &Request, mut stream: TcpStream) {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: welcome\n\n";
        if stream.write_all(head).is_err() {
            return;
        }
        let mut known = self.known.lock().expect("whole");
        match known.parked.remove(request.header("last-event-id")) {
            Some(answer) => {
                let _ = stream.write_all(&answer);
            }
            None => known.streams.push(stream),
        }
    }
}

impl Request {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value)
    }

    fn message(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        let length = reader.read_line(&mut line).ok()?;
        match line.trim_end() {
            "" if length == 0 => return None,
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let method = lines.first()?.split(' ').next()?.to_owned();
    let header =
        |line: &String| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    let headers: BTreeMap<String, String> = lines.iter().skip(1).filter_map(header).collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, headers, body })
}

/// A response whose head goes out with the first bytes of its body: a server that crashes has sent none of it.
struct Late {
    head: Option<String>,
    stream: TcpStream,
}

impl Write for Late {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(head) = self.head.take() {
            self.stream.write_all(head.as_bytes())?;
        }
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Lines as the data of events, each after a note that is none.
struct Events<W> {
    out: W,
    is_begun: bool,
}

impl<W: Write> Write for Events<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !std::mem::replace(&mut self.is_begun, true) {
                self.out.write_all(b": note\r\ndata: ")?;
            }
            self.out.write_all(part)?;
            if part.ends_with(b"\n") {
                self.out.write_all(b"\n")?;
                self.is_begun = false;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

struct Collected(Arc<Mutex<Vec<u8>>>);

impl Write for Collected {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("whole").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
