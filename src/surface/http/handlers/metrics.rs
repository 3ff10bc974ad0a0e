//! `GET /metrics`: the counters of the engine and the server, in Prometheus format.
//!
//! Values are read when they are requested and never stored twice. Labels come from closed lists
//! and the table of routes, so their number is bounded.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::domain::{Code, DecisionKind, Dialect, Reason};
use crate::engine::{ChannelRecord, Gauges};
use crate::limits::Limit;
use crate::runtime::{Counters, LATENESS_NS};
use crate::service::BudgetReading;
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;

/// Answers with all metrics. They are about everybody's work, so the route admits those who see the whole.
pub(in crate::surface::http) async fn show(
    State(app): State<Arc<AppState>>,
    _who: Principal,
    headers: HeaderMap,
) -> Response {
    // Made for each request, because its only collector is the reading of this moment.
    let mut registry = Registry::with_prefix("reveille");
    registry.register_collector(Box::new(Reading::of(&app)));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = text::encode(&mut text, &registry);
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if accept.contains("openmetrics") {
        return ([(CONTENT_TYPE, OPEN_METRICS)], text).into_response();
    }
    ([(CONTENT_TYPE, PLAIN)], plain(&text)).into_response()
}

/// Writes OpenMetrics as the older text format, which names a counter like its samples, with `_total`, and has no last line.
/// Without that, readers of the older format take counters for values of an unknown type.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines().filter(|line| *line != "# EOF").peekable();
    while let Some(help) = lines.next() {
        // The help of a metric stands right before its type.
        let name = lines.peek().and_then(|kind| kind.strip_prefix("# TYPE ")?.strip_suffix(" counter"));
        match (name, help.strip_prefix("# HELP ").and_then(|help| help.split_once(' '))) {
            (Some(name), Some((_, help))) => {
                out.push_str(&format!("# HELP {name}_total {help}\n# TYPE {name}_total counter\n"));
                lines.next();
            }
            (_, _) => {
                out.push_str(help);
                out.push('\n');
            }
        }
    }
    out
}

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All metrics at one moment.
#[derive(Debug)]
struct Reading {
    figures: Counters,
    gauges: Gauges,
    answered: BTreeMap<u16, BTreeMap<String, u64>>,
    /// What the server has in use of its own limits: name, help, number.
    in_use: [(&'static str, &'static str, u64); 8],
    budgets: Vec<BudgetReading>,
    channels: Vec<ChannelReading>,
    store_down: u64,
}

/// What went through a channel.
#[derive(Debug)]
struct ChannelReading {
    name: Box<str>,
    is_disabled: bool,
    waiting: u64,
    sent: u64,
    failed: u64,
}

impl ChannelReading {
    fn of(record: &ChannelRecord, waiting: &BTreeMap<Box<str>, u64>) -> ChannelReading {
        let (sent, failed) = record.counts();
        let name = record.channel.name.clone();
        let waiting = waiting.get(&name).copied().unwrap_or(0);
        ChannelReading { name, is_disabled: record.disabled_at.is_some(), waiting, sent, failed }
    }
}

impl Reading {
    fn of(app: &AppState) -> Reading {
        let (figures, gauges) = app.service.handle().counters();
        // Read after the engine's counters, without its lock: together they are no consistent snapshot.
        let in_use = [
            ("connections", "HTTP connections", app.permits.open() as u64),
            ("streams", "Open EDN streams", app.streams.count() as u64),
            ("socket_streams", "Open EDN streams over the Unix socket", app.streams.local() as u64),
            ("http_upgrades", "Open EDN streams and WebSockets over HTTP", app.upgrades.in_use()),
            ("graphql_subscriptions", "Running GraphQL subscriptions", app.followers.in_use()),
            (
                "long_queries",
                "Queries that run beside the threads that serve requests",
                app.long.turns().in_use(),
            ),
            ("as_of_queries", "Queries as of an instant that run", app.service.as_of_turns().in_use()),
            ("answers_bytes", "Bytes of answers that wait to be sent", app.answers.in_use()),
        ];
        // A store without a term has failed; without a store there is no health to report.
        let store = app.service.handle().read().store();
        let store_down = store.is_some_and(|store| store.health().term.is_none());
        let (answered, store_down) = (app.traffic.answered(), u64::from(store_down));
        let budgets = app.service.budgets();
        // Under one lock, so that what waits and what was sent are of one moment.
        let channels = app.service.handle().view(|state| {
            let waiting = state.waiting_by_channel();
            state.channels().map(|record| ChannelReading::of(record, &waiting)).collect()
        });
        Reading { figures, gauges, answered, in_use, budgets, channels, store_down }
    }

    fn gauges(&self) -> [(&'static str, &'static str, u64); 10] {
        // The longest wait and the imbalance are no counts; they are written by themselves.
        let Gauges { sessions, pending, due, queued, running, volatile, approvals, left, held, .. } =
            self.gauges;
        [
            ("sessions", "Open sessions", sessions),
            ("pending", "Schedules whose slot has not been claimed", pending),
            ("due", "Schedules that are due and not yet claimed", due),
            ("queued", "Runs that wait for their session or their host", queued),
            ("running", "Dispatched runs whose receipt is outstanding", running),
            ("volatile", "Volatile schedules that were not dispatched yet", volatile),
            ("approvals", "Runs that wait for an operator's approval or for an external guard", approvals),
            ("left", "Messages left where nobody listens, and not taken", left),
            ("held", "1 while everything is held, so that no slot is claimed", u64::from(held)),
            (
                "store_down",
                "1 while the store cannot be written and durable work is suspended",
                self.store_down,
            ),
        ]
    }

    fn budgets(&self, encoder: &mut MetricEncoder<'_>, figure: fn((u64, Limit)) -> u64) -> fmt::Result {
        for BudgetReading { budget, all, largest } in &self.budgets {
            for (scope, found) in [("all", all), ("session", largest)] {
                let Some(found) = *found else { continue };
                let value = i64::try_from(figure(found)).unwrap_or(i64::MAX);
                encoder
                    .encode_family(&[("budget", budget.name()), ("scope", scope)])?
                    .encode_gauge(&value)?;
            }
        }
        Ok(())
    }

    fn by_dialect(&self, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
        for (dialect, count) in Dialect::ALL.iter().zip(self.gauges.by_dialect) {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            encoder.encode_family(&[("dialect", dialect.name())])?.encode_gauge(&count)?;
        }
        Ok(())
    }

    fn by_channel(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "1 while a channel is disabled because its receiver refuses messages";
        self.channel_gauge((to, "channel_disabled", help), |it| u64::from(it.is_disabled))?;
        let help = "Messages that wait to be sent by a channel, or to be tried again";
        self.channel_gauge((to, "channel_waiting", help), |it| it.waiting)?;
        let counts = |count: fn(&ChannelReading) -> u64| {
            self.channels.iter().map(move |channel| (&*channel.name, count(channel)))
        };
        let sent = counts(|channel| channel.sent);
        count_each(&mut counter(to, "channel_deliveries", "Messages sent, by channel")?, "channel", sent)?;
        let failed = counts(|channel| channel.failed);
        let help = "Attempts to send a message that failed, by channel";
        count_each(&mut counter(to, "channel_failures", help)?, "channel", failed)
    }

    fn channel_gauge(
        &self,
        (to, name, help): (&mut DescriptorEncoder<'_>, &str, &str),
        value: fn(&ChannelReading) -> u64,
    ) -> fmt::Result {
        let mut encoder = to.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for channel in &self.channels {
            let value = i64::try_from(value(channel)).unwrap_or(i64::MAX);
            encoder.encode_family(&[("channel", &*channel.name)])?.encode_gauge(&value)?;
        }
        Ok(())
    }

    fn lateness(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        let lateness = self.figures.lateness();
        // Prometheus demands a last class without an upper bound.
        let ends = LATENESS_NS.iter().map(|nanos| seconds(u128::from(*nanos))).chain([f64::INFINITY]);
        let classes: Vec<(f64, u64)> = ends.zip(lateness.classes).collect();
        let count = lateness.classes.iter().sum();
        let mut encoder = encoder;
        encoder.encode_histogram::<NoLabelSet>(seconds(lateness.sum_ns), count, &classes, None)
    }

    fn requests(&self, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
        for (status, routes) in &self.answered {
            for (route, count) in routes {
                let labels = [("route", route.clone()), ("status", status.to_string())];
                encoder.encode_family(&labels)?.encode_counter::<NoLabelSet, u64, u64>(count, None)?;
            }
        }
        Ok(())
    }
}

impl Collector for Reading {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let to = &mut encoder;
        for (name, help, value) in self.gauges().into_iter().chain(self.in_use) {
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            to.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)?;
        }
        let help =
            "What is in use of each budget, by all callers and by the family of sessions that uses most";
        self.budgets(
            &mut to.encode_descriptor("budget_used", help, None, MetricType::Gauge)?,
            |(used, _)| used,
        )?;
        let help = "The bound of each budget, for all callers and for each family of sessions";
        self.budgets(
            &mut to.encode_descriptor("budget_limit", help, None, MetricType::Gauge)?,
            |(_, limit)| limit.value,
        )?;
        let help = "Schedules that have not ended, by the family of tools that made them";
        self.by_dialect(&mut to.encode_descriptor("schedules", help, None, MetricType::Gauge)?)?;
        self.by_channel(to)?;
        let help = "How long ago the slot was of the run that waits longest for its session, its host or its channel";
        let longest = seconds(u128::from(self.gauges.longest_wait.nanos()));
        to.encode_descriptor("longest_wait_seconds", help, None, MetricType::Gauge)?
            .encode_gauge(&longest)?;
        let build =
            to.encode_descriptor("build_info", "The version of the program", None, MetricType::Gauge)?;
        let mut build = build;
        build.encode_family(&[("version", env!("CARGO_PKG_VERSION"))])?.encode_gauge(&1_i64)?;
        let help = "Expected slots less those accounted for: anything but 0 is a defect";
        // Signed, unlike the other gauges: the accounts can be off in both directions.
        to.encode_descriptor("accounting_imbalance", help, None, MetricType::Gauge)?
            .encode_gauge(&self.gauges.imbalance)?;
        let late = "Time from a slot to the dispatch of its run, queueing included";
        self.lateness(to.encode_descriptor("lateness_seconds", late, None, MetricType::Histogram)?)?;
        let figures = &self.figures;
        let created = figures.decided(DecisionKind::ScheduleCreated);
        counter(to, "creates", "Schedules created")?.encode_counter::<NoLabelSet, _, u64>(&created, None)?;
        let delivered = figures.decided(DecisionKind::RunDelivered);
        counter(to, "deliveries", "Runs that their host confirmed")?
            .encode_counter::<NoLabelSet, _, u64>(&delivered, None)?;
        let reasons = || Reason::ALL.iter().map(|reason| (*reason, reason.name()));
        let cancels = reasons().map(|(reason, name)| (name, figures.cancelled_for(reason)));
        count_each(&mut counter(to, "cancels", "Schedules cancelled, by reason")?, "reason", cancels)?;
        let skips = reasons().map(|(reason, name)| (name, figures.skipped_for(reason)));
        count_each(
            &mut counter(to, "skips", "Slots without a run of their own, by reason")?,
            "reason",
            skips,
        )?;
        let failures = reasons().map(|(reason, name)| (name, figures.failed_for(reason)));
        count_each(&mut counter(to, "failures", "Runs that failed, by reason")?, "reason", failures)?;
        let refusals = Code::ALL.iter().map(|code| (code.name(), figures.refused_with(*code)));
        count_each(&mut counter(to, "refusals", "Refusals of the engine, by code")?, "code", refusals)?;
        self.requests(&mut counter(to, "http_requests", "Answered requests, by route and status")?)
    }
}

fn counter<'s>(
    encoder: &'s mut DescriptorEncoder<'_>,
    name: &'s str,
    help: &str,
) -> Result<MetricEncoder<'s>, fmt::Error> {
    encoder.encode_descriptor(name, help, None, MetricType::Counter)
}

fn count_each<'a>(
    encoder: &mut MetricEncoder<'_>,
    label: &'static str,
    counts: impl Iterator<Item = (&'a str, u64)>,
) -> fmt::Result {
    for (name, count) in counts {
        encoder.encode_family(&[(label, name)])?.encode_counter::<NoLabelSet, _, u64>(&count, None)?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a figure for a graph")]
fn seconds(nanos: u128) -> f64 {
    nanos as f64 / 1e9
}
