//! Our server, as in the daemon: real clocks, a driver thread, all access checks. Only the daemon's
//! request log is missing.

use std::collections::BTreeSet;

use reveille::domain::{Caller, HostId, SessionConfig, SessionId, Span, When};
use reveille::embed::Reveille;
use reveille::engine::NewSchedule;
use reveille::runtime::{Handle, Token};
use reveille::service::Service;
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};
use reveille::surface::http::{Config, Server};

use crate::Sizes;
use crate::peer::Row;
use crate::wrk::Target;

/// One in this many sessions has a full answer's number of schedules; the others share the rest.
const FULL_EVERY: usize = 100;
const ROWS: usize = 100;
const GRAPHQL: &str = "{ schedules(first: 100) { nodes { scheduleId kind status fireAt } } }";
const EQL: &str = "[{:psi.scheduler/schedules [:psi.scheduler/schedule-id :psi.scheduler/kind :psi.scheduler/status \
                   :psi.scheduler/fire-at]}]";

/// A full engine and its server.
pub(crate) struct Ours {
    engine: Reveille,
    server: Server,
    /// The sessions that are queried, with their tokens.
    asked: Vec<(SessionId, Token)>,
    /// The sessions that are written to meanwhile.
    written: Vec<SessionId>,
}

impl Ours {
    pub(crate) fn start(sizes: &Sizes) -> Ours {
        let engine = Reveille::start().expect("the engine starts");
        let handle = engine.handle();
        let open = |_| handle.open_session(None, HostId::LOCAL, SessionConfig::default()).expect("opened");
        let sessions: Vec<(SessionId, Token)> = (0..sizes.sessions).map(open).collect();
        let asked: Vec<(SessionId, Token)> = sessions.iter().step_by(FULL_EVERY).cloned().collect();
        // A set, because a scan per session would be quadratic.
        let full: BTreeSet<&SessionId> = asked.iter().map(|(id, _)| id).collect();
        let others = sessions.into_iter().map(|(id, _)| id).filter(|id| !full.contains(id));
        let others: Vec<SessionId> = others.collect();
        let create = |owner: &SessionId, number: usize| {
            let spread = u64::try_from(number).expect("small") * 7_919 % 80_000_000;
            let when = When::After(Span::from_millis(4_000_000 + spread));
            handle.schedule(NewSchedule::message(owner.clone(), when, "Check the build.")).expect("created");
        };
        for number in 0..sizes.schedules - asked.len() * ROWS {
            create(&others[number % others.len()], number);
        }
        for number in 0..ROWS {
            asked.iter().for_each(|(owner, _)| create(owner, number));
        }
        let config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::local() };
        let server = Server::start(Service::new(handle.clone()), &config).expect("the server starts");
        let written = others.into_iter().take(asked.len()).collect();
        Ours { engine, server, asked, written }
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.engine.handle()
    }

    pub(crate) fn writers(&self) -> Vec<SessionId> {
        self.written.clone()
    }

    /// The rows of one answer, for the peers to send too.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let service = GraphqlService::new(&Service::new(self.handle().clone())).expect("sound roots");
        let caller = Caller::session(self.asked[0].0.clone());
        let answer = service.answer(&caller, &GraphqlRequest::new(GRAPHQL), true).body;
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        let nodes = answer["data"]["schedules"]["nodes"].as_array().expect("rows");
        assert_eq!(nodes.len(), ROWS, "{answer}");
        let text = |row: &serde_json::Value, name: &str| row[name].as_str().expect("text").to_owned();
        nodes.iter().map(|row| Row::new(text(row, "scheduleId"), text(row, "fireAt"))).collect()
    }

    pub(crate) fn graphql(&self) -> (&'static str, Target) {
        let body = serde_json::json!({ "query": GRAPHQL }).to_string();
        ("GraphQL, ours", self.target("/graphql", "application/json", body))
    }

    pub(crate) fn eql(&self) -> (&'static str, Target) {
        ("EQL, ours", self.target("/eql", "application/edn", EQL.to_owned()))
    }

    fn target(&self, path: &'static str, content_type: &'static str, body: String) -> Target {
        let tokens = self.asked.iter().map(|(_, token)| token.reveal().to_owned()).collect();
        Target { address: self.server.address(), path, content_type, body, tokens }
    }
}
