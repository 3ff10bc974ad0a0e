//! Benchmarks a query for one session's hundred schedules in an engine with a million schedules and
//! 20 000 sessions.
//!
//! Run with `cargo bench --bench graph`. The target in process is 20 000 queries per second on one
//! core.

use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use reveille::adapter::HostLocal;
use reveille::domain::{Caller, HostId, SessionConfig, SessionId, Span, When};
use reveille::engine::NewSchedule;
use reveille::runtime::{Handle, Parts};
use reveille::service::Service;
use reveille::testkit::{SimClock, SimEntropy};

const SESSIONS: u64 = 20_000;
const SCHEDULES: u64 = 1_000_000;
/// The number of schedules of every hundredth session; the others share the rest.
const FULL: u64 = 100;
const QUERY: &str = "[{:psi.scheduler/schedules [:psi.scheduler/schedule-id :psi.scheduler/kind \
                      :psi.scheduler/status :psi.scheduler/fire-at]}]";

fn full_engine() -> (Handle, Vec<SessionId>) {
    let parts = Parts {
        clock: Arc::new(SimClock::new()),
        entropy: Arc::new(SimEntropy::seeded(1)),
        local: Arc::new(HostLocal::new()),
        zones: Arc::default(),
        without_store: reveille::runtime::WithoutStore::Reject,
        journal: None,
    };
    let handle = Handle::new(parts);
    let open = |_| handle.open_session(None, HostId::LOCAL, SessionConfig::default()).expect("opened").0;
    let sessions: Vec<SessionId> = (0..SESSIONS).map(open).collect();
    let full: Vec<SessionId> = sessions.iter().step_by(100).cloned().collect();
    let rest = SCHEDULES - full.len() as u64 * FULL;
    let others: Vec<&SessionId> = sessions.iter().filter(|id| !full.contains(id)).collect();
    let create = |owner: &SessionId, number: u64| {
        // Scattered by a prime, so that deadlines come in no order.
        let when = When::After(Span::from_millis(1_000_000 + number * 7_919 % 80_000_000));
        handle.schedule(NewSchedule::message(owner.clone(), when, "Check the build.")).expect("created");
    };
    for number in 0..rest {
        create(others[usize::try_from(number).expect("small") % others.len()], number);
    }
    for number in 0..FULL {
        full.iter().for_each(|owner| create(owner, number));
    }
    (handle, full)
}

fn text_to_text(service: &Service, caller: &Caller) -> String {
    let prepared = service.prepare(caller, QUERY.as_bytes()).expect("a query");
    let mut text = String::with_capacity(16_384);
    service.answer(caller, &prepared, false, &mut text).expect("within limits");
    text
}

fn queries(criterion: &mut Criterion) {
    let (handle, full) = full_engine();
    let service = Service::new(handle);
    // Another session each time, so that the rows are not all in the processor's cache.
    let mut turn = full.iter().cycle();
    let mut caller = || Caller::session(turn.next().expect("endless").clone());
    assert_eq!(text_to_text(&service, &caller()).matches(":pending").count() as u64, FULL);
    criterion.bench_function("graph/1M/one-session-100x4", |bencher| {
        bencher.iter_batched(&mut caller, |caller| text_to_text(&service, &caller), BatchSize::SmallInput);
    });
}

criterion_group!(benches, queries);
criterion_main!(benches);
