//! Measures Reveille through its public handle, as an embedder uses it: real clocks and randomness,
//! built-in sessions, a driver thread.
//!
//! Deadlines and deliveries are read on the boot clock. The host's listener records a delivery; it
//! runs on the delivering thread, after the message is in the session's transcript.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use reveille::adapter::{ClockOs, EntropyOs, HostLocal, HostTapped};
use reveille::domain::{HostId, ScheduleId, Scope, SessionConfig, SessionId, Span, When};
use reveille::engine::NewSchedule;
use reveille::runtime::{Handle, Parts, Runtime};

use crate::child::{Figures, Measure};
use crate::peer::{Creations, burst_figures, lateness};
use crate::system::{boot_nanos, processor_time, resident_bytes, wait};
use crate::workload::{LEAD, Random, Sizes, message, number};

pub(crate) fn measure(measure: Measure, sizes: &Sizes) -> Figures {
    match measure {
        Measure::Fill => fill(sizes),
        Measure::Burst => burst(sizes),
        Measure::Rate => rate(sizes),
        Measure::Idle => idle(sizes),
        Measure::Edn | Measure::List | Measure::Cron => Vec::new(),
    }
}

fn fill(sizes: &Sizes) -> Figures {
    let engine = Engine::start(sizes, HostLocal::new());
    let mut ids = Vec::with_capacity(sizes.pending);
    // The ids belong to the benchmark: their memory is taken before the engine's is measured.
    ids.resize(sizes.pending, None);
    let before = resident_bytes();
    let mut random = Random::new();
    let mut creations = Creations::start();
    for (place, id) in ids.iter_mut().enumerate() {
        *id = Some(engine.create(place, random.far_delay(), message(place)));
        creations.note();
    }
    let mut figures = creations.figures(sizes.pending);
    let weight = resident_bytes().saturating_sub(before);
    figures.push(("memory", weight as f64 / sizes.pending as f64));
    random.shuffle(&mut ids);
    let start = boot_nanos();
    for id in ids.iter_mut().filter_map(Option::take) {
        engine.handle().cancel(Scope::Operator, id).expect("a pending schedule can be cancelled");
    }
    let cancelling = boot_nanos() - start;
    figures.push(("cancel", sizes.pending as f64 * 1_000.0 / cancelling as f64));
    engine.leave();
    figures
}

fn burst(sizes: &Sizes) -> Figures {
    let received = Arc::new(AtomicUsize::new(0));
    let last = Arc::new(AtomicU64::new(0));
    let (count, time, all) = (Arc::clone(&received), Arc::clone(&last), sizes.burst);
    let host =
        HostTapped::new(Arc::new(HostLocal::new()), move |_: &SessionId, _: &reveille::domain::Message| {
            // Only the last delivery reads the clock, which costs the others nothing.
            if count.fetch_add(1, Ordering::Relaxed) + 1 == all {
                time.store(boot_nanos(), Ordering::Release);
            }
        });
    let engine = Engine::start(sizes, host);
    // Every measurement has an equal total of pending schedules.
    engine.fill(sizes.pending - sizes.burst);
    let now = engine.handle().now().wall;
    let due = now.checked_add(span(LEAD)).expect("two seconds from now are within the calendar");
    let ids: Vec<ScheduleId> =
        (0..sizes.burst).map(|place| engine.create_at(place, When::At(due), message(place))).collect();
    // One wall-clock instant gives slightly different boot times, because each create reads both
    // clocks anew. The earliest one counts.
    // Lateness counts from the engine's own deadlines.
    let deadlines = engine.deadlines(&ids);
    let first = deadlines.iter().copied().min().unwrap_or(0);
    assert!(boot_nanos() < first, "creating took longer than the lead: the burst was cut");
    while received.load(Ordering::Relaxed) < sizes.burst {
        wait(Duration::from_millis(50));
    }
    let late = last.load(Ordering::Acquire).saturating_sub(first);
    engine.leave();
    burst_figures(sizes.burst, late)
}

fn rate(sizes: &Sizes) -> Figures {
    let fires = sizes.rate * sizes.rate_seconds;
    let receptions: Arc<Vec<AtomicU64>> = Arc::new((0..fires).map(|_| AtomicU64::new(0)).collect());
    let noted = Arc::clone(&receptions);
    let host = HostTapped::new(
        Arc::new(HostLocal::new()),
        move |_: &SessionId, message: &reveille::domain::Message| {
            let reveille::domain::Content::Text(text) = &message.content[0] else { return };
            noted[number(text)].store(boot_nanos(), Ordering::Release);
        },
    );
    let engine = Engine::start(sizes, host);
    engine.fill(sizes.pending - fires);
    let mut random = Random::new();
    let ids: Vec<ScheduleId> = (0..fires)
        .map(|place| engine.create(place, LEAD + random.within(sizes.rate_seconds), message(place)))
        .collect();
    let deadlines = engine.deadlines(&ids);
    // One sleep through the whole measurement: polling would disturb it.
    wait(LEAD + Duration::from_secs(sizes.rate_seconds as u64 + 1));
    let receptions = receptions.iter().map(|time| time.load(Ordering::Acquire));
    let figures = lateness(deadlines.into_iter().zip(receptions));
    engine.leave();
    figures
}

fn idle(sizes: &Sizes) -> Figures {
    let engine = Engine::start(sizes, HostLocal::new());
    engine.fill(sizes.pending);
    // Lets the work of filling end before the idle time is measured.
    wait(Duration::from_secs(1));
    let (time, processor) = (boot_nanos(), processor_time());
    wait(Duration::from_secs(sizes.idle_seconds));
    let used = (processor_time() - processor).as_nanos() as f64;
    let share = used * 100.0 / (boot_nanos() - time) as f64;
    engine.leave();
    vec![("idle", share)]
}

struct Engine {
    runtime: Runtime,
    sessions: Vec<SessionId>,
    session_live_max: u32,
}

impl Engine {
    fn start(sizes: &Sizes, local: impl reveille::port::Host + 'static) -> Engine {
        let parts = Parts {
            clock: Arc::new(ClockOs),
            entropy: Arc::new(EntropyOs::new().expect("the system has randomness")),
            local: Arc::new(local),
            zones: Arc::default(),
            without_store: reveille::runtime::WithoutStore::Reject,
            journal: None,
        };
        let runtime = Runtime::start(parts).expect("the system has a thread to give");
        let open = |number| {
            let id = SessionId::new(&format!("session-{number}")).expect("an id of letters and digits");
            let opened = runtime.handle().open_session(Some(id), HostId::LOCAL, SessionConfig::default());
            opened.expect("an engine takes this many sessions").0
        };
        let sessions = (0..sizes.sessions).map(open).collect();
        let session_live_max = u32::try_from(sizes.per_session()).unwrap_or(u32::MAX);
        Engine { runtime, sessions, session_live_max }
    }

    fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Creates `pending` schedules.
    fn fill(&self, pending: usize) {
        let mut random = Random::new();
        for place in 0..pending {
            // From the last session backwards, because the measured schedules begin with the first.
            self.create(
                self.sessions.len() - 1 - place % self.sessions.len(),
                random.far_delay(),
                message(place),
            );
        }
    }

    fn create(&self, place: usize, delay: Duration, text: Box<str>) -> ScheduleId {
        self.create_at(place, When::After(span(delay)), text)
    }

    fn create_at(&self, place: usize, when: When, text: Box<str>) -> ScheduleId {
        let owner = self.sessions[place % self.sessions.len()].clone();
        let mut new = NewSchedule::message(owner, when, text);
        new.session_live_max = self.session_live_max;
        self.handle().schedule(new).expect("a session takes this many schedules")
    }

    /// The engine's own deadline of each schedule, in nanoseconds on the boot clock.
    fn deadlines(&self, ids: &[ScheduleId]) -> Vec<u64> {
        let deadline = |id| self.handle().view(|state| state.deadline(id));
        ids.iter().map(|id| deadline(id).expect("it is pending still").nanos()).collect()
    }

    /// Leaves the engine to the end of the process: cancelling a million schedules would only take
    /// time.
    fn leave(self) {
        std::mem::forget(self);
    }
}

fn span(time: Duration) -> Span {
    Span::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
