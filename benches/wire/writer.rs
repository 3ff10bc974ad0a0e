//! The concurrent writer: one thread that creates schedules and cancels them again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use reveille::domain::{Caller, SessionId, Span, When};
use reveille::engine::NewSchedule;
use reveille::runtime::Handle;

/// The pace of the writer.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// A create and a cancel, then a pause of a millisecond.
    Steady,
    /// Continuous writing, which uses a whole processor.
    AllTheTime,
}

impl Pace {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Pace::Steady => "one each millisecond",
            Pace::AllTheTime => "without a rest",
        }
    }
}

/// A thread that writes until it is stopped.
pub(crate) struct Writer {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<u64>>,
}

/// The latencies of creates in milliseconds.
pub(crate) struct Latencies {
    pub(crate) count: usize,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Writer {
    pub(crate) fn start(handle: Handle, sessions: Vec<SessionId>, pace: Pace) -> Writer {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || write(&handle, &sessions, pace, &told));
        Writer { stop, thread }
    }

    pub(crate) fn stop(self) -> Latencies {
        self.stop.store(true, Ordering::Relaxed);
        let mut nanos = self.thread.join().expect("the writer ends");
        nanos.sort_unstable();
        let at = |permille: usize| {
            let place = (nanos.len() * permille / 1_000).min(nanos.len().saturating_sub(1));
            nanos.get(place).map_or(0.0, |nanos| *nanos as f64 / 1e6)
        };
        Latencies { count: nanos.len(), p50: at(500), p99: at(990), max: at(1_000) }
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark times the real thing")]
fn write(handle: &Handle, sessions: &[SessionId], pace: Pace, stop: &AtomicBool) -> Vec<u64> {
    let mut nanos = Vec::new();
    for owner in sessions.iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let new = NewSchedule::message(owner.clone(), When::After(Span::from_millis(90_000_000)), "Look.");
        // Only the create is timed.
        let began = Instant::now();
        let id = handle.schedule(new).expect("created");
        nanos.push(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
        // Cancelled at once, so that the number of schedules stays constant.
        handle.cancel(Caller::OPERATOR.scope, id).expect("it is pending");
        if let Pace::Steady = pace {
            wait(Duration::from_millis(1));
        }
    }
    nanos
}

/// Waits in real time.
#[expect(clippy::disallowed_methods, reason = "a benchmark lets real time pass")]
pub(crate) fn wait(time: Duration) {
    std::thread::sleep(time);
}
