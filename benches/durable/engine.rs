//! The measured engine, as in the daemon: real clocks and randomness, built-in sessions, a driver
//! thread, a store on disk.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reveille::adapter::{ClockOs, EntropyOs, HostLocal, HostTapped, StoreOptions, StoreSqlite};
use reveille::domain::{Cursor, Durability, HostId, Moment, SessionConfig, SessionId, Span, When};
use reveille::engine::NewSchedule;
use reveille::port::{Clock, FactRecord, HistoryCaps, RowRecord, Store};
use reveille::runtime::{AttachOptions, Handle, Parts, Runtime, WithoutStore};

use crate::Written;
use crate::funnel::Funnel;

/// An engine, its store, and its deliveries.
pub(crate) struct Engine {
    runtime: Runtime,
    store: Arc<StoreSqlite>,
    delivered: Arc<Deliveries>,
}

#[derive(Default)]
struct Deliveries {
    count: AtomicU64,
    /// The boot time of the last delivery.
    last: AtomicU64,
}

/// A prepared burst of schedules due at one instant.
pub(crate) struct Burst {
    due: u64,
    before: Cursor,
}

impl Engine {
    /// An engine with an empty store.
    pub(crate) fn fresh(dir: &Path) -> Engine {
        let _ = std::fs::remove_dir_all(dir);
        Engine::over(open(dir))
    }

    /// An engine that loads this store.
    pub(crate) fn over(store: StoreSqlite) -> Engine {
        let store = Arc::new(store);
        let delivered = Arc::new(Deliveries::default());
        let noted = Arc::clone(&delivered);
        let host = HostTapped::new(
            Arc::new(HostLocal::new()),
            move |_: &SessionId, _: &reveille::domain::Message| {
                noted.last.fetch_max(ClockOs.now().boot.nanos(), Ordering::Relaxed);
                noted.count.fetch_add(1, Ordering::Release);
            },
        );
        let runtime = Runtime::start(parts(host)).expect("the system has a thread to give");
        runtime
            .handle()
            .attach_store(Arc::<StoreSqlite>::clone(&store), AttachOptions::default())
            .expect("the store is sound");
        Engine { runtime, store, delivered }
    }

    /// Opens `count` durable sessions.
    pub(crate) fn open_sessions(&self, count: usize) -> Vec<SessionId> {
        let handle = self.runtime.handle();
        // In parallel: each waits for its commit, and together they share flushes.
        std::thread::scope(|scope| {
            let opening: Vec<_> =
                (0..count).map(|number| scope.spawn(move || open_session(handle, number))).collect();
            opening.into_iter().map(|opened| opened.join().expect("nobody panics")).collect()
        })
    }

    /// Creates a schedule that is not due during the measurement; it is committed when this
    /// returns.
    pub(crate) fn create_later(&self, owner: &SessionId) {
        create(self.runtime.handle(), owner, When::After(Span::from_millis(DAY_MS)));
    }

    /// The number of pending schedules.
    pub(crate) fn pending(&self) -> u64 {
        self.runtime.handle().counters().1.pending
    }

    /// Creates `count` schedules due at one instant, [`PER_SESSION`] per session.
    pub(crate) fn prepare_burst(&self, count: usize, lead_ms: u64) -> Burst {
        let sessions = self.open_sessions(count.div_ceil(PER_SESSION));
        let now = ClockOs.now();
        let lead = Span::from_millis(lead_ms);
        let due = now.wall.checked_add(lead).expect("it is within the calendar");
        let handle = self.runtime.handle();
        let fill = |owner: &SessionId| (0..PER_SESSION).for_each(|_| create(handle, owner, When::At(due)));
        std::thread::scope(|scope| {
            for owner in &sessions {
                scope.spawn(move || fill(owner));
            }
        });
        let due = now.boot.after(lead).nanos();
        assert!(ClockOs.now().boot.nanos() < due, "creating took longer than the lead: the burst was cut");
        Burst { due, before: self.store.health().head }
    }

    /// Waits for a burst. Returns the milliseconds until the last delivery, those until everything
    /// was committed, and what was written.
    #[expect(clippy::disallowed_methods, reason = "a benchmark waits for what it measures")]
    pub(crate) fn await_burst(&self, burst: &Burst, count: u64) -> (f64, f64, Written) {
        // Deliveries are not enough: their receipts have to be committed too.
        while self.delivered.count.load(Ordering::Acquire) < count
            || self.runtime.handle().counters().1.running > 0
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        let kept = ClockOs.now().boot.nanos();
        let last = self.delivered.last.load(Ordering::Relaxed);
        let since = |nanos: u64| nanos.saturating_sub(burst.due) as f64 / 1e6;
        (since(last), since(kept), self.written_after(burst.before))
    }

    /// The records that one create wrote.
    pub(crate) fn created(&self) -> Written {
        let first = |rows: Vec<RowRecord>| rows.into_iter().next().expect("something was created");
        let created = |fact: &FactRecord| &*fact.kind == "schedule-created";
        let facts = self.store.facts_after(Cursor::START).expect("it reads").into_iter().find(created);
        let row = first(self.store.rows_after(Some("schedule/")).expect("it reads"));
        Written { facts: facts.into_iter().collect(), rows: vec![row] }
    }

    /// The records written after a cursor.
    fn written_after(&self, after: Cursor) -> Written {
        let mut written = Written::default();
        let mut place = after;
        while let Some(last) = self.store.facts_after(place).expect("it reads").pop() {
            written.facts.extend(self.store.facts_after(place).expect("it reads"));
            place = last.cursor;
        }
        let mut key: Option<Arc<str>> = None;
        while let Some(last) = self.store.rows_after(key.as_deref()).expect("it reads").pop() {
            let rows = self.store.rows_after(key.as_deref()).expect("it reads");
            // A row's revision is the cursor of its last change.
            written.rows.extend(rows.into_iter().filter(|row| row.revision > after.number()));
            key = Some(last.key);
        }
        written
    }

    /// Ends without cancelling anything, as in a crash, but closes the store in order.
    pub(crate) fn leave(self) {
        self.store.close();
        std::mem::forget(self.runtime);
    }
}

/// Fills a new store with the records of `count` creates, without waiting for flushes.
pub(crate) fn fill(dir: &Path, count: u64) {
    let _ = std::fs::remove_dir_all(dir);
    let store = Arc::new(Funnel::new(open(dir)));
    let handle = Handle::new(parts(HostLocal::new()));
    handle.attach_store(Arc::<Funnel>::clone(&store), AttachOptions::default()).expect("the store is empty");
    let mut owner = open_session(&handle, 0);
    for number in 0..count {
        // The session is full: open the next one.
        if number % PER_SESSION as u64 == PER_SESSION as u64 - 1 {
            owner = open_session(&handle, usize::try_from(number).expect("it fits"));
        }
        // Scattered over a day, with millisecond precision.
        let delay = DAY_MS + number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % DAY_MS;
        create(&handle, &owner, When::After(Span::from_millis(delay)));
    }
    store.close();
}

pub(crate) fn open(dir: &Path) -> StoreSqlite {
    // No pruning: the cost of a large log is what is measured.
    let caps = HistoryCaps { schedule_rows: 1_000, bytes: 1 << 40, days: 1_000 };
    let options = StoreOptions { caps, ..StoreOptions::new(dir, Moment::EPOCH) };
    StoreSqlite::open(options).expect("it opens")
}

fn parts(host: impl reveille::port::Host + 'static) -> Parts {
    Parts {
        clock: Arc::new(ClockOs),
        entropy: Arc::new(EntropyOs::new().expect("the system has randomness")),
        local: Arc::new(host),
        zones: Arc::default(),
        without_store: WithoutStore::Reject,
        journal: None,
    }
}

fn open_session(handle: &Handle, number: usize) -> SessionId {
    let id = SessionId::new(&format!("6f1d0f6e-93e4-4dd1-9a59-{number:012}")).expect("an id");
    handle.open_session(Some(id), HostId::LOCAL, SessionConfig::default()).expect("there is room").0
}

fn create(handle: &Handle, owner: &SessionId, when: When) {
    let new = NewSchedule {
        durability: Durability::Durable,
        session_live_max: u32::MAX,
        ..NewSchedule::message(owner.clone(), when, MESSAGE)
    };
    handle.schedule(new).expect("it is kept");
}

const DAY_MS: u64 = 86_400_000;
/// Schedules per session, at psi's limit.
const PER_SESSION: usize = 50;
const MESSAGE: &str = "look at the build of this morning, and say what is left to do of it";
