//! The outbound channels, and how the last attempts to deliver by each went.

use std::collections::BTreeMap;

use crate::domain::{ChannelKind, Direction, Failure, Moment, Run, RunState, Schedule, Scope, Target};
use crate::edn::{Map, Value};
use crate::engine::ScheduleRecord;
use crate::graph::listing::{Whose, schedules_of};
use crate::graph::params::field;
use crate::graph::psi_terms;
use crate::graph::registry::{Param, ParamType, Record};
use crate::graph::view::View;

/// The fields of each of the [`channels`](fn@channels).
pub(super) const CHANNEL: Record = Record {
    name: "channel",
    doc: "An outbound channel.",
    params: &[
        field::<Box<str>>("name", "The name that an operator gave it."),
        field::<ChannelKind>("kind", "The kind of receiver."),
        field::<Box<str>>("goes-to", "The destination, without secrets."),
        field::<bool>("agents?", "Whether schedules of sessions may use it."),
        field::<bool>("agents-manage?", "Whether sessions may pause, resume and try it."),
        field::<Moment>(
            "inbound-paused-at",
            "Since when nothing comes in by it. Nil while it is not paused.",
        )
        .or_nil(),
        field::<Moment>(
            "outbound-paused-at",
            "Since when nothing goes out by it. Nil while it is not paused.",
        )
        .or_nil(),
        field::<Moment>("disabled-at", "When it was disabled. Nil while it is enabled.").or_nil(),
        field::<Moment>(
            "last-delivery-at",
            "When the receiver last took something, as far back as runs are retained. Nil if none is.",
        )
        .or_nil(),
        field::<Moment>("last-failure-at", "When a hand-over last failed. Nil if none of the retained did.")
            .or_nil(),
        field::<Box<str>>("last-error", "What the receiver said to it, or why it was not reached.").or_nil(),
        Param::shown(
            "last-code",
            CODE,
            "The status or exit code that it answered with. Nil if it gave none.",
        )
        .or_nil(),
        field::<Moment>(
            "failing-since",
            "When a hand-over first failed since the last delivery. Nil if none has failed since.",
        )
        .or_nil(),
        Param::shown(
            "failed-count",
            ParamType::NATURAL,
            "How many runs have failed since the last delivery.",
        ),
        Param::shown("waiting-count", ParamType::NATURAL, "How many runs wait to go out, or are under way."),
    ],
};

const CODE: ParamType = ParamType::Integer { min: -(1 << 31), max: (1 << 31) - 1 };

/// Returns the channels that the caller may use.
pub(super) fn channels(view: &View<'_>) -> Value {
    let is_operator = *view.scope == Scope::Operator;
    // Without a channel there is nothing to look for in the runs of all schedules, and this is read under the engine's lock.
    let has_channels = view.state.channels().next().is_some();
    let uses = if has_channels { uses(view) } else { BTreeMap::new() };
    // Where the other channels lead is for operators only.
    let shown = view.state.channels().filter(|it| is_operator || it.channel.agents).map(|it| {
        let paused = |way| {
            let pause = view.state.channel_pause(&it.channel.name, way);
            pause.map_or(Value::Nil, |pause| psi_terms::instant(pause.since))
        };
        let used = uses.get(&*it.channel.name).copied().unwrap_or_default();
        let (failed_at, failure) = used.last_failure.unzip();
        Map::new()
            .with("name", &*it.channel.name)
            .with("kind", Value::keyword(it.channel.kind.name()))
            .with("goes-to", &*it.channel.goes_to)
            .with("agents?", it.channel.agents)
            .with("agents-manage?", it.channel.agents_manage)
            .with("inbound-paused-at", paused(Direction::Inbound))
            .with("outbound-paused-at", paused(Direction::Outbound))
            .with("disabled-at", it.disabled_at.map_or(Value::Nil, psi_terms::instant))
            .with("last-delivery-at", used.last_delivery.map(psi_terms::instant))
            .with("last-failure-at", failed_at.map(psi_terms::instant))
            .with("last-error", failure.map(|failure| &*failure.message))
            .with("last-code", failure.and_then(|failure| failure.code).map(i64::from))
            .with("failing-since", used.failing_since.map(psi_terms::instant))
            .with("failed-count", used.failed)
            .with("waiting-count", used.waiting)
            .into()
    });
    Value::Vector(shown.collect::<Vec<Value>>().into())
}

/// How the last attempts by one channel went.
#[derive(Clone, Copy, Default)]
struct Use<'a> {
    last_delivery: Option<Moment>,
    last_failure: Option<(Moment, &'a Failure)>,
    /// When a hand-over first failed since the last delivery.
    failing_since: Option<Moment>,
    /// How many runs have failed since the last delivery.
    failed: i64,
    /// How many runs have not ended.
    waiting: i64,
}

/// Returns how the channels were used, by the retained runs that the caller may see. They outlive a restart, as a count in memory
/// would not.
fn uses<'a>(view: &View<'a>) -> BTreeMap<&'a str, Use<'a>> {
    let mut uses: BTreeMap<&str, Use<'_>> = BTreeMap::new();
    for (channel, run) in sent(view) {
        uses.entry(channel).or_default().add(run);
    }
    // What has failed since the last delivery can be counted only once that is known, and mostly nothing has.
    if uses.values().any(Use::is_failing) {
        for (channel, run) in sent(view) {
            if let Some(used) = uses.get_mut(channel).filter(|used| used.is_failing()) {
                used.add_since_delivery(run);
            }
        }
    }
    uses
}

/// The retained runs that go to channels, each with the name of its channel.
fn sent<'a>(view: &View<'a>) -> impl Iterator<Item = (&'a str, &'a Run)> {
    let state = view.state;
    let records: Vec<&ScheduleRecord> =
        schedules_of(view, Whose::All).into_iter().filter_map(|key| view.schedule(key)).collect();
    records.into_iter().flat_map(|record| state.runs_of(record)).filter_map(|(_, run)| {
        match state.definition_of(run).map(Schedule::target) {
            Some(Target::Route(route)) => Some((&*route.channel, run.run())),
            Some(Target::Owner | Target::Session(_) | Target::Fresh) | None => None,
        }
    })
}

impl<'a> Use<'a> {
    fn add(&mut self, run: &'a Run) {
        if run.state == RunState::Delivered {
            self.last_delivery = self.last_delivery.max(run.delivered_at);
        }
        self.waiting += i64::from(!run.state.is_terminal());
        for (ended_at, failure) in failures(run) {
            // Runs come schedule by schedule, so the latest failure need not come last.
            if self.last_failure.is_none_or(|(last, _)| last <= ended_at) {
                self.last_failure = Some((ended_at, failure));
            }
        }
    }

    /// Whether a hand-over has failed since the last delivery.
    fn is_failing(&self) -> bool {
        // `None` is less than any instant: without a delivery every failure counts.
        self.last_failure.is_some_and(|(failed_at, _)| Some(failed_at) > self.last_delivery)
    }

    /// Adds what has failed since the last delivery.
    fn add_since_delivery(&mut self, run: &Run) {
        for (ended_at, _) in failures(run).filter(|(ended_at, _)| Some(*ended_at) > self.last_delivery) {
            self.failing_since = Some(self.failing_since.map_or(ended_at, |first| first.min(ended_at)));
        }
        // A run that was never handed over, because nobody approved it for instance, says nothing about the receiver.
        let has_failed = run.state == RunState::Failed && run.started_at.is_some();
        self.failed += i64::from(has_failed && run.ended_at > self.last_delivery);
    }
}

/// The attempts of a run that failed with the receiver: when, and why. One that was never handed over is none.
fn failures(run: &Run) -> impl Iterator<Item = (Moment, &Failure)> {
    run.attempts().filter(|attempt| attempt.started_at.is_some()).filter_map(|it| it.ended_at.zip(it.failure))
}
