//! Watches on a simulated clock: what a full ring of checks takes of memory, and how long the engine is locked for one answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reveille::adapter::HostLocal;
use reveille::domain::{Durability, Outcome, ScheduleId, SessionId, Span, ToolSpec};
use reveille::edn::Value;
use reveille::engine::{Input, Invocation, Look, Report};
use reveille::port::{Executor, Returned};
use reveille::runtime::Handle;
use reveille::testkit::SimClock;

use crate::engine::{Nothing, PER_SESSION, furnish, parts, watch};
use crate::system::{boot_nanos, resident_bytes};
use crate::{Figures, middle};

const INTERVAL: Duration = Duration::from_secs(60);

struct Simulated {
    clock: Arc<SimClock>,
    handle: Handle,
    sessions: Vec<SessionId>,
}

impl Simulated {
    fn new(watches: usize, executor: Arc<dyn Executor>) -> Simulated {
        let clock = Arc::new(SimClock::new());
        let handle = Handle::new(parts(clock.clone(), Arc::new(HostLocal::new())));
        let sessions = furnish(&handle, watches, Some(executor));
        Simulated { clock, handle, sessions }
    }

    fn watch(&self, count: usize) -> Vec<ScheduleId> {
        watch(&self.handle, &self.sessions, (count, INTERVAL), Durability::Volatile)
    }

    /// Lets one interval pass, in steps of a second.
    fn pass(&self) {
        for _ in 0..INTERVAL.as_secs() {
            self.clock.advance(Span::from_millis(1_000));
            self.handle.run_due();
        }
    }
}

/// What a watch takes of memory that has made 100 checks without news.
pub(crate) fn ring(watches: usize) -> Figures {
    let made = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&made);
    let seen = move |_: &Invocation| _ = counted.fetch_add(1, Ordering::Relaxed);
    let world = Simulated::new(watches, Arc::new(Nothing { value: Value::from("ok"), seen }));
    let before = resident_bytes();
    world.watch(watches);
    for _ in 0..CHECKS + 2 {
        world.pass();
    }
    let memory = resident_bytes().saturating_sub(before) as f64 / watches as f64;
    assert!(made.load(Ordering::Relaxed) >= CHECKS * watches as u64, "{made:?}");
    std::mem::forget(world);
    vec![("watch-ring", memory)]
}

const CHECKS: u64 = 100;

/// Takes calls, and answers none.
struct Mute;

impl Executor for Mute {
    fn specs(&self, session: &SessionId) -> Arc<[ToolSpec]> {
        Nothing { value: Value::Nil, seen: |_: &Invocation| {} }.specs(session)
    }

    fn call(&self, _: Invocation, returned: Returned) {
        std::mem::forget(returned);
    }

    fn cancel(&self, _: &str) {}
}

/// How long the engine takes for an answer of 64 KiB that differs from the one before: what is done under its lock, and the
/// telling of it. The answer is read, compared and digested before.
pub(crate) fn returned(watches: usize) -> Figures {
    let world = Simulated::new(watches.max(PER_SESSION), Arc::new(Mute));
    let ids = world.watch(watches);
    let mut times = Vec::with_capacity(watches);
    // The first checks are due in the second interval.
    world.pass();
    for round in 0..2 {
        world.pass();
        for id in &ids {
            let (run, look) = world.handle.view(|state| {
                let record = state.schedule(id).expect("it is there");
                let (_, run) = state.runs_of(record).next().expect("its check is out");
                let filter = record.schedule().payload.call().and_then(|call| call.filter.clone());
                let look = Look::of(record.watch().expect("a watch"), filter.expect("it filters"));
                (state.run_id(run).expect("a run"), look)
            });
            let value = Value::from(format!("{round}{}", "x".repeat(65_000)));
            let report = Report::checked(run, Outcome::of_value(value, 65_000, Span::ZERO), &look);
            let begun = boot_nanos();
            world.handle.submit_unawaited(Input::Report(report)).expect("its call is out");
            if round == 1 {
                times.push(boot_nanos() - begun);
            }
        }
    }
    std::mem::forget(world);
    vec![("check-return", middle(times))]
}
