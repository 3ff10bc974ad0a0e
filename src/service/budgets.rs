//! How much of each budget is in use. What lives elsewhere: the table of budgets (`limits/budgets.rs`), and the counting.

use std::collections::BTreeMap;

use super::Service;
use crate::domain::{BootTime, SessionId};
use crate::engine::{SessionRecord, State};
use crate::graph::view::Usage;
use crate::limits::Budget;
#[cfg(feature = "http")]
use crate::limits::Limit;
use crate::port::UnderWay;
use crate::runtime::{CallsInUse, Reading};

/// What is in use at one moment.
pub(super) struct BudgetsInUse<'a> {
    pub(super) service: &'a Service,
    pub(super) engine: &'a Reading<'a>,
    pub(super) now: BootTime,
}

/// One budget and how much of it is in use.
#[cfg(feature = "http")]
#[derive(Debug)]
pub(crate) struct BudgetReading {
    pub(crate) budget: Budget,
    /// In use by all, with the bound.
    pub(crate) all: Option<(u64, Limit)>,
    /// In use by the family of sessions that uses most, with the bound of each.
    pub(crate) largest: Option<(u64, Limit)>,
}

impl Service {
    /// How much of each budget is in use, in the order of the table.
    #[cfg(feature = "http")]
    pub(crate) fn budgets(&self) -> Vec<BudgetReading> {
        let (engine, now) = (self.handle().read(), self.handle().now().boot);
        let usage = BudgetsInUse { service: self, engine: &engine, now };
        let read = |budget: &Budget| BudgetReading {
            budget: *budget,
            all: budget.of_all().map(|limit| (usage.of_all(*budget), limit)),
            largest: budget.of_session().map(|limit| (usage.of_largest(*budget), limit)),
        };
        Budget::ALL.iter().map(read).collect()
    }
}

impl BudgetsInUse<'_> {
    fn state(&self) -> &State {
        self.engine.state()
    }

    fn outside(&self) -> UnderWay {
        self.service.handle().outside().under_way()
    }

    fn calls(&self) -> CallsInUse {
        self.service.handle().calls().in_use()
    }

    /// The largest sum of a figure of sessions over a family.
    fn largest_family(&self, figure: impl Fn(&SessionRecord) -> u64) -> u64 {
        let mut families = BTreeMap::<&SessionId, u64>::new();
        for session in self.state().sessions() {
            *families.entry(session.root()).or_default() += figure(session);
        }
        families.into_values().max().unwrap_or(0)
    }

    fn history(&self, session: Option<&str>) -> [u64; 3] {
        self.engine.store().map_or([0; 3], |store| {
            // In this order: of all, of the largest share, and of this session.
            let bytes = store.history_bytes(session);
            [bytes.all, bytes.largest, bytes.of_session]
        })
    }
}

impl Usage for BudgetsInUse<'_> {
    fn of_session(&self, budget: Budget, session: &SessionRecord) -> u64 {
        let (state, rates, places) = (self.state(), &self.service.shared.rates, self.service.places());
        let root = session.root();
        let family = |figure: fn(&SessionRecord) -> u64| state.family_of(session).map(figure).sum();
        match budget {
            Budget::Creates | Budget::Changes | Budget::QueryTime => rates.used(budget, root, self.now),
            Budget::Schedules => family(|member| member.live_count() as u64),
            Budget::Slots => state.slots_per_minute(session),
            Budget::ScheduleBytes => family(SessionRecord::bytes),
            Budget::Sessions => state.fresh_count(root) as u64,
            Budget::RunBytes => state.run_bytes(root, self.now),
            // The bound is of one transcript, so the family does not count.
            Budget::TranscriptBytes => self.engine.transcript_bytes(session),
            Budget::HistoryBytes => self.history(Some(root.as_str()))[2],
            Budget::Outside => self.outside().of_families.get(root.as_str()).copied().unwrap_or(0),
            Budget::TaskOutcomes => state.task_outcome_bytes_of(root),
            Budget::Calls => self.calls().of_families.get(root).copied().unwrap_or(0),
            Budget::Streams => places.upgrades.used_by_family(root),
            Budget::Subscriptions => places.subscriptions.used_by_family(root),
            Budget::Bodies => places.bodies.used_by_family(root),
            Budget::AnswerBytes => places.answers.used_by_family(root),
            Budget::LongQueries => places.long.turns().used_by_family(root),
            Budget::AsOfQueries => self.service.shared.past.turns().used_by_family(root),
            // No session has a bound of these.
            Budget::Connections | Budget::SocketStreams => 0,
        }
    }

    fn of_all(&self, budget: Budget) -> u64 {
        let places = self.service.places();
        match budget {
            Budget::Schedules => self.state().live_count(),
            Budget::Sessions => self.state().session_count(),
            Budget::HistoryBytes => self.history(None)[0],
            Budget::Outside => self.outside().all,
            Budget::TaskOutcomes => self.state().task_outcome_bytes(),
            Budget::Calls => self.calls().in_flight,
            Budget::Streams => places.upgrades.in_use(),
            Budget::Subscriptions => places.subscriptions.in_use(),
            Budget::Bodies => places.bodies.in_use(),
            Budget::AnswerBytes => places.answers.in_use(),
            Budget::LongQueries => places.long.turns().in_use(),
            Budget::AsOfQueries => self.service.shared.past.turns().in_use(),
            Budget::Connections => places.connections(),
            Budget::SocketStreams => places.socket_streams(),
            // Sessions have bounds of these, and all together have none.
            Budget::Creates
            | Budget::Changes
            | Budget::QueryTime
            | Budget::Slots
            | Budget::ScheduleBytes
            | Budget::RunBytes
            | Budget::TranscriptBytes => 0,
        }
    }

    fn of_largest(&self, budget: Budget) -> u64 {
        let (state, places) = (self.state(), self.service.places());
        let sessions = || state.sessions().into_iter();
        match budget {
            Budget::Creates | Budget::Changes | Budget::QueryTime => {
                self.service.shared.rates.largest(budget, self.now)
            }
            Budget::Schedules => self.largest_family(|member| member.live_count() as u64),
            Budget::Slots => state.slots_per_minute_of_largest(),
            Budget::ScheduleBytes => self.largest_family(SessionRecord::bytes),
            // The families are found by way of their members, so a large one is counted once for each.
            Budget::Sessions => sessions().map(|it| state.fresh_count(it.root()) as u64).max().unwrap_or(0),
            Budget::RunBytes => state.run_bytes_of_largest(self.now),
            Budget::TranscriptBytes => {
                sessions().map(|it| self.engine.transcript_bytes(it)).max().unwrap_or(0)
            }
            Budget::HistoryBytes => self.history(None)[1],
            Budget::Outside => self.outside().of_families.into_values().max().unwrap_or(0),
            Budget::TaskOutcomes => state.task_outcome_bytes_of_largest(),
            Budget::Calls => self.calls().of_families.into_values().max().unwrap_or(0),
            Budget::Streams => places.upgrades.used_by_largest_family(),
            Budget::Subscriptions => places.subscriptions.used_by_largest_family(),
            Budget::Bodies => places.bodies.used_by_largest_family(),
            Budget::AnswerBytes => places.answers.used_by_largest_family(),
            Budget::LongQueries => places.long.turns().used_by_largest_family(),
            Budget::AsOfQueries => self.service.shared.past.turns().used_by_largest_family(),
            Budget::Connections | Budget::SocketStreams => 0,
        }
    }
}
