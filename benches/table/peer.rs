//! What both peers share, and how figures are made of readings.
//!
//! A peer holds what Reveille holds of a schedule for its caller, and nothing of what Reveille holds for itself: an id
//! of 128 random bits, the session's id, and the message of 64 bytes; a map leads from the id to the timer, for the
//! cancel. Deliveries go into a `Vec` per session behind a `HashMap`. What the peers lack: sessions with a lane, a queue
//! for busy ones, one delivery at a time, receipts, a record of what was delivered, a feed of decisions, bounds,
//! refusals, a lock that lets several threads in, and suspended time.

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

/// What a peer holds of a schedule.
pub(crate) struct Item {
    pub(crate) id: Id,
    pub(crate) session: SessionId,
    pub(crate) text: Box<str>,
}

/// A peer's sessions: what was delivered to each.
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

/// Makes items: random ids as Reveille draws them, sessions shared as Reveille shares them.
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

    /// Inboxes that know every session, as Reveille's host does.
    pub(crate) fn inboxes(&self) -> Inboxes {
        let messages = self.sessions.iter().map(|session| (session.clone(), Vec::new()));
        Inboxes { messages: messages.collect(), count: 0 }
    }
}

/// A runtime of one thread, this one.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("the system gives a runtime what it needs")
}

/// Tokio's clock and the boot clock, read together: the one that tokio's timers run on has no number of its own.
#[derive(Clone, Copy)]
pub(crate) struct Epoch {
    instant: Instant,
    boot: u64,
}

impl Epoch {
    /// The boot clock is read first, so that no deadline looks later than it is and nobody early who is not.
    #[expect(clippy::disallowed_methods, reason = "a benchmark times the real thing")]
    pub(crate) fn read() -> Epoch {
        let boot = boot_nanos();
        let instant = std::time::Instant::now().into();
        Epoch { instant, boot }
    }

    /// The moment so long after this reading, on tokio's clock.
    pub(crate) fn instant(self, after: Duration) -> Instant {
        self.instant + after
    }

    /// The same moment on the boot clock.
    pub(crate) fn boot(self, after: Duration) -> u64 {
        self.boot + u64::try_from(after.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Times creations: all of them, and the slowest. One clock reading each is part of the figure.
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

    /// One more is done.
    pub(crate) fn note(&mut self) {
        let now = boot_nanos();
        self.worst = self.worst.max(now - self.last);
        self.last = now;
    }

    /// Millions per second, and the slowest in microseconds.
    pub(crate) fn figures(&self, count: usize) -> Figures {
        let rate = count as f64 * 1_000.0 / (self.last - self.start) as f64;
        vec![("create", rate), ("create-worst", self.worst as f64 / 1e3)]
    }
}

/// Milliseconds from the instant until the last of them was handed over, and thousands a second.
pub(crate) fn burst_figures(count: usize, late_nanos: u64) -> Figures {
    let late_ms = late_nanos as f64 / 1e6;
    vec![("burst", late_ms), ("burst-rate", count as f64 / late_ms)]
}

/// Percentiles of (deadline, reception) in milliseconds, and how many came early or never.
pub(crate) fn lateness(pairs: impl Iterator<Item = (u64, u64)>) -> Figures {
    let (mut late, mut early, mut lost) = (Vec::new(), 0_u32, 0_u32);
    for (deadline, reception) in pairs {
        lost += u32::from(reception == 0);
        early += u32::from(reception != 0 && reception < deadline);
        if reception != 0 {
            late.push(reception.saturating_sub(deadline));
        }
    }
    assert_eq!(lost, 0, "everything that was due must have come by now");
    late.sort_unstable();
    let at = |per_mille: usize| {
        let place = (late.len() * per_mille / 1_000).min(late.len() - 1);
        late[place] as f64 / 1e6
    };
    vec![("late-p50", at(500)), ("late-p99", at(990)), ("late-max", at(1_000)), ("early", f64::from(early))]
}
