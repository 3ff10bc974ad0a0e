//! Engines with simulated clock and randomness: bit-identical in every run.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::calendar::parse_cron;
use reveille::domain::{
    Caller, Durability, HostId, ScheduleId, SessionConfig, SessionId, Span, Trigger, When, Zone,
};
use reveille::engine::NewSchedule;
use reveille::port::{HistoryCaps, RowRecord, Store};
use reveille::runtime::{AttachOptions, Handle, Parts, StoreReplies, WithoutStore};
use reveille::service::Service;
use reveille::testkit::StoreMemory;
use reveille::testkit::{SimClock, SimEntropy};

/// Schedules per session, at psi's limit.
const PER_SESSION: usize = 50;
const HOUR_MS: u64 = 3_600_000;

/// An engine as an embedder uses it, in simulated surroundings, with its sessions.
pub(crate) struct Engine {
    pub(crate) handle: Handle,
    pub(crate) service: Service,
    pub(crate) clock: Arc<SimClock>,
    sessions: Vec<SessionId>,
    store: Option<(Arc<StoreMemory>, StoreReplies)>,
}

impl Engine {
    /// An engine with sessions for `count` schedules, 50 each.
    pub(crate) fn for_schedules(count: usize) -> Engine {
        let clock = Arc::new(SimClock::new());
        let handle = Handle::new(Parts {
            clock: Arc::<SimClock>::clone(&clock),
            entropy: Arc::new(SimEntropy::seeded(6)),
            local: Arc::new(HostLocal::new()),
            zones: Arc::default(),
            without_store: WithoutStore::Reject,
            journal: None,
        });
        let mut engine = Engine {
            service: Service::new(handle.clone()),
            handle,
            clock,
            sessions: Vec::new(),
            store: None,
        };
        let open = |number| {
            let id = SessionId::new(&format!("session-{number}")).expect("letters and digits");
            let opened = engine.handle.open_session(Some(id), HostId::LOCAL, SessionConfig::default());
            opened.expect("there is room").0
        };
        engine.sessions = (0..count.div_ceil(PER_SESSION)).map(open).collect();
        engine
    }

    /// An engine with `pending` schedules, due in one to 24 hours.
    pub(crate) fn with(pending: usize) -> Engine {
        let engine = Engine::for_schedules(pending);
        for place in 0..pending {
            engine.schedule(engine.far(place));
        }
        engine
    }

    /// Attaches a store in memory. Its answers are published only by `turn_to_rest`.
    pub(crate) fn keeping(mut self) -> Engine {
        let caps = HistoryCaps { schedule_rows: 1_000, bytes: 1 << 30, days: 1_000 };
        let store = Arc::new(StoreMemory::new(caps));
        let answers =
            StoreReplies::attach(&self.handle, Arc::<StoreMemory>::clone(&store), AttachOptions::default());
        self.store = Some((store, answers.expect("the store is empty")));
        self
    }

    /// All rows of the store.
    pub(crate) fn rows(&self) -> Vec<RowRecord> {
        let (store, _) = self.store.as_ref().expect("it keeps");
        let mut rows: Vec<RowRecord> = Vec::new();
        loop {
            let more = store.rows_after(rows.last().map(|row| &*row.key)).expect("memory can be read");
            if more.is_empty() {
                return rows;
            }
            rows.extend(more);
        }
    }

    /// Runs everything due and publishes the store's answers, until nothing happens any more.
    pub(crate) fn turn_to_rest(&mut self) {
        self.handle.run_due();
        while self.store.as_mut().is_some_and(|(_, answers)| answers.publish()) {
            self.handle.run_due();
        }
    }

    /// A new schedule due in one hour to a day; sessions take turns.
    pub(crate) fn far(&self, place: usize) -> NewSchedule {
        // The multiplier scatters neighbours: deadlines come in no order.
        let scattered = (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        self.due(place, When::After(Span::from_millis(HOUR_MS + scattered % (23 * HOUR_MS))))
    }

    pub(crate) fn due(&self, place: usize, when: When) -> NewSchedule {
        let owner = self.sessions[place % self.sessions.len()].clone();
        NewSchedule::message(owner, when, "Look at the build that began an hour ago, and tell me more of it")
    }

    /// A new cron schedule; neighbours have different times.
    pub(crate) fn by_cron(&self, place: usize) -> NewSchedule {
        let rule = format!("{} {} * * *", place * 7 % 60, place * 11 % 24);
        let zone = Zone::parse("Europe/Berlin").expect("a zone");
        let trigger = Trigger::Cron(parse_cron(&rule).expect("it is sound").into(), zone.into());
        self.due(place, When::By(trigger))
    }

    pub(crate) fn schedule(&self, new: NewSchedule) -> ScheduleId {
        self.handle.schedule(new).expect("there is room")
    }

    /// The answer to an EDN query, as text.
    pub(crate) fn ask(&self, caller: &Caller, query: &str) -> String {
        let prepared = self.service.prepare(caller, query.as_bytes()).expect("a query");
        let mut text = String::new();
        self.service.answer(caller, &prepared, false, &mut text).expect("within limits");
        text
    }

    pub(crate) fn first_session(&self) -> Caller {
        Caller::session(self.sessions[0].clone())
    }
}

pub(crate) fn durable(new: NewSchedule) -> NewSchedule {
    NewSchedule { durability: Durability::Durable, ..new }
}
