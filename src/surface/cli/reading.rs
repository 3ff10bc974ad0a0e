//! The arguments of the commands that read, as types. Doc comments are the help texts.

use clap::Args;

use super::asking::AskingArgs;
use super::controls::OneArgs;
use super::flags::{FlagSet, Flags, ListFlags};

/// What every list takes: which entries, how the answer is printed, and whom to ask. These are all arguments of `reveille tasks`
/// and `reveille runs`.
#[derive(Args, Debug)]
pub struct ListingArgs<S: FlagSet = ListFlags> {
    /// The filter, the order and the page.
    #[command(flatten)]
    pub(crate) filter: Flags<S>,
    /// As whom to ask, which daemon, and how the answer is printed.
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}

/// Arguments of `reveille list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Ended schedules as well.
    #[arg(long)]
    pub(crate) all: bool,
    /// The list.
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
}

/// Arguments of `reveille watch`.
#[derive(Args, Debug)]
pub struct WatchArgs {
    /// The watch to show with its newest checks. Without it, all are listed.
    #[arg(value_name = "WATCH-ID")]
    pub(crate) watch: Option<String>,
    /// The list.
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
}

/// Arguments of `reveille forecast`.
#[derive(Args, Debug)]
pub struct ForecastArgs {
    /// How far ahead, in hours.
    #[arg(long, value_name = "HOURS", default_value_t = 24)]
    pub(crate) hours: u64,
    /// Maximum number of slots.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    pub(crate) first: u32,
    /// Only this schedule.
    #[arg(long, value_name = "ID")]
    pub(crate) schedule: Option<String>,
    /// As whom to ask, which daemon, and how the answer is printed.
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}

/// Arguments of `reveille explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The instant; if omitted, what matters now.
    #[arg(long, value_name = "INSTANT")]
    pub(crate) at: Option<String>,
    /// The schedule.
    #[command(flatten)]
    pub(crate) one: OneArgs,
}

/// Arguments of `reveille log`.
#[derive(Args, Debug)]
pub struct LogArgs {
    /// Only what this actor asked for: a session's id, the name of an operator's token, or `operator`.
    #[arg(long, value_name = "ACTOR")]
    pub(crate) by: Option<String>,
    /// Only decisions of this kind.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Only decisions about this schedule.
    #[arg(long, value_name = "ID")]
    pub(crate) schedule: Option<String>,
    /// Only decisions about this session.
    #[arg(long, value_name = "ID")]
    pub(crate) about: Option<String>,
    /// How many, the latest last.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub(crate) last: u32,
    /// Go on with what happens from now, until interrupted.
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// As whom to ask, which daemon, and how the answer is printed.
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}
