//! An agent that wants more than it was given: a session's own token, over every surface that takes one.

use reveille::edn::Map;
use serde_json::{Value, json};

use crate::harness::daemon::{Daemon, Reply, at, text};
use crate::harness::stream::Stream;

pub(crate) struct Agent<'d> {
    daemon: &'d Daemon,
    session: String,
    token: String,
}

impl<'d> Agent<'d> {
    /// An operator opens this session, and hands its token to the agent.
    pub(crate) fn open(daemon: &'d Daemon, session: &str) -> Agent<'d> {
        let mut operator = Stream::connect(&daemon.socket).expect("it lives");
        let open = format!("{{:op :session/open :session-id {session:?}}}");
        let opened = operator.ask(&open).expect("it lives");
        let token = text(&opened, &["ok", "token"]).unwrap_or_else(|| panic!("{opened:?}")).to_owned();
        Agent { daemon, session: session.to_owned(), token }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    pub(crate) fn ask(&self, request: &str, headers: &[&str], body: &str) -> Reply {
        self.daemon.ask_by(&self.token, request, headers, body)
    }

    pub(crate) fn eql(&self, query: &str) -> Reply {
        self.ask("POST /eql", &["Content-Type: application/edn"], query)
    }

    pub(crate) fn graphql(&self, query: &str) -> Value {
        let body = json!({ "query": query }).to_string();
        let reply = self.ask("POST /graphql", &["Content-Type: application/json"], &body);
        serde_json::from_str(&reply.body).expect("JSON")
    }

    pub(crate) fn tool(&self, name: &str, args: &Value) -> Reply {
        let headers = ["Content-Type: application/json"];
        self.ask(&format!("POST /tools/{name}"), &headers, &args.to_string())
    }

    /// An EDN stream over HTTP.
    pub(crate) fn stream(&self) -> Stream {
        Stream::upgrade(self.daemon, &self.token)
    }

    /// Creates a schedule of its own, as it is told by these parameters in EDN: its id.
    #[track_caller]
    pub(crate) fn create(&self, rest: &str) -> String {
        let session = &self.session;
        let reply = self.eql(&format!("[(psi.scheduler/create {{:session-id {session:?} {rest}}})]"));
        let id = reply.body.split('"').find(|part| part.starts_with("sch-"));
        id.unwrap_or_else(|| panic!("{}", reply.body)).to_owned()
    }
}

/// The id of the job that `cron_create` made.
#[track_caller]
pub(crate) fn job_id(made: &Reply) -> &str {
    let id = made.body.split('"').find(|part| part.starts_with("job_"));
    id.unwrap_or_else(|| panic!("{}", made.body))
}

/// Whether a stream did what it was asked to do.
pub(crate) fn is_done(answer: &Map) -> bool {
    at(answer, &["ok"]).is_some()
}

/// Whether a GraphQL request did all that it was asked to do.
pub(crate) fn is_carried_out(answer: &Value) -> bool {
    answer["errors"].is_null()
}

/// The messages of a session's transcript, as an operator sees them: `ROLE text`.
pub(crate) fn transcript(daemon: &Daemon, session: &str) -> Vec<String> {
    let query = format!("{{ session(sessionId: \"{session}\") {{ messages(last: 100) {{ role text }} }} }}");
    let answer = daemon.graphql(&query);
    let messages = answer["data"]["session"]["messages"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let told =
        |message: &Value| format!("{} {}", message["role"].as_str()?, message["text"].as_str()?).into();
    messages.iter().filter_map(told).collect()
}
