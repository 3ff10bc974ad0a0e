//! The EDN stream over the daemon's socket or HTTP: a client that asks, and a harness that is pushed to.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use reveille::domain::RunId;
use reveille::edn::Map;

use reveille_checker::{Event, Moment};

use crate::harness::ask::slot_of;
use crate::harness::daemon::{Daemon, PATIENCE, at, read, text};
use crate::harness::diary::Diary;
use crate::harness::sockets::{STREAM, connect, head, say};

/// One connection. Whatever it is asked, `None` is: the daemon is gone.
pub(crate) struct Stream {
    write: Box<dyn Write + Send>,
    lines: BufReader<Box<dyn Read + Send>>,
    asked: u64,
    /// What came while an answer was waited for.
    pushed: VecDeque<Map>,
    pub(crate) diary: Diary,
}

impl Stream {
    pub(crate) fn connect(socket: &Path) -> Option<Stream> {
        let write = UnixStream::connect(socket).ok()?;
        write.set_read_timeout(Some(PATIENCE)).ok()?;
        let read = write.try_clone().ok()?;
        Some(Stream::over(Box::new(write), Box::new(read), socket))
    }

    /// A stream over HTTP by this token.
    pub(crate) fn upgrade(daemon: &Daemon, token: &str) -> Stream {
        Stream::try_upgrade(daemon, token).expect("a token opens a stream")
    }

    /// A stream over HTTP by this token; `None` where there is no room for it.
    pub(crate) fn try_upgrade(daemon: &Daemon, token: &str) -> Option<Stream> {
        let mut write = connect(daemon, Ipv4Addr::LOCALHOST)?;
        say(&mut write, daemon, "GET /stream", token, STREAM);
        let read = write.try_clone().ok()?;
        (head(&mut write).0 == 101).then(|| Stream::over(Box::new(write), Box::new(read), &daemon.socket))
    }

    fn over(write: Box<dyn Write + Send>, read: Box<dyn Read + Send>, socket: &Path) -> Stream {
        let (lines, diary) = (BufReader::new(read), Diary::beside(socket));
        Stream { write, lines, asked: 0, pushed: VecDeque::new(), diary }
    }

    /// Sends a request, of which the number is left out, and reads up to its answer.
    pub(crate) fn ask(&mut self, request: &str) -> Option<Map> {
        self.asked += 1;
        let id = self.asked.cast_signed();
        let request = request.strip_prefix('{').expect("a map");
        self.tell(&format!("{{:id {id} {request}"))?;
        loop {
            let answer = self.next()?;
            if at(&answer, &["id"]).and_then(reveille::edn::Value::as_int) == Some(id) {
                return Some(answer);
            }
            self.pushed.push_back(answer);
        }
    }

    /// Sends something whose answer nobody waits for.
    pub(crate) fn tell(&mut self, request: &str) -> Option<()> {
        // One write: over TCP, the rest of a line would wait until the daemon has acknowledged its beginning.
        self.write.write_all(format!("{request}\n").as_bytes()).ok()
    }

    /// The next line: an answer or a push.
    pub(crate) fn next(&mut self) -> Option<Map> {
        let mut line = String::new();
        let read_bytes = self.lines.read_line(&mut line).ok()?;
        // A line without its end was cut off by the end of the daemon.
        (read_bytes > 0 && line.ends_with('\n')).then(|| read(&line))
    }

    /// Reads to the end; the last line that came.
    pub(crate) fn last_line(&mut self) -> String {
        let (mut last, mut line) = (String::new(), String::new());
        while self.lines.read_line(&mut line).is_ok_and(|read_bytes| read_bytes > 0) {
            std::mem::swap(&mut last, &mut line);
            line.clear();
        }
        last
    }

    /// The next push, whatever was waiting for answers meanwhile.
    pub(crate) fn pushed(&mut self) -> Option<Map> {
        self.take_pushed().or_else(|| self.next())
    }

    /// A push that came while an answer was waited for.
    pub(crate) fn take_pushed(&mut self) -> Option<Map> {
        self.pushed.pop_front()
    }

    /// A query, and its answer or the whole error.
    pub(crate) fn eql(&mut self, query: &str) -> Option<Result<Map, Map>> {
        let answer = self.ask(&format!("{{:op :eql :query {query}}}"))?;
        let ok = at(&answer, &["ok"]).and_then(|ok| ok.as_map()).cloned();
        Some(ok.filter(|ok| !ok.keys().any(|key| key.to_string().contains("error"))).ok_or(answer))
    }
}

/// A delivery as the harness saw it.
#[derive(Clone, Debug)]
pub(crate) struct Receipt {
    pub(crate) at: Moment,
    pub(crate) run: RunId,
    pub(crate) session: String,
}

impl Receipt {
    pub(crate) fn slot(&self) -> Moment {
        slot_of(&self.run)
    }

    pub(crate) fn event(&self) -> Event {
        Event::Receive {
            at: self.at,
            schedule: self.run.schedule.to_string(),
            run: self.run.to_string(),
            slot: Some(self.slot()),
            session: Some(self.session.clone()),
        }
    }
}

/// A connected harness: it acknowledges whatever it gets and is idle again at once.
pub(crate) struct Harness {
    received: Receiver<Receipt>,
    reader: JoinHandle<()>,
}

impl Harness {
    /// Connects and hosts these sessions, which are opened where they are not there. `None`: the daemon is gone.
    pub(crate) fn attach(socket: &Path, sessions: &[String]) -> Option<Harness> {
        let mut stream = Stream::connect(socket)?;
        let known = stream.eql("[{:psi.agent-session/sessions [:psi.agent-session/session-id]}]")?;
        let known = reveille::edn::Value::from(known.expect("an operator may ask")).to_string();
        let (old, new): (Vec<_>, Vec<_>) =
            sessions.iter().partition(|session| known.contains(&format!("{session:?}")));
        let attached = stream.ask(&format!("{{:op :host/attach :sessions {old:?}}}"))?;
        assert!(at(&attached, &["ok"]).is_some(), "{attached:?}");
        for session in new {
            let opened = stream.ask(&format!("{{:op :session/open :session-id {session:?}}}"))?;
            assert!(at(&opened, &["ok"]).is_some(), "{opened:?}");
        }
        for session in sessions {
            stream.diary.note(Event::Idle { at: stream.diary.now(), session: session.clone() });
        }
        let (sender, received) = channel();
        let reader = std::thread::spawn(move || _ = host(&mut stream, &sender));
        Some(Harness { received, reader })
    }

    /// The next delivery; `None` if none comes within the time.
    pub(crate) fn next(&self, within: std::time::Duration) -> Option<Receipt> {
        self.received.recv_timeout(within).ok()
    }

    /// All that it received, once the daemon is gone.
    pub(crate) fn finish(self) -> Vec<Receipt> {
        self.reader.join().expect("it panics on nothing");
        self.received.try_iter().collect()
    }
}

fn host(stream: &mut Stream, received: &Sender<Receipt>) -> Option<()> {
    loop {
        let push = stream.pushed()?;
        let Some(run) = text(&push, &["delivery-id"]) else { continue };
        let session = text(&push, &["session-id"])?.to_owned();
        let id = RunId::parse(run).expect("a run's id");
        assert_eq!(text(&push, &["message", "schedule-id"]), Some(id.schedule.to_string().as_str()));
        // Written down before it is acknowledged: what the daemon believes to be delivered is.
        let mut receipt = Receipt { at: Moment::EPOCH, run: id, session: session.clone() };
        stream.diary.note_now(|now| {
            receipt.at = now;
            receipt.event()
        });
        let _ = received.send(receipt);
        stream.tell(&format!("{{:op :delivery/ack :delivery-id {run:?}}}"))?;
        stream.tell(&format!("{{:op :session/busy :session-id {session:?} :busy? false}}"))?;
    }
}
