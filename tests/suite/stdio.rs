//! The EDN stream protocol, driven as a client drives it: bytes into a pipe, lines out of another.
//!
//! `fixtures/stdio/protocol.edn` holds conversations, `bad-input.edn` what no client should send. The clock is
//! simulated and the test takes the driver's turns; a read blocks until its line is there, and nothing waits for time.

pub(crate) mod json;
mod page;

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::psi_rows::pattern::Bindings;
use reveille::adapter::HostLocal;
use reveille::dialect::{Notation, psi};
use reveille::domain::{HostId, ScheduleId, SessionConfig, SessionId, Span};
use reveille::edn::{Caps, Map, Value, read, read_all};
use reveille::engine::{Input, Report, State};
use reveille::port::Clock;
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::surface::edn_stream::{Connection, Peer, serve};
use reveille::testkit::Stage;

/// Answers may be long, as lists are; deeper than a request they must not be.
const CAPS: Caps = Caps { bytes_max: 64 << 20, depth_max: 64, digits_max: 2_000, forms_max: 1_000_000 };

#[test]
fn conversations_go_as_written() {
    let faults = each_row(include_str!("../../fixtures/stdio/protocol.edn"), |row| {
        let mut world = World::new();
        let steps = row.keyword("steps").and_then(Value::as_items).expect("a row has steps");
        world.play(steps, &mut Bindings::default())
    });
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Each row is sent to a connection beside a schedule that waits: it gets its answers, and the schedule is still there.
#[test]
fn bad_input_is_answered_and_loses_nothing() {
    let faults = each_row(include_str!("../../fixtures/stdio/bad-input.edn"), |row| {
        let get = |key: &str| row.keyword(key).cloned().unwrap_or(Value::Nil);
        let (mut world, mut bindings) = (World::new(), Bindings::default());
        world.play(&forms(BEFORE), &mut bindings)?;
        world.client("bad")?.send(&bytes(&get("send"))?);
        for pattern in get("answers").as_items().ok_or("a row has answers")? {
            let answer = world.client("bad")?.answer()?;
            bindings.compare(pattern, &answer, "")?;
        }
        let is_over = get("closes?").is_truthy();
        let after = if is_over { AFTER_THE_END } else { AFTER };
        if get("ends-inside?").is_truthy() {
            return world.play(&forms(AFTER_AN_OPEN_END), &mut bindings);
        }
        world.play(&forms(after), &mut bindings)
    });
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

const BEFORE: &str = r#"
    [:connect "good"] [:ask "good" {:op :session/open :session-id "s1"} => {:ok _}]
    [:ask "good" {:op :call :tool "psi-tool" :session-id "s1"
                  :args {:action "scheduler" :op "create" :kind "message" :message "kept" :delay-ms 60000}} => {:ok _}]
    [:connect "bad"]"#;

const AFTER: &str = r#"
    [:ask "bad" {:id 1 :op :call :tool "psi-tool" :session-id "s1" :args {:action "scheduler" :op "list"}}
     => {:id 1 :ok {:psi-tool/scheduler {:schedules [{:message "kept"}]}}}]
    [:hang-up "bad" => []]"#;

const AFTER_AN_OPEN_END: &str = r#"
    [:hang-up "bad" => [{:error {:class "reader" :phase :read :message (contains "ends inside a form")}}]]
    [:connect "new"]
    [:ask "new" {:op :call :tool "psi-tool" :session-id "s1" :args {:action "scheduler" :op "list"}}
     => {:ok {:psi-tool/scheduler {:schedules [{:message "kept"}]}}}]"#;

const AFTER_THE_END: &str = r#"
    [:closed "bad" => []] [:connect "new"]
    [:ask "new" {:op :call :tool "psi-tool" :session-id "s1" :args {:action "scheduler" :op "list"}}
     => {:ok {:psi-tool/scheduler {:schedules [{:message "kept"}]}}}]
    [:ask "good" {:id 2 :op :call :tool "psi-tool" :session-id "s1" :args {:action "scheduler" :op "list"}}
     => {:id 2 :ok {:psi-tool/scheduler {:schedule-count 1}}}]"#;

fn each_row(table: &str, play: impl Fn(&Map) -> Result<(), String>) -> Vec<String> {
    let fault = |row: &Value| {
        let row = row.as_map().expect("a row is a map");
        let says = row.keyword("says").and_then(Value::as_str).expect("a row says what it shows");
        play(row).err().map(|fault| format!("{says}\n{fault}"))
    };
    forms(table).iter().filter_map(fault).collect()
}

fn forms(text: &str) -> Vec<Value> {
    read_all(text.as_bytes(), &CAPS).expect("tables are EDN")
}

/// What is sent: a string as it stands, `(bytes 255 …)`, `(times n x)`, `(text x …)`, or a form, printed.
fn bytes(value: &Value) -> Result<Vec<u8>, String> {
    if let Some(text) = value.as_str() {
        return Ok(text.as_bytes().to_vec());
    }
    let Value::List(items) = value else { return Ok(value.to_string().into_bytes()) };
    let word = items.first().and_then(Value::as_symbol).map_or("", |symbol| symbol.as_str());
    match (word, items.get(1..).unwrap_or_default()) {
        ("text", parts) => parts.iter().map(bytes).collect::<Result<Vec<_>, _>>().map(|parts| parts.concat()),
        ("times", [Value::Int(count), part]) => Ok(bytes(part)?.repeat(usize::try_from(*count).unwrap_or(0))),
        ("bytes", codes) => {
            let byte = |code: &Value| code.as_int().and_then(|code| u8::try_from(code).ok()).ok_or("a byte?");
            Ok(codes.iter().map(byte).collect::<Result<Vec<u8>, _>>()?)
        }
        _ => Err(format!("nothing that can be sent: {value}")),
    }
}

/// One engine and its clients.
struct World {
    stage: Stage,
    handle: Handle,
    /// What its clients speak.
    notation: Notation,
    clients: BTreeMap<String, Client>,
    /// Each step with what came of it.
    done: Vec<Done>,
}

/// A step that was made: its verb and arguments, and what came of it.
struct Done(String, Vec<Value>, Value);

impl World {
    fn new() -> World {
        World::speaking(Notation::Edn)
    }

    fn speaking(notation: Notation) -> World {
        let stage = Stage::seeded(20_260_422);
        let handle = Handle::new(stage.parts(Arc::new(HostLocal::new())));
        World { stage, handle, notation, clients: BTreeMap::new(), done: Vec::new() }
    }

    fn client(&mut self, name: &str) -> Result<&mut Client, String> {
        self.clients.get_mut(name).ok_or_else(|| format!("{name} is not connected"))
    }

    fn play(&mut self, steps: &[Value], bindings: &mut Bindings) -> Result<(), String> {
        for (place, step) in steps.iter().enumerate() {
            self.step(step, bindings).map_err(|fault| format!("step {}: {step}\n{fault}", place + 1))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Value, bindings: &mut Bindings) -> Result<(), String> {
        let items = step.as_items().ok_or("a step is a vector")?;
        let verb = items.first().and_then(Value::as_keyword).ok_or("a step begins with a keyword")?.as_str();
        if verb == "repeat" {
            let times = items.get(1).and_then(Value::as_int).ok_or("how many times?")?;
            return (0..times).try_for_each(|_| self.play(&items[2..], &mut bindings.clone()));
        }
        let is_arrow = |item: &Value| item.as_symbol().is_some_and(|symbol| symbol.as_str() == "=>");
        let arrow = items.iter().position(is_arrow).unwrap_or(items.len());
        let args = items[1..arrow].iter().map(|item| bindings.fill(item)).collect::<Result<Vec<_>, _>>()?;
        let actual = self.act(verb, &args)?;
        self.done.push(Done(verb.to_owned(), args, actual.clone()));
        items.get(arrow + 1).map_or(Ok(()), |pattern| bindings.compare(pattern, &actual, ""))
    }

    fn act(&mut self, verb: &str, args: &[Value]) -> Result<Value, String> {
        let text =
            |place: usize| args.get(place).and_then(Value::as_str).ok_or("a text is missing".to_owned());
        match verb {
            "connect" => self.connect(text(0)?, text(1).ok()),
            "send" => self.client(text(0)?)?.say(args.get(1).ok_or("what?")?),
            "ask" => {
                let client = self.client(text(0)?)?;
                client.say(args.get(1).ok_or("what?")?)?;
                client.answer()
            }
            "answer" => self.client(text(0)?)?.answer(),
            "push" => self.client(text(0)?)?.push(),
            "quiet" => self.client(text(0)?)?.quiet(),
            "hang-up" | "closed" => {
                let client = self.clients.remove(text(0)?).ok_or("not connected")?;
                client.end(verb == "hang-up")
            }
            "advance-ms" => {
                let millis =
                    args.first().and_then(Value::as_int).and_then(|millis| u64::try_from(millis).ok());
                Ok(self.advance(Span::from_millis(millis.ok_or("how long?")?)))
            }
            "turn" => Ok(Value::Bool(self.handle.run_due().is_some())),
            "fill-feed" => self.fill_feed(text(0)?),
            "state-of" => self.state_of(text(0)?),
            "transcript" => self.transcript(text(0)?),
            other => Err(format!("no step {other}")),
        }
    }

    /// Without a session the peer is the operator; with one it is that session, which is opened if need be.
    fn connect(&mut self, name: &str, session: Option<&str>) -> Result<Value, String> {
        let session = session.map(SessionId::new).transpose().map_err(|error| error.to_string())?;
        if let Some(session) =
            session.clone().filter(|id| self.handle.view(|state| state.session(id).is_none()))
        {
            let opened = self.handle.open_session(Some(session), HostId::LOCAL, SessionConfig::default());
            opened.map_err(|refusal| refusal.to_string())?;
        }
        let peer = session.map_or(Peer::Operator, Peer::Session);
        let client = Client::connect(Connection::new(Service::new(self.handle.clone()), peer), self.notation);
        self.clients.insert(name.to_owned(), client);
        Ok(Value::Nil)
    }

    fn advance(&self, span: Span) -> Value {
        let target = self.stage.clock.now().boot.after(span);
        while let Some(next) = self.handle.run_due().filter(|next| *next <= target) {
            self.stage.clock.advance_to(next);
        }
        self.stage.clock.advance_to(target);
        self.handle.run_due();
        Value::Nil
    }

    /// So many decisions about a session that the first of the feed are gone.
    fn fill_feed(&self, session: &str) -> Result<Value, String> {
        let session = SessionId::new(session).map_err(|error| error.to_string())?;
        for number in 0..=reveille::limits::DECISIONS_KEPT.value {
            let report = Report::Busy { session: session.clone(), busy: number % 2 == 0, by: None };
            self.handle.submit(Input::Report(report)).map_err(|refusal| refusal.to_string())?;
        }
        Ok(Value::Int(i64::try_from(self.handle.view(State::cursor).number()).unwrap_or(i64::MAX)))
    }

    fn state_of(&self, id: &str) -> Result<Value, String> {
        let id = ScheduleId::new(id).map_err(|error| error.to_string())?;
        let state = self.handle.view(|state| {
            let record = state.schedule(&id)?;
            let answer = psi::created(state, record, 0).value;
            let schedule = answer.as_map()?.keyword("psi-tool/scheduler")?.as_map()?.keyword("schedule")?;
            let waits_for = state.waits_for(record).map(|reason| Value::keyword(reason.name()));
            Some(schedule.as_map()?.clone().with("waits-for", waits_for).into())
        });
        Ok(state.unwrap_or(Value::Nil))
    }

    fn transcript(&self, session: &str) -> Result<Value, String> {
        let session = SessionId::new(session).map_err(|error| error.to_string())?;
        let messages = self.handle.sessions().transcript(&session).unwrap_or_default();
        Ok(Value::from(
            messages.messages.iter().map(|message| psi::message::print(message)).collect::<Vec<_>>(),
        ))
    }
}

/// The far end of one connection.
struct Client {
    input: PipeWriter,
    output: BufReader<PipeReader>,
    notation: Notation,
    pushes: VecDeque<Value>,
    served: JoinHandle<std::io::Result<()>>,
}

impl Client {
    fn connect(connection: Connection, notation: Notation) -> Client {
        let (their_input, input) = std::io::pipe().expect("the system has a pipe");
        let (output, their_output) = std::io::pipe().expect("the system has a pipe");
        let served = std::thread::spawn(move || serve(connection, their_input, their_output));
        Client { input, output: BufReader::new(output), notation, pushes: VecDeque::new(), served }
    }

    /// Sends what a step says, in the client's notation.
    fn say(&mut self, what: &Value) -> Result<Value, String> {
        let bytes = match self.notation {
            Notation::Edn => bytes(what)?,
            Notation::Json => json::request(what).ok_or("only EDN has it")?.into_bytes(),
        };
        Ok(self.send(&bytes))
    }

    fn send(&mut self, bytes: &[u8]) -> Value {
        // A stream that was closed over its limits takes no more: what it had to say, it says in its answer.
        let written = self.input.write_all(bytes).and_then(|()| self.input.write_all(b"\n"));
        Value::Bool(written.is_ok())
    }

    fn line(&mut self) -> Result<Option<Value>, String> {
        let mut line = String::new();
        let length = self.output.read_line(&mut line).map_err(|error| error.to_string())?;
        if length == 0 {
            return Ok(None);
        }
        read_line(&line, self.notation).map(Some)
    }

    /// The next line that is no push; pushes on the way are kept.
    fn answer(&mut self) -> Result<Value, String> {
        loop {
            let line = self.line()?.ok_or("the stream has ended")?;
            if !is_push(&line) {
                return Ok(line);
            }
            self.pushes.push_back(line);
        }
    }

    fn push(&mut self) -> Result<Value, String> {
        if let Some(push) = self.pushes.pop_front() {
            return Ok(push);
        }
        let line = self.line()?.ok_or("the stream has ended")?;
        if is_push(&line) { Ok(line) } else { Err(format!("an answer instead of a push: {line}")) }
    }

    /// Nothing was pushed: the answer to a question asked now comes first.
    fn quiet(&mut self) -> Result<Value, String> {
        self.say(&Map::new().with("id", "quiet").with("op", Value::keyword("anything-new?")).into())?;
        let answer = self.answer()?;
        let id = answer.as_map().and_then(|map| map.keyword("id").or_else(|| map.text("id")));
        if id != Some(&Value::from("quiet")) {
            return Err(format!("an answer nobody waited for: {answer}"));
        }
        if self.pushes.is_empty() { Ok(answer) } else { Err(format!("pushed: {:?}", self.pushes)) }
    }

    /// The end, from this side or from the other: the lines that were still to come.
    fn end(mut self, hang_up: bool) -> Result<Value, String> {
        let mut left: Vec<Value> = self.pushes.drain(..).collect();
        let mut input = Some(self.input);
        if hang_up {
            input = None;
        }
        let rest = std::mem::replace(&mut self.output, BufReader::new(std::io::pipe().expect("a pipe").0));
        let rest: Vec<String> = rest.lines().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        for line in rest {
            left.push(read_line(&line, self.notation)?);
        }
        drop(input);
        let served = self.served.join().map_err(|_| "the server panicked")?;
        served.map_err(|error| error.to_string())?;
        Ok(Value::from(left))
    }
}

/// Reads a line of the server.
fn read_line(line: &str, notation: Notation) -> Result<Value, String> {
    match notation {
        Notation::Edn => read(line.as_bytes(), &CAPS).map_err(|error| format!("{error}: {line}")),
        Notation::Json => json::read(line).map_err(|error| format!("{error}: {line}")),
    }
}

fn is_push(line: &Value) -> bool {
    line.as_map().is_some_and(|map| map.keyword("push").or_else(|| map.text("push")).is_some())
}
