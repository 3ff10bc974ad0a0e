//! Parses one call of a tool, with all checks that need no access to existing watches or tools.
//!
//! `config.rs` parses `notify_config`; the conversion to a schedule is in `command.rs`. Invariant: an argument that begins with
//! `_` never reaches a tool: the seed's own gate opens for one.

use super::config;
use super::error::{NOT_A_PING, ONE_CHECK, WATCH_WORDS};
use crate::dialect::args::{Arg, ArgError, Args, Repair, Style};
use crate::dialect::watch::tool::{STRATEGIES, Tool};
use crate::dialect::{Answer, Notation, PageRequest, called};
use crate::domain::{Filter, NotifyWhen, PingName, Span, ToolName};
use crate::edn::Value;
use crate::limits;

/// A parsed and checked call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Start a watch.
    Start(Box<WatchDraft>),
    /// End a watch.
    Stop(Box<str>),
    /// Make no checks for now.
    Pause(Box<str>),
    /// Make checks again.
    Resume(Box<str>),
    /// Show a watch.
    Status(Box<str>),
    /// List the watches, or a part of them.
    List(PageRequest),
    /// Show the newest checks of a watch.
    History {
        /// The id of the watch, as given.
        watcher: Box<str>,
        /// How many.
        last: usize,
    },
    /// Say how old the last ping of a name is.
    PingAge(PingName),
}

/// The definition of a watch to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchDraft {
    /// The tool that each check calls.
    pub tool: ToolName,
    /// Its arguments: a map with string keys.
    pub params: Value,
    /// From the end of one check to the next.
    pub interval: Span,
    /// What the watch is for, if somebody said so.
    pub label: Option<Box<str>>,
    /// After how many checks it ends; 0 for none.
    pub max_checks: u32,
    /// Which checks are told.
    pub filter: Filter,
    /// What the caller should know.
    pub warnings: Vec<&'static str>,
}

/// Parses the arguments of one call of a tool.
///
/// # Errors
/// The complete error answer to an invalid call.
pub fn parse(tool: Tool, args: &Value, notation: Notation) -> Result<Call, Answer> {
    let style = Style::tools(notation);
    let call = || -> Result<Call, ArgError> {
        let args = Args::of_call(args, style, names(tool))?;
        let watcher = || args.required_text("watcher_id", limits::WATCHER_ID_BYTES).map(Box::from);
        Ok(match tool {
            Tool::Start => Call::Start(Box::new(draft(&args)?)),
            Tool::Stop => Call::Stop(watcher()?),
            Tool::Pause => Call::Pause(watcher()?),
            Tool::Resume => Call::Resume(watcher()?),
            Tool::Status => Call::Status(watcher()?),
            Tool::List => Call::List(PageRequest::read(&args)?),
            Tool::History => {
                let last = args.int_in("last_n", 1, limits::WATCH_HISTORY.value)?.unwrap_or(LAST);
                Call::History { watcher: watcher()?, last: usize::try_from(last).unwrap_or(usize::MAX) }
            }
            Tool::PingAge => Call::PingAge(args.required("name", ping_name)?),
        })
    };
    call().map_err(|error| error.answer(&WATCH_WORDS, Repair::new(args, style).without(&error)))
}

/// The names of each tool's arguments.
const fn names(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::Start => &["name", "params", "interval", "label", "max_checks", "notify_when", "notify_config"],
        Tool::Stop | Tool::Pause | Tool::Resume | Tool::Status => &["watcher_id"],
        Tool::List => &["first", "after"],
        Tool::History => &["watcher_id", "last_n"],
        Tool::PingAge => &["name"],
    }
}

fn ping_name(arg: Arg<'_>) -> Result<PingName, ArgError> {
    arg.filled_text(limits::PING_NAME_BYTES)?;
    // As it was given: a ping may have a name with a blank at its end.
    let text = arg.raw_text(limits::PING_NAME_BYTES)?;
    PingName::new(text).map_err(|error| arg.breaks(NOT_A_PING, error.to_string()))
}

fn draft(args: &Args<'_>) -> Result<WatchDraft, ArgError> {
    let tool = args.required("name", called::tool)?;
    let params = args.opt("params", called::arguments)?.unwrap_or_else(|| Value::Map(crate::edn::Map::new()));
    let interval = args.opt("interval", interval)?.unwrap_or(INTERVAL);
    let label = args.opt_text("label", limits::WATCH_LABEL_CHARS)?.map(Box::from);
    let max_checks = args.int_in("max_checks", 0, limits::WATCH_CHECKS.value)?.unwrap_or(0);
    let given = args.one_of("notify_when", STRATEGIES, NotifyWhen::ALL)?;
    let mut warnings = Vec::new();
    let when = match given {
        Some(NotifyWhen::OnChange) if max_checks == 1 => {
            return Err(ArgError::own("notify_when", ONE_CHECK, "").with(&"on_change".into()));
        }
        Some(when) => when,
        // By the default, the only check would be the silent one that others are compared with.
        None if max_checks == 1 => {
            warnings.push("with max_checks = 1 there is nothing to compare with: notify_when is always");
            NotifyWhen::Always
        }
        None => NotifyWhen::OnChange,
    };
    if max_checks != 1 {
        warnings.extend(often(when, interval));
    }
    let filter = config::filter(args, when, &tool)?;
    if config::has_unused_expression(args, when)? {
        warnings.push("notify_config.expression is not used: only notify_when = on_threshold uses it");
    }
    let max_checks = u32::try_from(max_checks).unwrap_or(u32::MAX);
    Ok(WatchDraft { tool, params, interval, label, max_checks, filter, warnings })
}

impl WatchDraft {
    /// A watch with a label that makes any number of checks.
    pub(in crate::dialect) fn endless(
        (tool, params): (ToolName, Value),
        interval: Span,
        label: &str,
        filter: Filter,
    ) -> WatchDraft {
        let warnings = often(filter.when, interval).into_iter().collect();
        WatchDraft { tool, params, interval, label: Some(label.into()), max_checks: 0, filter, warnings }
    }
}

/// The warning of a watch that tells every check, and checks often.
fn often(when: NotifyWhen, interval: Span) -> Option<&'static str> {
    (when == NotifyWhen::Always && interval < OFTEN).then_some("every check wakes you")
}

/// A number of seconds, which can have a fraction.
pub(in crate::dialect) fn interval(arg: Arg<'_>) -> Result<Span, ArgError> {
    let (min, max) = (limits::WATCH_SECONDS_MIN.value, limits::WATCH_SECONDS_MAX.value);
    let out_of_range = || arg.error(crate::dialect::args::ArgErrorKind::OutOfRange { min, max });
    let millis = match called::millis(arg.value()) {
        Some(millis) => millis,
        None if arg.value().as_int().is_some() => return Err(out_of_range()),
        None => return Err(arg.breaks(super::error::NOT_SECONDS, "")),
    };
    if (min * 1_000..=max * 1_000).contains(&millis) {
        Ok(Span::from_millis(millis))
    } else {
        Err(out_of_range())
    }
}

/// How often a watch checks if nobody says. Source: SEED-001.
pub(in crate::dialect) const INTERVAL: Span = Span::from_millis(30_000);
/// An interval below which a watch that tells every check is worth a warning.
const OFTEN: Span = Span::from_millis(60_000);
/// Checks that a history shows if nobody says. Source: SEED-001.
const LAST: u64 = 10;
