//! What another session has, and what never was, answer alike also in time, in every way in which a caller can name something.
//!
//! The ways are those of the matrix: every mutation in both languages, every tool that takes an id, every read, every operation
//! of the stream and every path, over the surfaces where they are. The two are asked for in turn on one connection, so that
//! whatever else the machine does meets both. The share of pairs in which the foreign one took longer is then near one half,
//! however fast the machine is.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use reveille::dialect::{REQUEST_CAPS, json};
use reveille::domain::Dialect;
use reveille::edn::{Map, Value, read};
use reveille::graph::mutation::MutationName;

use crate::attacks::agent::Agent;
use crate::attacks::ways::{CALLS, OPS, READS, Subject, document, documents, params};
use crate::harness::daemon::{Daemon, Home, PATIENCE, now, until};
use crate::harness::sockets::connect;
use crate::harness::stream::Stream;

const SUBJECTS: usize = 40;

/// An even number, so that each of the two goes first equally often: the first of two requests is the slower one where the
/// machine has to wake up for it. Each round has an agent of its own, far below the rates of one.
const ROUNDS: usize = 6;

/// Of what share one measurement is taken for noise. With nothing to see, one on a quiet machine is outside it one time in ten.
const FAIR: std::ops::RangeInclusive<f64> = 0.4..=0.6;

/// What an agent can learn from time is there in every measurement; what the machine did is not.
const MEASUREMENTS: usize = 5;

/// The routes that name a session in their path.
const PATHS: [&str; 2] = ["/v1/sessions/SESSION/jobs/j/ready", "/v1/sessions/SESSION/pings/p"];

const SWITCHES: &str = "[primitives]\nwatchers = true\nscheduler = true\n";

/// A surface, with what a request on it says about a subject.
#[derive(Clone, Copy)]
enum Surface {
    Stream,
    Graphql,
    Mcp,
    /// A tool by its own route: the name of the tool, a blank, and its arguments.
    Tools,
    /// A request of which only the path says something.
    Path,
}

impl Surface {
    /// The path and the body of a request over HTTP.
    fn route(self, request: &str) -> (String, &str) {
        match self {
            Surface::Stream => unreachable!("it has requests of its own"),
            Surface::Path => (request.to_owned(), ""),
            Surface::Graphql => ("/graphql".to_owned(), request),
            Surface::Mcp => {
                let offer: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
                (format!("/mcp?tools={}", offer.join(",")), request)
            }
            Surface::Tools => {
                let (tool, args) = request.split_once(' ').expect("a tool and its arguments");
                (format!("/tools/{tool}"), args)
            }
        }
    }
}

/// One way in which a caller can name something.
struct Way {
    name: String,
    surface: Surface,
    asks: Box<dyn Fn(&Subject) -> String>,
}

fn way(name: &str, surface: Surface, asks: impl Fn(&Subject) -> String + 'static) -> Way {
    let on = match surface {
        Surface::Stream => "the stream",
        Surface::Graphql => "GraphQL",
        Surface::Mcp => "MCP",
        Surface::Tools => "the tools' routes",
        Surface::Path => "HTTP",
    };
    Way { name: format!("{name} over {on}"), surface, asks: Box::new(asks) }
}

/// Every way there is.
fn ways() -> Vec<Way> {
    let mut all = Vec::new();
    // An opening says that an id is taken: a client chooses the ids of its sessions, and has to be told.
    for mutation in MutationName::ALL.iter().copied().filter(|it| *it != MutationName::Open) {
        let name = mutation.name().to_string();
        let query = name.clone();
        all.push(way(&name, Surface::Stream, move |subject| {
            format!("{{:op :eql :query [({query} {})]}}", Value::Map(params(mutation, subject)))
        }));
        all.push(way(&name, Surface::Graphql, move |subject| {
            serde_json::json!({ "query": document(mutation, &params(mutation, subject)) }).to_string()
        }));
    }
    for query in READS {
        all.push(way(query, Surface::Stream, move |subject| {
            format!("{{:op :eql :query {}}}", subject.put_into(query))
        }));
    }
    for query in documents() {
        all.push(way(&query.clone(), Surface::Graphql, move |subject| {
            serde_json::json!({ "query": subject.put_into(&query) }).to_string()
        }));
    }
    for (tool, args) in CALLS {
        let name = format!("{tool} {args}");
        all.push(way(&name, Surface::Stream, move |subject| {
            format!("{{:op :call :tool {tool:?} :args {}}}", subject.put_into(args))
        }));
        all.push(way(&name, Surface::Mcp, move |subject| {
            let args = read(subject.put_into(args).as_bytes(), &REQUEST_CAPS).expect("EDN");
            let params = Map::new().with("name", *tool).with("arguments", args);
            let request = Map::new().with("jsonrpc", "2.0").with("id", 1).with("method", "tools/call");
            let mut line = String::new();
            json::write(&request.with("params", params).into(), &mut line);
            line
        }));
    }
    for (tool, args) in CALLS {
        all.push(way(&format!("{tool} {args}"), Surface::Tools, move |subject| {
            let args = read(subject.put_into(args).as_bytes(), &REQUEST_CAPS).expect("EDN");
            let mut line = format!("{tool} ");
            json::write(&args, &mut line);
            line
        }));
    }
    for (op, _, request) in OPS.iter().filter(|(op, ..)| *op != "session/open") {
        all.push(way(op, Surface::Stream, move |subject| subject.put_into(request)));
    }
    for path in PATHS {
        all.push(way(path, Surface::Path, move |subject| subject.put_into(path)));
    }
    // What names nothing says the same of everything.
    let (one, other) = (subject("one"), subject("other"));
    all.retain(|way| (way.asks)(&one) != (way.asks)(&other));
    all
}

fn subject(id: &str) -> Subject {
    let run = format!("sch-{id}~1~2026-04-22T06:00:00Z");
    Subject { name: "one of another session", session: id.into(), schedule: format!("sch-{id}"), run }
}

/// Sessions of others, each with a schedule and a run.
fn theirs(daemon: &Daemon) -> Vec<Subject> {
    let make = |number| {
        let name = format!("bob-{number:02}-a");
        let bob = Agent::open(daemon, &name);
        let schedule =
            bob.create(":kind :message :message \"secret\" :when \"every 1 hour\" :durability :durable");
        daemon.eql(&format!("[(psi.scheduler/run-now {{:schedule-id {schedule:?}}})]"));
        let runs = format!(
            "[{{[:psi.scheduler/schedule-id {schedule:?}] [{{:psi.scheduler/runs [:reveille.run/id]}}]}}]"
        );
        let mut run = None;
        until("it has a run", PATIENCE, || {
            let found = Value::from(daemon.eql(&runs)).to_string();
            run = found.split('"').find(|part| part.contains('~')).map(str::to_owned);
            run.is_some()
        });
        Subject { run: run.unwrap_or_default(), session: name, schedule, name: "another session's" }
    };
    (0..SUBJECTS).map(make).collect()
}

/// A subject of the same form that never was.
fn absent(theirs: &Subject) -> Subject {
    let (rest, last) = theirs.schedule.split_at(theirs.schedule.len() - 1);
    let schedule = format!("{rest}{}", if last == "0" { '1' } else { '0' });
    let run = theirs.run.replace(&theirs.schedule, &schedule);
    Subject { name: "nobody's", session: theirs.session.replace("-a", "-b"), schedule, run }
}

#[test]
fn a_foreign_thing_takes_as_long_as_one_that_never_was() {
    let home = Home::new("attack-timing");
    fs::write(home.path().join("reveille.toml"), SWITCHES).expect("ours");
    let daemon = Daemon::start_with(&home, home.serve().args(["--config", "reveille.toml"]));
    let theirs = theirs(&daemon);
    let ways = ways();
    // As many as the tables have: a table that is empty would be compared in no time.
    assert!(ways.len() > MutationName::ALL.len() + 3 * CALLS.len(), "only {} ways", ways.len());
    let mut told = Vec::new();
    for (row, way) in ways.iter().enumerate() {
        let shares: Vec<f64> = (0..MEASUREMENTS)
            .map(|number| {
                let line = |round| {
                    let agent = Agent::open(&daemon, &format!("alice-{row}-{number}-{round}"));
                    Line::open(&daemon, &agent, way.surface)
                };
                measured(line, way, &theirs)
            })
            .take_while(|share| !FAIR.contains(share))
            .collect();
        if shares.len() == MEASUREMENTS {
            told.push(format!("{}: foreign ones took longer in {shares:.3?} of all pairs", way.name));
        }
    }
    assert_eq!(told, [""; 0]);
}

/// One connection of an agent, on which its requests wait for their answers.
enum Line {
    Stream(Stream),
    Http { write: TcpStream, read: BufReader<TcpStream>, surface: Surface, head: String },
}

impl Line {
    fn open(daemon: &Daemon, agent: &Agent<'_>, surface: Surface) -> Line {
        if let Surface::Stream = surface {
            return Line::Stream(agent.stream());
        }
        let write = connect(daemon, Ipv4Addr::LOCALHOST).expect("there is room");
        let read = BufReader::new(write.try_clone().expect("ours"));
        let head = format!(
            "Host: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n",
            daemon.address(),
            agent.token()
        );
        Line::Http { write, read, surface, head }
    }

    /// Asks, and returns the answer without what tells one request from another.
    fn ask(&mut self, request: &str) -> String {
        match self {
            Line::Stream(stream) => {
                let answer = stream.ask(request).expect("it lives");
                // Without the number of the request.
                let told = answer.keyword("error").or_else(|| answer.keyword("ok"));
                format!("{told:?}")
            }
            Line::Http { write, read, surface, head } => {
                let (path, body) = surface.route(request);
                let text =
                    format!("POST {path} HTTP/1.1\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len());
                write.write_all(text.as_bytes()).expect("it reads");
                answer(read)
            }
        }
    }
}

/// Reads one answer of a connection that goes on: the status and the body.
fn answer(read: &mut BufReader<TcpStream>) -> String {
    let (mut status, mut length) = (String::new(), 0);
    read.read_line(&mut status).expect("it answers");
    loop {
        let mut line = String::new();
        read.read_line(&mut line).expect("it answers");
        let line = line.trim_end().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(bytes) = line.strip_prefix("content-length: ") {
            length = bytes.parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    read.read_exact(&mut body).expect("as long as announced");
    assert!(length > 0, "{status}: nothing is compared");
    format!("{} {}", status.trim_end(), String::from_utf8(body).expect("UTF-8"))
}

/// In which share of all pairs what is another session's took longer than what never was.
fn measured(open: impl Fn(usize) -> Line, way: &Way, theirs: &[Subject]) -> f64 {
    let (mut foreign, mut never) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let mut line = open(round);
        let mut ask = |subject: &Subject| {
            let request = (way.asks)(subject);
            let began = now();
            let answer = line.ask(&request);
            let took = began.elapsed_here();
            (subject.hide(&answer), took)
        };
        for theirs in theirs {
            let nobodys = absent(theirs);
            let ((told, took), (untold, other)) = if round % 2 == 0 {
                let first = ask(theirs);
                (first, ask(&nobodys))
            } else {
                let first = ask(&nobodys);
                (ask(theirs), first)
            };
            assert_eq!(told, untold, "{}: {}, {}", way.name, theirs.name, nobodys.name);
            foreign.push(took);
            never.push(other);
        }
    }
    slower(&foreign, &never)
}

/// In which share of all pairs the first took longer.
fn slower(these: &[Duration], those: &[Duration]) -> f64 {
    let longer = |this: &Duration| those.iter().filter(|that| this > that).count();
    let pairs = u32::try_from(these.len() * those.len()).expect("some thousands");
    let count = u32::try_from(these.iter().map(longer).sum::<usize>()).expect("some thousands");
    f64::from(count) / f64::from(pairs)
}
