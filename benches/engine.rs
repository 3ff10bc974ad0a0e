//! Benchmarks single engine calls with ten thousand and with a million pending schedules.
//!
//! The engine runs behind its public handle with a simulated clock, so time passes only when the
//! benchmark says so. What lives elsewhere: throughput, memory and lateness under the real clock
//! (`table`), EDN (`edn`). Invariant: each benchmark leaves the number of pending schedules
//! unchanged.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, BenchmarkGroup, Criterion, criterion_group, criterion_main};
use reveille::adapter::{EntropyOs, HostLocal};
use reveille::domain::{HostId, ScheduleId, Scope, SessionConfig, SessionId, Span, When};
use reveille::engine::{NewSchedule, State};
use reveille::runtime::{Handle, Parts};
use reveille::testkit::SimClock;

/// Schedules per session, at psi's limit.
const PER_SESSION: usize = 50;
const HOUR_MS: u64 = 3_600_000;
/// Schedules due at one instant.
const BURST: usize = 1_000;

type Group<'a> = BenchmarkGroup<'a, criterion::measurement::WallTime>;

fn engine(criterion: &mut Criterion) {
    for (name, pending) in [("10k", 10_000), ("1M", 1_000_000)] {
        let world = World::with(pending);
        let mut group = criterion.benchmark_group(format!("engine/{name}"));
        create_and_cancel(&mut group, &world);
        fire_and_deliver(&mut group, &world);
        reads(&mut group, &world);
        group.finish();
    }
    let small = World::with(500);
    criterion.bench_function("engine/print a state of 500", |bencher| {
        bencher.iter(|| small.handle.view(|state| black_box(state.to_string()).len()));
    });
}

fn create_and_cancel(group: &mut Group<'_>, world: &World) {
    let mut place = 0;
    group.bench_function("create", |bencher| {
        bencher.iter_batched_ref(
            || {
                place += 1;
                // Criterion drops the value outside the measured time, which cancels the schedule.
                (world.far(place), Created { world, id: None })
            },
            |(new, created)| created.id = new.take().map(|new| world.schedule(new)),
            BatchSize::SmallInput,
        );
    });
    group.bench_function("cancel", |bencher| {
        bencher.iter_batched(
            || {
                place += 1;
                let new = world.far(place).expect("a new schedule");
                world.schedule(new)
            },
            |id| world.handle.cancel(Scope::Operator, id),
            BatchSize::SmallInput,
        );
    });
}

/// A thousand schedules due at one instant, spread over the sessions: claimed, delivered, accepted.
fn fire_and_deliver(group: &mut Group<'_>, world: &World) {
    group.throughput(criterion::Throughput::Elements(BURST as u64));
    group.bench_function("fire and deliver 1,000", |bencher| {
        bencher.iter_batched(
            || {
                for place in 0..BURST {
                    world.schedule(world.asked(place, When::After(Span::from_millis(1))));
                }
                world.clock.advance(Span::from_millis(1));
            },
            |()| world.handle.run_due(),
            // The setup prepares exactly one burst, so it has to run before every iteration.
            BatchSize::PerIteration,
        );
    });
    group.throughput(criterion::Throughput::Elements(1));
}

fn reads(group: &mut Group<'_>, world: &World) {
    let session = &world.sessions[world.sessions.len() - 1];
    group.bench_function("list of a session with 50", |bencher| {
        bencher.iter(|| {
            let count = |state: &State| black_box(state.live_schedules_of(session)).len();
            world.handle.view(count)
        });
    });
    group.bench_function("next_wake", |bencher| {
        bencher.iter(|| world.handle.view(|state| state.next_wake(world.handle.now())));
    });
}

/// An engine with schedules due between one hour and 24 hours after its start; its clock hardly
/// moves.
struct World {
    handle: Handle,
    clock: Arc<SimClock>,
    sessions: Vec<SessionId>,
}

/// A schedule created by a benchmark, cancelled on drop.
struct Created<'a> {
    world: &'a World,
    id: Option<ScheduleId>,
}

impl Drop for Created<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let cancelled = self.world.handle.cancel(Scope::Operator, id);
            cancelled.expect("a pending schedule can be cancelled");
        }
    }
}

impl World {
    fn with(pending: usize) -> World {
        let clock = Arc::new(SimClock::new());
        let handle = Handle::new(Parts {
            clock: clock.clone(),
            entropy: Arc::new(EntropyOs::new().expect("the system has randomness")),
            local: Arc::new(HostLocal::new()),
            zones: Arc::default(),
            without_store: reveille::runtime::WithoutStore::Reject,
            journal: None,
        });
        let open = |number: usize| {
            let id = SessionId::new(&format!("session-{number}")).expect("letters and digits");
            let opened = handle.open_session(Some(id), HostId::LOCAL, SessionConfig::default());
            opened.expect("an engine takes this many sessions").0
        };
        let sessions = (0..pending / PER_SESSION).map(open).collect();
        let world = World { handle, clock, sessions };
        for place in 0..pending {
            if let Some(new) = world.far(place) {
                world.schedule(new);
            }
        }
        world
    }

    /// A new schedule, due in one hour to a day. An option, so that a benchmark can take it.
    fn far(&self, place: usize) -> Option<NewSchedule> {
        // The multiplier scatters neighbours: deadlines come in no order, and are equal in every
        // run.
        let scattered = (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let delay = HOUR_MS + scattered % (23 * HOUR_MS);
        Some(self.asked(place, When::After(Span::from_millis(delay))))
    }

    fn asked(&self, place: usize, when: When) -> NewSchedule {
        let owner = self.sessions[place % self.sessions.len()].clone();
        NewSchedule::message(owner, when, "Look at the build that began an hour ago, and tell me more of it")
    }

    fn schedule(&self, new: NewSchedule) -> ScheduleId {
        let created = self.handle.schedule(new);
        created.expect("a session takes this many schedules")
    }
}

criterion_group!(benches, engine);
criterion_main!(benches);
