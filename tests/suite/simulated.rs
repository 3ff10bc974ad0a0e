//! An engine on a simulated clock, without a driver and without a store, and questions to it.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::dialect::REQUEST_CAPS;
use reveille::domain::{Caller, CallerRole, HostId, SessionConfig, SessionId, TokenName, Via};
use reveille::edn::{Value, read};
use reveille::engine::State;
use reveille::graph::eql::Boundary;
use reveille::runtime::{Handle, Parts, WithoutStore};
use reveille::service::{Service, reply};
use reveille::testkit::{SimClock, SimEntropy};

/// An engine with open sessions of these names, and its clock. Durable work stays in memory.
pub(crate) fn engine(sessions: &[&str]) -> (Handle, Arc<SimClock>) {
    let (parts, clock) = parts();
    let handle = Handle::new(parts);
    for name in sessions {
        open(&handle, name, SessionConfig::default());
    }
    (handle, clock)
}

/// What such an engine is made of.
pub(crate) fn parts() -> (Parts, Arc<SimClock>) {
    let clock = Arc::new(SimClock::new());
    let parts = Parts {
        clock: Arc::<SimClock>::clone(&clock),
        entropy: Arc::new(SimEntropy::seeded(1)),
        local: Arc::new(HostLocal::new()),
        zones: Arc::default(),
        without_store: WithoutStore::InMemory,
        journal: None,
    };
    (parts, clock)
}

pub(crate) fn open(handle: &Handle, name: &str, config: SessionConfig) {
    handle.open_session(Some(session(name)), HostId::LOCAL, config).expect("it is new");
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("an id")
}

/// A session's own token.
pub(crate) fn token(name: &str) -> Caller {
    Caller { role: CallerRole::Session, via: Via::Session, ..Caller::session(session(name)) }
}

/// Every kind of caller that acts for a session with that session's rights and no others.
pub(crate) fn bound(name: &str) -> [(&'static str, Caller); 5] {
    let named = |name| TokenName::new(name).expect("a name");
    let for_it = |caller: Caller| caller.acting_for(session(name));
    let operator = || Caller { via: Via::Operator(named("laptop")), ..Caller::OPERATOR };
    let peer = Caller { via: Via::Peer, ..Caller::OPERATOR };
    [
        ("its token", token(name)),
        ("a host's token", for_it(Caller::host(named("editor")))),
        ("a model with an operator's token", for_it(operator()).as_model()),
        ("a model of the user's own process", for_it(peer).as_model()),
        ("a model of the embedding program", Caller::session(session(name)).as_model()),
    ]
}

/// The answer to a query in EQL, or the refusal of it, as text.
pub(crate) fn ask(handle: &Handle, caller: &Caller, query: &str, is_lenient: bool) -> String {
    ask_service(&Service::new(handle.clone()), caller, query, is_lenient)
}

/// The same, of a service that goes on: it remembers what callers did.
pub(crate) fn ask_service(service: &Service, caller: &Caller, query: &str, is_lenient: bool) -> String {
    let form = read(query.as_bytes(), &REQUEST_CAPS).expect(query);
    let request = Boundary::read(&form).expect(query);
    match service.query(caller, &request, is_lenient) {
        Ok(answer) => Value::from(reply(&request, answer)).to_string(),
        Err(refusal) => refusal.to_string(),
    }
}

/// Where everything stands, as text: what must be the same after a refusal. The log may have gained the refusal itself.
pub(crate) fn standing(handle: &Handle) -> String {
    let (text, cursor) = handle.view(|state: &State| (state.to_string(), state.cursor()));
    text.replacen(&format!(" cursor {cursor} "), " ", 1)
}
