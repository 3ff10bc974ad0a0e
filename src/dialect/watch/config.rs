//! `notify_config`: what a strategy is told beyond its name. Without any of it, a strategy is as in SEED-001.

use std::sync::Arc;

use super::error::{NO_EXPRESSION, NOT_A_CONDITION, NOT_A_PATH, NOT_A_SHARE};
use crate::dialect::args::{Arg, ArgError, Args, Style};
use crate::dialect::{Notation, called};
use crate::domain::{Condition, Edge, Filter, Gaps, Lasting, NotifyWhen, Show, Span, ToolName, ValuePath};
use crate::edn::Value;
use crate::engine::{ConditionError, parse_condition, parse_path, parse_stored_condition};
use crate::limits;

const KEYS: &[&str] = &[
    "expression",
    "batch_size",
    "for",
    "for_checks",
    "gaps",
    "cooldown",
    "recall",
    "edge",
    "again",
    "silence",
    "ignore",
    "only",
    "show",
    "backoff",
    "backoff_max",
    "jitter",
];

/// The filter that the arguments of `watch_start` describe.
pub(super) fn filter(args: &Args<'_>, when: NotifyWhen, tool: &ToolName) -> Result<Filter, ArgError> {
    let filter = args.opt("notify_config", |arg| read(&arg.map(KEYS)?, when, parse_condition))?;
    match filter {
        Some(filter) => Ok(quieted(filter, tool)),
        None if when == NotifyWhen::OnThreshold => {
            Err(ArgError::own("notify_config.expression", NO_EXPRESSION, ""))
        }
        None => Ok(quieted(Filter::plain(when), tool)),
    }
}

/// Whether an expression is given that this strategy does not use.
pub(super) fn has_unused_expression(args: &Args<'_>, when: NotifyWhen) -> Result<bool, ArgError> {
    let given = args.opt("notify_config", |arg| arg.map(KEYS)?.opt("expression", |_| Ok(())))?;
    Ok(when != NotifyWhen::OnThreshold && given.flatten().is_some())
}

/// The filter without what of this tool's result is no change by itself, unless it names what counts.
pub(in crate::dialect) fn quieted(mut filter: Filter, tool: &ToolName) -> Filter {
    if filter.only.is_empty()
        && let Some((_, paths)) = UNTOLD.iter().find(|(name, _)| *name == tool.as_str())
    {
        let untold = paths.iter().filter_map(|path| parse_path(path).ok());
        filter.ignore = filter.ignore.iter().cloned().chain(untold).collect();
    }
    filter
}

fn read(config: &Args<'_>, when: NotifyWhen, parse: Parse) -> Result<Filter, ArgError> {
    let condition = config.opt("expression", |arg| condition_by(parse, &arg))?.map(Arc::new);
    if when == NotifyWhen::OnThreshold && condition.is_none() {
        return Err(ArgError::own("expression", NO_EXPRESSION, ""));
    }
    let whole = |name: &str, min: u64, max: u64| config.int_in(name, min, max);
    let batch = whole("batch_size", 1, limits::WATCH_BATCH.value)?;
    let checks = whole("for_checks", 1, limits::WATCH_HOLD.value)?;
    let span = |name: &str| config.opt(name, called::span);
    let lasting = Lasting {
        // The bounds above are far below those of the types here and in the filter, so nothing is clamped.
        checks: checks.map_or(Ok(1), u16::try_from).unwrap_or(u16::MAX),
        span: span("for")?.unwrap_or(Span::ZERO),
    };
    let paths = |name: &str| config.opt(name, |arg| arg.items(limits::WATCH_PATHS, path));
    let (only, ignore) = (paths("only")?.unwrap_or_default(), paths("ignore")?.unwrap_or_default());
    let backs_off = config.flag("backoff")?;
    let backoff_max = span("backoff_max")?;
    let longest = Span::from_millis(limits::WATCH_BACKOFF_MS.value);
    // A longest backoff alone switches it on, and `backoff: false` wins over one.
    let backoff = match (backs_off, backoff_max) {
        (Some(false), _) | (None, None) => None,
        (Some(true) | None, Some(most)) => Some(most.min(longest)),
        (Some(true), None) => Some(longest),
    };
    Ok(Filter {
        condition: condition.filter(|_| when == NotifyWhen::OnThreshold),
        batch: batch.map_or(Ok(Filter::BATCH), u16::try_from).unwrap_or(u16::MAX),
        edge: config.one_of("edge", Edge::NAMES, Edge::ALL)?.unwrap_or(Edge::Level),
        lasting,
        gaps: config.one_of("gaps", Gaps::NAMES, Gaps::ALL)?.unwrap_or(Gaps::Keep),
        cooldown: span("cooldown")?.unwrap_or(Span::ZERO),
        again: span("again")?,
        silence: span("silence")?,
        only: only.into(),
        ignore: ignore.into(),
        recall: u8::try_from(whole("recall", 0, limits::WATCH_RECALL.value)?.unwrap_or(0)).unwrap_or(u8::MAX),
        show: config.one_of("show", Show::NAMES, Show::ALL)?,
        backoff,
        jitter: config.opt("jitter", share)?.unwrap_or(0),
        ..Filter::plain(when)
    })
}

pub(in crate::dialect) fn condition(arg: Arg<'_>) -> Result<Condition, ArgError> {
    condition_by(parse_condition, &arg)
}

fn condition_by(parse: Parse, arg: &Arg<'_>) -> Result<Condition, ArgError> {
    let text = arg.filled_text(limits::CONDITION_BYTES)?;
    parse(text).map_err(|error| arg.breaks(NOT_A_CONDITION, error.to_string()).advised(error.fault.hint()))
}

fn path(arg: Arg<'_>) -> Result<ValuePath, ArgError> {
    let text = arg.filled_text(limits::CONDITION_BYTES)?;
    parse_path(text).map_err(|error| arg.breaks(NOT_A_PATH, error.to_string()).advised(error.fault.hint()))
}

/// A share from 0 to 1, in thousandths.
fn share(arg: Arg<'_>) -> Result<u16, ArgError> {
    let thousandths = called::millis(arg.value()).and_then(|share| u16::try_from(share).ok());
    thousandths.filter(|share| *share <= 1_000).ok_or_else(|| arg.breaks(NOT_A_SHARE, ""))
}

/// The filter that these words describe, as [`Filter::config`] gives them; `None` if they describe none.
pub fn filter_of(when: NotifyWhen, config: &Value) -> Option<Filter> {
    let style = Style::tools(Notation::Json);
    read(&Arg::new(config, style).map(KEYS).ok()?, when, parse_stored_condition).ok()
}

type Parse = fn(&str) -> Result<Condition, ConditionError>;

/// What of a tool's result is no change by itself: the time that it took, a server's mark of a body that is compared whole, and
/// the age of a ping, which grows by itself.
const UNTOLD: [(&str, &[&str]); 3] = [
    ("http.get", &["elapsed_ms", "headers.etag"]),
    ("http.head", &["elapsed_ms"]),
    ("ping.age", &["age_seconds"]),
];
