//! Lives of an engine over one store, and what is asked of them.

use std::collections::VecDeque;
use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::domain::{
    CountFrom, Cursor, DecisionKind, Durability, Every, HostId, Policy, Refusal, ScheduleId, SessionConfig,
    SessionId, Settings, Span, Status, When,
};
use reveille::engine::{Command, Input, NewSchedule, ScheduleRecord};
use reveille::port::{Clock, HistoryCaps, Ticket};
use reveille::runtime::{AttachOptions, Handle, StoreReplies, Subscription};
use reveille::testkit::StoreMemory;
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
        Lives::capped(7, HistoryCaps { schedule_rows: 1_000, bytes: 1 << 30, days: 1_000 })
    }

    /// Lives of this seed over a store with these caps.
    pub(crate) fn capped(seed: u64, caps: HistoryCaps) -> Lives {
        Lives { stage: Stage::seeded(seed), store: Arc::new(StoreMemory::new(caps)) }
    }

    /// The next process; the one before it is forgotten, as a crash forgets it.
    pub(crate) fn next(&self, lost: u64) -> Life {
        let host = Arc::new(SimHost::new(&self.stage, HostId::LOCAL).over(Arc::new(HostLocal::new())));
        let handle = Handle::new(self.stage.parts(host.clone()));
        handle
            .attach_store(self.store.clone(), AttachOptions { lost, ..AttachOptions::default() })
            .expect("the store is sound");
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

    pub(crate) fn create(&self, new: NewSchedule) -> Result<ScheduleId, Refusal> {
        self.handle.schedule(durable(new))
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

/// A process whose answers from the store are published by hand.
pub(crate) struct ByHand {
    pub handle: Handle,
    pub host: Arc<SimHost>,
    pub answers: StoreReplies,
}

impl ByHand {
    pub(crate) fn new(lives: &Lives) -> ByHand {
        ByHand::with(lives, AttachOptions::default())
    }

    pub(crate) fn with(lives: &Lives, options: AttachOptions) -> ByHand {
        let host = Arc::new(SimHost::new(&lives.stage, HostId::LOCAL).over(Arc::new(HostLocal::new())));
        let handle = Handle::new(lives.stage.parts(host.clone()));
        let answers =
            StoreReplies::attach(&handle, lives.store.clone(), options).expect("the store is sound");
        ByHand { handle, host, answers }
    }

    pub(crate) fn open(&self, host: HostId) -> SessionId {
        let opened = self.handle.open_session(None, host, SessionConfig::default());
        opened.expect("a new engine has room").0
    }

    /// Nobody waits for the disk: the ticket says what becomes of it.
    pub(crate) fn ask(&self, command: Command) -> Ticket {
        let asked =
            self.handle.submit_unawaited(Input::Command(command)).expect("it is no refusal of the engine's");
        asked.expect("it is about something that is on disk")
    }

    pub(crate) fn status(&self, id: &ScheduleId) -> Option<Status> {
        self.handle.view(|state| state.schedule(id).map(ScheduleRecord::status))
    }

    /// Deals with all that is due.
    pub(crate) fn turn(&mut self) {
        self.handle.run_due();
        while self.answers.publish() {
            self.handle.run_due();
        }
    }

    /// What reached the host, each time that it did.
    pub(crate) fn received(&self) -> Vec<ScheduleId> {
        self.host.prompts().into_iter().map(|prompt| prompt.run.schedule).collect()
    }

    /// The kinds of decisions that the feed shows about a schedule.
    pub(crate) fn shown(&self, id: &ScheduleId) -> Vec<DecisionKind> {
        let shown = self.handle.subscribe(Cursor::START).poll(1_000).decisions;
        shown.iter().filter(|it| it.schedule() == Some(id)).map(|it| it.kind).collect()
    }
}

pub(crate) fn durable(new: NewSchedule) -> NewSchedule {
    NewSchedule { durability: Durability::Durable, ..new }
}

pub(crate) fn message(owner: &SessionId, delay_ms: u64) -> NewSchedule {
    NewSchedule::message(owner.clone(), When::After(Span::from_millis(delay_ms)), "wake up")
}

pub(crate) fn every(stage: &Stage, owner: &SessionId, period_ms: u64, policy: Policy) -> NewSchedule {
    let anchor = stage.clock.now().wall.checked_add(Span::from_millis(period_ms)).expect("in range");
    let period = Every::new(Span::from_millis(period_ms), anchor, CountFrom::Slot).expect("in bounds");
    let settings = Some(Box::new(Settings { policy, ..Settings::PLAIN }));
    let when = When::By(period.into());
    NewSchedule { settings, when, ..NewSchedule::message(owner.clone(), When::After(Span::ZERO), "again") }
}
