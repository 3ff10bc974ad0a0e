//! Parses a call of `Monitor`: a watch of a tool, with Claude Code's names for what it is for and when it ends.
//!
//! Claude Code's own `Monitor` runs a shell command, or opens a WebSocket. This one does neither: such a call is parsed to a
//! [`ProgramCall`], and `instead.rs` looks for a call of a tool in its place. Invariant: a monitor that begins has time for a
//! check that can tell something.

use std::borrow::Cow;
use std::sync::Arc;

use super::error::{NEEDLESS, TOO_SHORT};
use super::instead::ProgramCall;
use crate::dialect::args::{ArgError, Args, Repair};
use crate::dialect::called;
use crate::dialect::watch::{
    INTERVAL, NO_EXPRESSION, STRATEGIES, WatchDraft, condition, interval, name_of, quieted,
};
use crate::domain::{Filter, NotifyWhen, Span};
use crate::edn::{Map, Value};
use crate::limits;

/// The definition of a monitor to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorDraft {
    /// The watch.
    pub(crate) watch: WatchDraft,
    /// After how long it ends; `None` if it lasts as long as its session.
    pub(crate) lasts: Option<Span>,
}

/// The names of the arguments. `ws` is another one that is understood, and never accepted.
pub(super) const NAMES: &[&str] = &[
    "description",
    "timeout_ms",
    "persistent",
    "command",
    "tool",
    "arguments",
    "interval",
    "notify_when",
    "expression",
];

/// The program or the connection that a call asks for, if it asks for one.
pub(super) fn program(call: Repair<'_>) -> Option<ProgramCall> {
    let given = |name: &&str| call.field(name).is_some_and(|value| !value.is_nil());
    let field = PROGRAMS.iter().copied().find(given)?;
    let is_other = |name: &Cow<'_, str>| !PROGRAMS.contains(&name.as_ref());
    let others = call.keys().filter(|(_, name)| is_other(name));
    // In the spelling of the caller, because the example is made of them.
    let rest = others.filter_map(|(key, name)| Some((key.clone(), call.field(&name)?.clone())));
    Some(ProgramCall { field, value: call.field(field)?.clone(), rest: rest.collect() })
}

/// Parses the arguments of a call that asks for no program.
pub(super) fn draft(args: &Args<'_>) -> Result<MonitorDraft, ArgError> {
    let description = args.required_text("description", limits::LABEL_BYTES)?;
    let lasts = lasts(args)?;
    let tool = args.required("tool", called::tool)?;
    let arguments = args.opt("arguments", called::arguments)?.unwrap_or_else(|| Value::Map(Map::new()));
    let interval = args.opt("interval", interval)?.unwrap_or_else(|| usual_interval(lasts));
    let filter = quieted(filter(args)?, &tool);
    check_time(args, lasts, interval, filter.when)?;
    let watch = WatchDraft::endless((tool, arguments), interval, description, filter);
    Ok(MonitorDraft { watch, lasts })
}

/// After how long the monitor ends. As in Claude Code, a persistent one has no time-out, whatever is given.
fn lasts(args: &Args<'_>) -> Result<Option<Span>, ArgError> {
    if args.flag("persistent")? == Some(true) {
        return Ok(None);
    }
    let (min, max) = (limits::MONITOR_MS_MIN.value, limits::MONITOR_MS_MAX.value);
    let given = args.int_in("timeout_ms", min, max)?;
    Ok(Some(Span::from_millis(given.unwrap_or(limits::MONITOR_MS.value))))
}

/// How often a monitor checks if nobody says: as often as a watch, and ten times in a short life if the bounds allow it.
fn usual_interval(lasts: Option<Span>) -> Span {
    let least = limits::WATCH_SECONDS_MIN.value * 1_000;
    lasts.map_or(INTERVAL, |lasts| Span::from_millis((lasts.millis() / 10).clamp(least, INTERVAL.millis())))
}

/// Which checks are told. An expression alone is one that is to hold.
fn filter(args: &Args<'_>) -> Result<Filter, ArgError> {
    let expression = args.opt("expression", condition)?;
    let given = args.one_of("notify_when", STRATEGIES, NotifyWhen::ALL)?;
    match (given, expression) {
        (None | Some(NotifyWhen::OnThreshold), Some(expression)) => {
            let condition = Some(Arc::new(expression));
            Ok(Filter { condition, ..Filter::plain(NotifyWhen::OnThreshold) })
        }
        (Some(NotifyWhen::OnThreshold), None) => Err(ArgError::own("expression", NO_EXPRESSION, "")),
        (Some(when), Some(_)) => Err(ArgError::own("expression", NEEDLESS, name_of(when))),
        (given, None) => Ok(Filter::plain(given.unwrap_or(NotifyWhen::OnChange))),
    }
}

/// Refuses a monitor that ends before it could tell anything.
fn check_time(
    args: &Args<'_>,
    lasts: Option<Span>,
    interval: Span,
    when: NotifyWhen,
) -> Result<(), ArgError> {
    let Some(lasts) = lasts else { return Ok(()) };
    // The first check of these is silent: the next ones are compared with it.
    let (which, needed) = match when {
        NotifyWhen::OnChange => ("second", interval.millis() * 2),
        NotifyWhen::OnError | NotifyWhen::OnThreshold | NotifyWhen::Summary | NotifyWhen::Always => {
            ("first", interval.millis())
        }
    };
    if lasts.millis() > needed {
        return Ok(());
    }
    let error = ArgError::own("timeout_ms", TOO_SHORT, format!("the {which} check, which comes at {needed}"));
    Err(match args.get("timeout_ms") {
        Some(given) => error.with(given.value()),
        None => error,
    })
}

const PROGRAMS: [&str; 2] = ["command", "ws"];
