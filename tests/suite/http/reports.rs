//! Who reports: what a host says over the stream is in the log under the name of its token, in both languages of the graph.

use std::io::{BufRead, BufReader, Lines, Write};
use std::net::TcpStream;

use reveille::domain::{Caller, ScheduleId, SessionId, Span, When};
use reveille::engine::NewSchedule;
use reveille::service::Service;
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};

use super::client::{EDITOR, Site};
use super::streams::upgrade;
use crate::simulated;

/// A host that is connected by its token, with a session of its own.
struct Host {
    stream: TcpStream,
    lines: Lines<BufReader<TcpStream>>,
    /// What came before it was asked for: a push may come before the answer to what has caused it.
    early: Vec<String>,
}

impl Host {
    fn connect(site: &Site) -> Host {
        let (_, stream) = upgrade(site, EDITOR, "");
        let lines = BufReader::new(stream.try_clone().expect("it is open")).lines();
        let mut host = Host { stream, lines, early: Vec::new() };
        host.ask("{:op :host/attach :sessions []}");
        host.ask("{:op :session/open :session-id \"sess-h\"}");
        host
    }

    fn ask(&mut self, request: &str) {
        writeln!(self.stream, "{request}").expect("it is open");
        let answer = self.until(&[":ok", ":error"]);
        assert!(answer.contains(":ok"), "{request}: {answer}");
    }

    /// The next line with one of these words.
    fn until(&mut self, words: &[&str]) -> String {
        let is_it = |line: &String| words.iter().any(|word| line.contains(word));
        if let Some(place) = self.early.iter().position(is_it) {
            return self.early.remove(place);
        }
        loop {
            let line = self.lines.next().expect("it comes").expect("UTF-8");
            if is_it(&line) {
                return line;
            }
            self.early.push(line);
        }
    }

    /// The id under a key of the next push of this kind.
    fn pushed(&mut self, push: &str, key: &str) -> String {
        let line = self.until(&[&format!(":push {push}")]);
        let rest = line.split_once(&format!("{key} \"")).map_or("", |(_, rest)| rest);
        rest.split('"').next().unwrap_or_default().to_owned()
    }
}

fn send(site: &Site, text: &str) -> ScheduleId {
    let session = SessionId::new("sess-h").expect("an id");
    let now = When::After(Span::ZERO);
    site.handle().schedule(NewSchedule::message(session, now, text)).expect("there is room")
}

/// The kinds of the decisions by the host, in EQL and in GraphQL.
fn by_editor(site: &Site) -> [String; 2] {
    let eql = "[{(:reveille.engine/decisions {:by \"editor\"}) [:reveille.decision/kind]}]";
    let eql = simulated::ask(site.handle(), &Caller::OPERATOR, eql, false);
    let graphql = GraphqlService::new(&Service::new(site.handle().clone())).expect("sound roots");
    let query = "{ engine { decisions(filter: {by: \"editor\"}) { kind } } }";
    [eql, graphql.answer(&Caller::OPERATOR, &GraphqlRequest::new(query), true).body]
}

#[track_caller]
fn check(site: &Site, kinds: &[&str]) {
    let [eql, graphql] = by_editor(site);
    for kind in kinds {
        let count = |text: &str, word: &str| text.matches(word).count();
        let graphql_kind = format!("\"{}\"", kind.to_uppercase().replace('-', "_"));
        assert!(count(&eql, &format!("kind :{kind}")) > 0, "{kind} is by nobody: {eql}");
        assert_eq!(
            count(&eql, &format!("kind :{kind}")),
            count(&graphql, &graphql_kind),
            "{kind}: {eql} {graphql}"
        );
    }
}

#[test]
fn what_a_host_reports_is_by_its_token() {
    let site = Site::start();
    let mut host = Host::connect(&site);
    check(&site, &["host-attached", "session-opened"]);

    let first = send(&site, "first");
    let run = host.pushed(":delivery", ":delivery-id");
    host.ask(&format!("{{:op :delivery/ack :delivery-id {run:?}}}"));
    check(&site, &["run-delivered"]);
    // Who reports the end of a run has not asked for it.
    let first = first.to_string();
    let why = format!(
        "[{{(:reveille/explain {{:schedule-id {first:?}}}) [:reveille.explanation/verdict :reveille.explanation/by]}}]"
    );
    let why = simulated::ask(site.handle(), &Caller::OPERATOR, &why, false);
    assert!(why.contains(":delivered") && why.contains(":reveille.explanation/by nil"), "{why}");
    host.ask("{:op :session/busy :session-id \"sess-h\" :busy? true}");
    host.ask("{:op :session/busy :session-id \"sess-h\" :busy? false}");
    check(&site, &["session-busy", "session-idle"]);

    send(&site, "second");
    let run = host.pushed(":delivery", ":delivery-id");
    host.ask(&format!("{{:op :delivery/nack :delivery-id {run:?}}}"));
    check(&site, &["run-failed"]);

    drop(host);
    // The server sees the end of the connection by itself.
    while !by_editor(&site)[0].contains("host-lost") {
        std::thread::yield_now();
    }
    check(&site, &["host-lost", "session-unhosted"]);
}

#[test]
fn the_result_of_a_hosts_tool_is_by_its_token() {
    let site = Site::start();
    let mut host = Host::connect(&site);
    host.ask("{:op :tools/offer :tools [{:name \"own.read\"}]}");
    host.ask("{:op :call :tool \"background_run\" :session-id \"sess-h\" :args {:name \"own.read\"}}");
    let call = host.pushed(":tool/call", ":call-id");
    assert!(!by_editor(&site)[0].contains("run-delivered"), "it has not ended");
    host.ask(&format!("{{:op :tool/result :call-id {call:?} :ok 1}}"));
    check(&site, &["run-delivered"]);
}

/// What the engine decides by itself is by nobody, whatever a host had reported before.
#[test]
fn what_the_engine_decides_is_by_nobody() {
    let site = Site::start();
    let mut host = Host::connect(&site);
    send(&site, "first");
    host.pushed(":delivery", ":delivery-id");
    drop(host);
    let failed = "[{(:reveille.engine/decisions {:kind :run-failed}) [:reveille.decision/by]}]";
    let decided = || simulated::ask(site.handle(), &Caller::OPERATOR, failed, false);
    while !decided().contains(":reveille.decision/by") {
        std::thread::yield_now();
    }
    assert!(decided().contains(":reveille.decision/by nil"), "{}", decided());
}
