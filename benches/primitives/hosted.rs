//! Calls of an attached host's tools over its stream, and how soon a session hears of the end of a task.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use reveille::adapter::{HostLocal, HostTapped};
use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{
    Call, CallPurpose, Caller, Dialect, Durability, Message, Payload, Primitives, SessionId, Sink, When,
};
use reveille::edn::{Map, Value, read};
use reveille::engine::{Invocation, NewSchedule};
use reveille::port::Store;
use reveille::runtime::AttachOptions;
use reveille::service::{CallStyle, Service};
use reveille::surface::edn_stream::{Connection, Peer, serve};

use crate::engine::{Engine, PER_SESSION, Sleeping, TOOL, tool};
use crate::system::boot_nanos;
use crate::{Figures, call_all, middle};

/// How long fifty calls at once take that a host carries out, over a socket.
pub(crate) fn calls(repeats: usize) -> Figures {
    let engine = Engine::with(0, Arc::new(HostLocal::new()), None);
    let service = Service::new(engine.handle().clone());
    let (ours, theirs) = UnixStream::pair().expect("the system has sockets");
    let connection = Connection::new(service.clone(), Peer::Operator);
    let input = theirs.try_clone().expect("one more descriptor");
    std::thread::spawn(move || serve(connection, input, theirs));
    let (opened, is_open) = channel();
    std::thread::spawn(move || host(ours, &opened));
    is_open.recv().expect("the host offers its tool");
    let session = SessionId::new("hosted").expect("letters");
    let times = (0..repeats).map(|_| call_all(&service, &session, TOOL));
    let times: Vec<u64> = times.collect();
    engine.leave();
    vec![("parallel-host", middle(times) / 1e3)]
}

/// A host that offers a tool, and answers each call of it at once.
fn host(stream: UnixStream, opened: &Sender<()>) {
    let mut out = stream.try_clone().expect("one more descriptor");
    let mut lines = BufReader::new(stream).lines();
    let mut next = || {
        let line = lines.next()?.ok()?;
        read(line.as_bytes(), &REQUEST_CAPS).ok()?.as_map().cloned()
    };
    for request in [
        "{:id 1 :op :host/attach}".to_owned(),
        "{:id 2 :op :session/open :session-id \"hosted\"}".to_owned(),
        format!("{{:id 3 :op :tools/offer :tools [{{:name {TOOL:?} :risk :read}}]}}"),
    ] {
        writeln!(out, "{request}").expect("the daemon reads");
        let answer = next().expect("an answer");
        assert!(answer.keyword("error").is_none(), "{}", Value::from(answer));
    }
    opened.send(()).expect("it waits");
    while let Some(push) = next() {
        let Some(id) = push.keyword("call-id").and_then(Value::as_str) else { continue };
        if push.keyword("push").is_some_and(|push| push.to_string() == ":tool/call") {
            writeln!(out, "{{:op :tool/result :call-id {id:?} :ok \"ok\"}}").expect("the daemon reads");
        }
    }
}

/// How long it takes from the end of a call to its bulletin at an idle host, in milliseconds: of a task, which is in memory, or
/// of a scheduled call, whose end is in a store before the session is told.
pub(crate) fn bulletins(calls: usize, store: Option<Arc<dyn Store>>) -> f64 {
    let (told, heard) = channel();
    let host = HostTapped::new(Arc::new(HostLocal::new()), move |_: &SessionId, _: &Message| {
        let _ = told.send(boot_nanos());
    });
    let (ended, ends) = channel();
    let before = move |_: &Invocation| _ = ended.send(boot_nanos());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
    let runtime = runtime.expect("the system gives what it needs");
    // Longer than a caller waits for a task that ends at once.
    let slow = Sleeping { runtime, time: Duration::from_millis(400), before };
    let engine = Engine::with(calls * PER_SESSION, Arc::new(host), Some(Arc::new(slow)));
    let service = Service::new(engine.handle().clone());
    let is_durable = store.is_some();
    if let Some(store) = store {
        engine.handle().attach_store(store, AttachOptions::default()).expect("the store is sound");
        engine.handle().tools().switch(Primitives::all());
    }
    let args = Value::from(Map::new().with("name", TOOL));
    let style = CallStyle { notation: Notation::Json, patience: None };
    let mut times = Vec::with_capacity(calls);
    for session in engine.sessions() {
        let caller = Caller::session(session.clone()).as_model();
        let begun = if is_durable {
            engine.handle().schedule(scheduled(&engine, session)).expect("a session takes it");
            None
        } else {
            service.begin_tool("background_run", &caller, &args, style).expect("admitted")
        };
        let end = ends.recv().expect("it ends");
        times.push(heard.recv().expect("it is told").saturating_sub(end));
        drop(begun);
    }
    engine.leave();
    middle(times) / 1e3
}

/// A call that is due at once.
fn scheduled(engine: &Engine, session: &SessionId) -> NewSchedule {
    let call = Call { purpose: CallPurpose::Job, sink: Sink::Session, ..Call::new(tool(), Map::new()) };
    NewSchedule {
        dialect: Dialect::Scheduler,
        durability: Durability::Durable,
        payload: Payload::Call(Box::new(call)),
        ..NewSchedule::message(session.clone(), When::At(engine.handle().now().wall), "")
    }
}
