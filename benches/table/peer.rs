//! What both peers share, and how readings become figures.
//!
//! A peer stores what Reveille stores of a schedule for its caller, and nothing that Reveille
//! stores for itself: an id of 128 random bits, the session's id, and the message of 64 bytes; a
//! map leads from the id to the timer, for the cancel. Deliveries go into a `Vec` per session
//! behind a `HashMap`. The peers lack: sessions with a lane, a queue for busy ones, one delivery at
//! a time, receipts, a record of what was delivered, a feed of decisions, limits, refusals, a lock
//! for several threads, and suspended time.

use std::collections::HashMap;
use std::time::Duration;

use reveille::adapter::EntropyOs;
use reveille::domain::SessionId;
use reveille::port::EntropySource;
use tokio::time::Instant;

use crate::child::Figures;
use crate::system::boot_nanos;
use crate::workload::Sizes;

/// The id of a peer's schedule.
pub(crate) type Id = [u8; 16];

/// What a peer stores of a schedule.
pub(crate) struct Item {
    pub(crate) id: Id,
    pub(crate) session: SessionId,
    pub(crate) text: Box<str>,
}

/// A peer's sessions, with the deliveries to each.
#[derive(Default)]
pub(crate) struct Inboxes {
    messages: HashMap<SessionId, Vec<Box<str>>>,
    pub(crate) count: usize,
}

impl Inboxes {
    pub(crate) fn push(&mut self, session: SessionId, text: Box<str>) {
        self.messages.entry(session).or_default().push(text);
        self.count += 1;
    }
}

/// Creates items: random ids as Reveille draws them, sessions shared as Reveille shares them.
pub(crate) struct Maker {
    entropy: EntropyOs,
    sessions: Vec<SessionId>,
}

impl Maker {
    pub(crate) fn new(sizes: &Sizes) -> Maker {
        let session = |number| SessionId::new(&format!("session-{number}")).expect("letters and digits");
        Maker {
            entropy: EntropyOs::new().expect("the system has randomness"),
            sessions: (0..sizes.sessions).map(session).collect(),
        }
    }

    pub(crate) fn item(&self, place: usize, text: Box<str>) -> Item {
        Item { id: self.entropy.draw().0, session: self.sessions[place % self.sessions.len()].clone(), text }
    }

    /// Inboxes that contain every session, as Reveille's host does.
    pub(crate) fn inboxes(&self) -> Inboxes {
        let messages = self.sessions.iter().map(|session| (session.clone(), Vec::new()));
        Inboxes { messages: messages.collect(), count: 0 }
    }
}

/// A runtime on this thread alone.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("the system gives a runtime what it needs")
}

/// Tokio's clock and the boot clock, read together, to convert between them: tokio's `Instant` has
/// no number.
#[derive(Clone, Copy)]
pub(crate) struct Epoch {
    instant: Instant,
    boot: u64,
}

impl Epoch {
    /// Reads both clocks, the boot clock first: a delay in between can make a delivery look later,
    /// never early.
    #[expect(clippy::disallowed_methods, reason = "a benchmark times the real thing")]
    pub(crate) fn read() -> Epoch {
        let boot = boot_nanos();
        let instant = std::time::Instant::now().into();
        Epoch { instant, boot }
    }

    /// The time `after` this reading, on tokio's clock.
    pub(crate) fn instant(self, after: Duration) -> Instant {
        self.instant + after
    }

    /// The time `after` this reading, on the boot clock.
    pub(crate) fn boot(self, after: Duration) -> u64 {
        self.boot + u64::try_from(after.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Times creations: the total and the slowest. The figure includes one clock reading each.
pub(crate) struct Creations {
    start: u64,
    last: u64,
    worst: u64,
}

impl Creations {
    pub(crate) fn start() -> Creations {
        let start = boot_nanos();
        Creations { start, last: start, worst: 0 }
    }

    /// Records one creation.
    pub(crate) fn note(&mut self) {
        let now = boot_nanos();
        self.worst = self.worst.max(now - self.last);
        self.last = now;
    }

    /// Millions per second, and the slowest one in microseconds.
    pub(crate) fn figures(&self, count: usize) -> Figures {
        let rate = count as f64 * 1_000.0 / (self.last - self.start) as f64;
        vec![("create", rate), ("create-worst", self.worst as f64 / 1e3)]
    }
}

/// Milliseconds from the instant to the last delivery, and thousands per second.
pub(crate) fn burst_figures(count: usize, late_nanos: u64) -> Figures {
    let late_ms = late_nanos as f64 / 1e6;
    vec![("burst", late_ms), ("burst-rate", count as f64 / late_ms)]
}

/// Percentiles of the lateness in milliseconds, and the number of early deliveries. A missing
/// delivery panics.
pub(crate) fn lateness(pairs: impl Iterator<Item = (u64, u64)>) -> Figures {
    let (mut late, mut early, mut lost) = (Vec::new(), 0_u32, 0_u32);
    for (deadline, reception) in pairs {
        lost += u32::from(reception == 0);
        early += u32::from(reception != 0 && reception < deadline);
        if reception != 0 {
            late.push(reception.saturating_sub(deadline));
        }
    }
    // A lost delivery has no lateness, and would improve the percentiles.
    assert_eq!(lost, 0, "everything that was due must have come by now");
    late.sort_unstable();
    let at = |per_mille: usize| {
        let place = (late.len() * per_mille / 1_000).min(late.len() - 1);
        late[place] as f64 / 1e6
    };
    vec![("late-p50", at(500)), ("late-p99", at(990)), ("late-max", at(1_000)), ("early", f64::from(early))]
}
