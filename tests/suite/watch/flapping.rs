//! T44: what is told of tools that flap is what a plain function over the whole history says.

use proptest::prelude::*;
use reveille::domain::{Edge, Filter, Gaps, Lasting, NotifyWhen, Outcome, Span};
use reveille::edn::{Map, Value};
use reveille::engine::parse_condition;

use super::{World, started};
use crate::calendar::laws::cases;

/// One check of the history: whether it failed, and one of a few results or errors.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    ok: bool,
    kind: i64,
}

/// The result that has nothing at the path of the condition.
const NOTHING: i64 = 4;

impl Sample {
    fn outcome(self) -> Outcome {
        match (self.ok, self.kind) {
            (false, kind) => Outcome::of_error(format!("error {kind}"), Span::ZERO),
            (true, NOTHING) => Outcome::of_value(Map::new().into(), 1, Span::ZERO),
            (true, kind) => Outcome::of_value(Map::new().with("n", kind).into(), 1, Span::ZERO),
        }
    }

    fn is_above(&self) -> bool {
        self.ok && self.kind > 1 && self.kind != NOTHING
    }

    /// Whether it says anything about the condition.
    fn is_known(&self) -> bool {
        self.ok && self.kind != NOTHING
    }
}

/// What is told of each check, from the whole history up to it.
fn reference(filter: &Filter, interval: u64, samples: &[Sample]) -> Vec<bool> {
    let mut told: Vec<bool> = Vec::new();
    for now in 0..samples.len() {
        let is_cool = |span: Span| {
            let last = told.iter().rposition(|told| *told);
            last.is_none_or(|last| (now - last) as u64 * interval >= span.millis() / 1_000)
        };
        let is_news = match filter.when {
            NotifyWhen::OnChange => changed(filter, interval, &samples[..=now], &told),
            NotifyWhen::OnError => failed(filter, interval, &samples[..=now], &told),
            NotifyWhen::OnThreshold if filter.edge == Edge::Level => {
                holds(filter, interval, &samples[..=now], &told)
            }
            NotifyWhen::OnThreshold => crosses(filter, interval, &samples[..=now], &told),
            NotifyWhen::Summary | NotifyWhen::Always => true,
        };
        told.push(is_news && is_cool(filter.cooldown));
    }
    told
}

/// Whether the end of the history has lasted: the checks from the newest back that are like it, and how far back they reach.
fn lasted(filter: &Filter, interval: u64, like: &[bool]) -> bool {
    let first = like.iter().position(|like| *like);
    let count = like.iter().filter(|like| **like).count();
    let span = first.map_or(0, |first| (like.len() - 1 - first) as u64 * interval);
    count >= usize::from(filter.lasting.checks) && span >= filter.lasting.span.millis() / 1_000
}

fn changed(filter: &Filter, interval: u64, samples: &[Sample], told: &[bool]) -> bool {
    let (now, last_told) = (samples.len() - 1, told.iter().rposition(|told| *told));
    let newest = samples[now];
    if now == 0 || newest == samples[last_told.unwrap_or(0)] {
        return false;
    }
    if !filter.lasting.is_none() {
        // Back to what was told, or to what ends the row.
        let since = last_told.unwrap_or(0) + 1;
        let row: Vec<&Sample> = if newest.ok {
            let ends = |sample: &Sample| {
                if sample.ok { *sample != newest } else { filter.gaps == Gaps::Reset }
            };
            let begin = samples[since..].iter().rposition(ends).map_or(since, |end| since + end + 1);
            samples[begin..].iter().collect()
        } else {
            let begin = samples.iter().rposition(|sample| sample.ok).map_or(0, |end| end + 1);
            samples[begin..].iter().collect()
        };
        let like: Vec<bool> = row.iter().map(|sample| sample.ok == newest.ok).collect();
        if !lasted(filter, interval, &like) {
            return false;
        }
    }
    let mut recalled = Vec::new();
    for (sample, _) in samples.iter().zip(told).rev().filter(|(_, told)| **told) {
        if !recalled.contains(sample) {
            recalled.push(*sample);
        }
    }
    if !recalled.contains(&samples[0]) {
        recalled.push(samples[0]);
    }
    !recalled.iter().take(usize::from(filter.recall)).any(|known| *known == newest)
}

/// Whether the newest check is told of a failure or a recovery. A failure is open from its telling to that of the recovery.
fn failed(filter: &Filter, interval: u64, samples: &[Sample], told: &[bool]) -> bool {
    let newest = samples[samples.len() - 1];
    let is_open =
        told.iter().zip(samples).rev().find(|(told, _)| **told).is_some_and(|(_, sample)| !sample.ok);
    if newest.ok && !is_open {
        return false;
    }
    let begin = samples.iter().rposition(|sample| sample.ok != newest.ok).map_or(0, |end| end + 1);
    let is_long = lasted(filter, interval, &vec![true; samples.len() - begin]);
    let last =
        told.iter().rposition(|told| *told).map_or(u64::MAX, |last| (told.len() - last) as u64 * interval);
    let is_due = newest.ok || !is_open || filter.again.is_none_or(|again| last >= again.millis() / 1_000);
    is_long && is_due
}

/// Whether the newest check is told because the result is above 1, and was so for long enough.
fn holds(filter: &Filter, interval: u64, samples: &[Sample], told: &[bool]) -> bool {
    let is_plain = filter.lasting.is_none();
    let is_above = Sample::is_above;
    let is_gap = |sample: &Sample| !sample.ok && !is_plain;
    let newest = &samples[samples.len() - 1];
    if !is_above(newest) {
        return false;
    }
    let ends = |sample: &Sample| {
        if is_gap(sample) { filter.gaps == Gaps::Reset } else { !is_above(sample) }
    };
    let begin = samples.iter().rposition(ends).map_or(0, |end| end + 1);
    let like: Vec<bool> = samples[begin..].iter().map(is_above).collect();
    // Open since something was told, until the result is no longer above.
    let below =
        samples.iter().rposition(|sample| !is_gap(sample) && !is_above(sample)).map_or(0, |end| end + 1);
    let last = told.iter().rposition(|told| *told);
    let is_open = last.is_some_and(|last| last >= below);
    let since = last.map_or(u64::MAX, |last| (told.len() - last) as u64 * interval);
    let is_due = !is_open || filter.again.is_none_or(|again| since >= again.millis() / 1_000);
    lasted(filter, interval, &like) && is_due
}

/// Whether the newest check is told because the condition has begun or has ceased to hold, for long enough.
fn crosses(filter: &Filter, interval: u64, samples: &[Sample], told: &[bool]) -> bool {
    let is_wanted = |holds: bool| match filter.edge {
        Edge::Rising => holds,
        Edge::Falling => !holds,
        Edge::Both | Edge::Level => true,
    };
    let last_told = told.iter().rposition(|told| *told);
    let since = last_told.map_or(u64::MAX, |last| (told.len() - last) as u64 * interval);
    let is_due = filter.again.is_some_and(|again| since >= again.millis() / 1_000);
    // How it stood when that was settled last, and whether it was told then. The first thing that is known is no crossing.
    let mut settled: Option<(bool, bool)> = None;
    for (now, sample) in samples.iter().enumerate().filter(|(_, sample)| sample.is_known()) {
        let holds = sample.is_above();
        let ends = |it: &Sample| {
            if it.is_known() { it.is_above() != holds } else { filter.gaps == Gaps::Reset }
        };
        let begin = samples[..now].iter().rposition(ends).map_or(0, |end| end + 1);
        let like: Vec<bool> = samples[begin..=now].iter().map(Sample::is_known).collect();
        if !lasted(filter, interval, &like) {
            continue;
        }
        if now == told.len() {
            return is_wanted(holds)
                && settled.is_some_and(|(before, was_told)| before != holds || was_told && is_due);
        }
        if settled.is_none() || told[now] || !is_wanted(holds) {
            settled = Some((holds, told[now]));
        }
    }
    false
}

fn filter() -> impl Strategy<Value = Filter> {
    let when = prop::sample::select(vec![
        NotifyWhen::OnChange,
        NotifyWhen::OnError,
        NotifyWhen::OnThreshold,
        NotifyWhen::Always,
    ]);
    let seconds = |most: u64| {
        prop_oneof![2 => Just(0), 3 => 1..most].prop_map(|seconds| Span::from_millis(seconds * 1_000))
    };
    let again = prop::option::of(seconds(200));
    let lasting = prop_oneof![2 => Just((1, 0)), 3 => (1..4_u16, 0..150_u64)];
    let edge = prop::sample::select(vec![Edge::Level, Edge::Rising, Edge::Falling, Edge::Both]);
    (when, edge, lasting, prop::bool::ANY, seconds(300), again, 0..5_u8).prop_map(
        |(when, edge, (checks, span), keeps, cooldown, again, recall)| Filter {
            edge,
            lasting: Lasting { checks, span: Span::from_millis(span * 1_000) },
            gaps: if keeps { Gaps::Keep } else { Gaps::Reset },
            cooldown,
            again,
            recall,
            condition: parse_condition("result.n > 1").ok().map(Into::into),
            ..Filter::plain(when)
        },
    )
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let sample = (prop::bool::weighted(0.75), 0..=NOTHING).prop_map(|(ok, kind)| Sample { ok, kind });
    let run = (sample, 1..5_usize).prop_map(|(sample, times)| vec![sample; times]);
    prop::collection::vec(run, 1..16).prop_map(|runs| runs.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4_096), ..ProptestConfig::default() })]

    /// T44.
    #[test]
    fn what_is_told_is_what_the_whole_history_says(filter in filter(), samples in samples()) {
        let mut world = World::new(started(&Value::Map(Map::new())));
        world.filter = std::sync::Arc::new(filter.clone());
        let told: Vec<bool> = samples
            .iter()
            .map(|sample| world.check(sample.outcome()).0.told.is_some())
            .collect();
        prop_assert_eq!(&told, &reference(&filter, 30, &samples));
        prop_assert_eq!(world.watch.tally.told, told.iter().filter(|told| **told).count() as u64);
        prop_assert_eq!(world.watch.tally.checks, samples.len() as u64);
    }
}
