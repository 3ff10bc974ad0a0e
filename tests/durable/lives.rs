//! Lives of an engine over one store, and what is asked of them.

use std::collections::VecDeque;
use std::sync::Arc;

use reveille::adapter::{HostLocal, StoreMemory};
use reveille::domain::{
    CountFrom, Cursor, DecisionKind, Durability, Every, HostId, Policy, Refusal, SessionConfig, SessionId,
    Span, Terms, When,
};
use reveille::engine::NewSchedule;
use reveille::port::{Clock, HistoryCaps};
use reveille::runtime::{Handle, Subscription};
use reveille::testkit::{SimHost, Stage};

/// One process after another over one store, on one clock.
pub(crate) struct Lives {
    pub stage: Stage,
    pub store: Arc<StoreMemory>,
}

pub(crate) struct Life {
    pub handle: Handle,
    pub host: Arc<SimHost>,
    pub feed: Subscription,
    /// What the feed has shown and nobody waited for yet.
    pub shown: VecDeque<DecisionKind>,
}

impl Lives {
    pub(crate) fn new() -> Lives {
        let caps = HistoryCaps { schedule_rows: 1_000, bytes: 1 << 30, days: 1_000 };
        Lives { stage: Stage::seeded(7), store: Arc::new(StoreMemory::new(caps)) }
    }

    /// The next process; the one before it is forgotten, as a crash forgets it.
    pub(crate) fn next(&self, lost: u64) -> Life {
        let host = Arc::new(SimHost::new(&self.stage, HostId::LOCAL).over(Arc::new(HostLocal::new())));
        let handle = Handle::new(self.stage.parts(host.clone()));
        handle.take_up(self.store.clone(), lost).expect("the store is sound");
        let feed = handle.subscribe(Cursor::START);
        Life { handle, host, feed, shown: VecDeque::new() }
    }
}

impl Life {
    pub(crate) fn open(&self, name: &str) -> SessionId {
        let id = SessionId::new(name).expect("a name");
        self.handle
            .open_session(Some(id.clone()), HostId::LOCAL, SessionConfig::default())
            .expect("there is room");
        id
    }

    pub(crate) fn create(&self, new: NewSchedule) -> Result<reveille::domain::ScheduleId, Refusal> {
        self.handle.schedule(NewSchedule { durability: Durability::Durable, ..new })
    }

    /// Waits until the feed shows a decision of this kind.
    pub(crate) fn await_kind(&mut self, kind: DecisionKind) {
        loop {
            while let Some(shown) = self.shown.pop_front() {
                if shown == kind {
                    return;
                }
            }
            let batch = self.feed.next_batch(64).expect("the feed goes on");
            self.shown.extend(batch.decisions.iter().map(|decision| decision.kind));
        }
    }
}

pub(crate) fn message(owner: &SessionId, delay_ms: u64) -> NewSchedule {
    NewSchedule::message(owner.clone(), When::After(Span::from_millis(delay_ms)), "wake up")
}

pub(crate) fn every(stage: &Stage, owner: &SessionId, period_ms: u64, policy: Policy) -> NewSchedule {
    let anchor = stage.clock.now().wall.checked_add(Span::from_millis(period_ms)).expect("in range");
    let period = Every::new(Span::from_millis(period_ms), anchor, CountFrom::Slot).expect("in bounds");
    let terms = Some(Box::new(Terms { policy, ..Terms::PLAIN }));
    let when = When::By(period.into());
    NewSchedule { terms, when, ..NewSchedule::message(owner.clone(), When::After(Span::ZERO), "again") }
}
