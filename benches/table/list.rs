//! Measures a list of a session's hundred schedules with four fields, by GraphQL and EQL, text to
//! text in process. The peers, which are given finished rows, are in `benches/peers/web`.

use std::hint::black_box;
use std::sync::Arc;

use reveille::adapter::{EntropyOs, HostLocal};
use reveille::domain::{Caller, HostId, SessionConfig, SessionId, When};
use reveille::engine::NewSchedule;
use reveille::runtime::{Handle, Parts};
use reveille::service::Service;
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};
use reveille::testkit::SimClock;

use crate::child::Figures;
use crate::system::boot_nanos;
use crate::workload::{Random, Sizes, message};

const ROWS: usize = 100;
/// One in this many sessions is queried, each with its own rows, so that they are not all cached.
const ASKED_EVERY: usize = 100;
const TURNS: usize = 20;
const GRAPHQL: &str = "{ schedules(first: 100) { nodes { scheduleId kind status fireAt } } }";
const EQL: &str = "[{:psi.scheduler/schedules [:psi.scheduler/schedule-id :psi.scheduler/kind :psi.scheduler/status \
                   :psi.scheduler/fire-at]}]";

pub(crate) fn measure(sizes: &Sizes) -> Figures {
    let (handle, asked) = full_engine(sizes);
    let queries = Service::new(handle);
    let service = GraphqlService::new(&queries).expect("sound roots");
    let callers: Vec<Caller> = asked.into_iter().map(Caller::session).collect();
    let request = GraphqlRequest::new(GRAPHQL);
    let graphql = each(&callers, "PENDING", |caller| service.answer(caller, &request, true).body);
    let eql = each(&callers, ":pending", |caller| {
        let prepared = queries.prepare(caller, EQL.as_bytes()).expect("a query");
        let mut text = String::new();
        queries.answer(caller, &prepared, false, &mut text).expect("within limits");
        text
    });
    vec![("list-graphql", graphql), ("list-eql", eql)]
}

/// Microseconds per query.
fn each(callers: &[Caller], row: &str, answer: impl Fn(&Caller) -> String) -> f64 {
    for caller in callers {
        // Checked before the measurement: a query that fails would be fast.
        let said = answer(caller);
        assert_eq!(said.matches(row).count(), ROWS, "{said}");
    }
    let start = boot_nanos();
    for caller in std::iter::repeat_n(callers, TURNS).flatten() {
        black_box(answer(caller));
    }
    (boot_nanos() - start) as f64 / 1e3 / (callers.len() * TURNS) as f64
}

/// An engine with the usual number of schedules, and the sessions that have a hundred of them.
fn full_engine(sizes: &Sizes) -> (Handle, Vec<SessionId>) {
    let handle = Handle::new(Parts {
        clock: Arc::new(SimClock::new()),
        entropy: Arc::new(EntropyOs::new().expect("the system has randomness")),
        local: Arc::new(HostLocal::new()),
        zones: Arc::default(),
        without_store: reveille::runtime::WithoutStore::Reject,
        journal: None,
    });
    let open = |number| {
        let id = SessionId::new(&format!("session-{number}")).expect("an id of letters and digits");
        handle.open_session(Some(id), HostId::LOCAL, SessionConfig::default()).expect("there is room").0
    };
    let sessions: Vec<SessionId> = (0..sizes.sessions).map(open).collect();
    let mut random = Random::new();
    for (place, owner) in sessions.iter().enumerate() {
        let rows = if place % ASKED_EVERY == 0 { ROWS } else { sizes.per_session() };
        for number in 0..rows {
            let delay = u64::try_from(random.far_delay().as_nanos()).unwrap_or(u64::MAX);
            let when = When::After(reveille::domain::Span::from_nanos(delay));
            handle
                .schedule(NewSchedule::message(owner.clone(), when, message(number)))
                .expect("there is room");
        }
    }
    (handle, sessions.into_iter().step_by(ASKED_EVERY).collect())
}
