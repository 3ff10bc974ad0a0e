//! Benchmarks GraphQL in process: 100 schedules with four fields, by us and by async-graphql's
//! static types.
//!
//! Ours reads the scheduler under its lock; theirs reads a vector of finished rows. Both write the
//! answer as JSON.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use async_graphql::{EmptyMutation, EmptySubscription, Enum, ID, Object, Schema, SimpleObject};
use criterion::{Criterion, criterion_group, criterion_main};
use reveille::adapter::HostLocal;
use reveille::domain::{Caller, HostId, SessionConfig, Span, When};
use reveille::engine::NewSchedule;
use reveille::runtime::{Handle, Parts};
use reveille::service::Service;
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};
use reveille::testkit::{SimClock, SimEntropy};

const ROWS: u64 = 100;

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum Status {
    Pending,
}

#[derive(Clone, SimpleObject)]
struct Row {
    schedule_id: ID,
    label: Option<String>,
    status: Status,
    fire_at: String,
}

struct Root(Vec<Row>);

#[Object]
impl Root {
    async fn schedules(&self) -> &[Row] {
        &self.0
    }
}

fn ours() -> (GraphqlService, GraphqlRequest) {
    let parts = Parts {
        clock: Arc::new(SimClock::new()),
        entropy: Arc::new(SimEntropy::seeded(1)),
        local: Arc::new(HostLocal::new()),
        zones: Arc::default(),
        without_store: reveille::runtime::WithoutStore::Reject,
        journal: None,
    };
    let handle = Handle::new(parts);
    let (session, _) =
        handle.open_session(None, HostId::LOCAL, SessionConfig::default()).expect("there is room");
    for number in 1..=ROWS {
        let due = When::After(Span::from_millis(number * 1_000));
        handle.schedule(NewSchedule::message(session.clone(), due, "m")).expect("there is room");
    }
    let service = GraphqlService::new(&Service::new(handle.clone())).expect("sound roots");
    (service, GraphqlRequest::new("{ schedules(first: 100) { nodes { scheduleId label status fireAt } } }"))
}

fn theirs() -> Schema<Root, EmptyMutation, EmptySubscription> {
    let row = |number: u64| Row {
        schedule_id: ID(format!("sch-0000{number}-0000-0000-0000-000000000000")),
        label: None,
        status: Status::Pending,
        fire_at: format!("1970-01-01T00:01:{:02}Z", number % 60),
    };
    Schema::new(Root((1..=ROWS).map(row).collect()), EmptyMutation, EmptySubscription)
}

/// Runs a future that never waits: one poll completes it.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing waits"),
    }
}

fn rows(criterion: &mut Criterion) {
    let (service, request) = ours();
    // Checked first: a query that fails would be fast.
    let answer = service.answer(&Caller::OPERATOR, &request, true).body;
    assert_eq!(answer.matches("PENDING").count(), 100, "{answer}");
    criterion.bench_function("100 rows, 4 fields, ours", |bencher| {
        bencher.iter(|| black_box(service.answer(&Caller::OPERATOR, &request, true)));
    });
    let schema = theirs();
    criterion.bench_function("100 rows, 4 fields, async-graphql static", |bencher| {
        bencher.iter(|| {
            let response = now(schema.execute("{ schedules { scheduleId label status fireAt } }"));
            black_box(serde_json::to_string(&response).expect("JSON"))
        });
    });
}

criterion_group!(benches, rows);
criterion_main!(benches);
