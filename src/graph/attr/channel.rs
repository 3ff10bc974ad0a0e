//! The outbound channels, and how the last attempts to deliver by each went.

use std::collections::BTreeMap;

use crate::domain::{ChannelKind, Direction, Failure, Moment, Run, RunState, Schedule, Scope, Target};
use crate::edn::{Map, Value};
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
            .into()
    });
    Value::Vector(shown.collect::<Vec<Value>>().into())
}

/// How the last attempts by one channel went.
#[derive(Clone, Copy, Default)]
struct Use<'a> {
    last_delivery: Option<Moment>,
    last_failure: Option<(Moment, &'a Failure)>,
}

/// Returns how the channels were used, by the retained runs that the caller may see. They outlive a restart, as a count in memory
/// would not.
fn uses<'a>(view: &View<'a>) -> BTreeMap<&'a str, Use<'a>> {
    let mut uses: BTreeMap<&str, Use<'_>> = BTreeMap::new();
    for record in schedules_of(view, Whose::All).into_iter().filter_map(|key| view.schedule(key)) {
        for (_, run) in view.state.runs_of(record) {
            let definition = view.state.definition_of(run);
            if let Some(Target::Route(route)) = definition.map(Schedule::target) {
                uses.entry(&route.channel).or_default().add(run.run());
            }
        }
    }
    uses
}

impl<'a> Use<'a> {
    fn add(&mut self, run: &'a Run) {
        if run.state == RunState::Delivered {
            self.last_delivery = self.last_delivery.max(run.delivered_at);
        }
        for attempt in run.attempts() {
            // One that was never handed over says nothing about the receiver.
            let ended = attempt.ended_at.filter(|_| attempt.started_at.is_some());
            let Some((ended_at, failure)) = ended.zip(attempt.failure) else { continue };
            if self.last_failure.is_none_or(|(last, _)| last <= ended_at) {
                self.last_failure = Some((ended_at, failure));
            }
        }
    }
}
