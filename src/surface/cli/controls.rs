//! The arguments of the operator's control commands, as types. Doc comments are the help texts.

use clap::Args;

use super::asking::{AskingArgs, DaemonArgs, Printing, session_id};
use super::flags::{ChangeFlags, CreateFlags, Flags, GrantFlags, ReasonFlags, SlotFlags};
use crate::domain::SessionId;

/// A schedule, or all schedules of a session.
#[derive(Args, Debug)]
pub struct WhichArgs {
    /// The schedule.
    #[arg(value_name = "SCHEDULE-ID", required_unless_present = "all_of", conflicts_with = "all_of")]
    pub(crate) schedule: Option<String>,
    /// All unfinished schedules of this session.
    #[arg(long, value_name = "SESSION-ID", value_parser = session_id)]
    pub(crate) all_of: Option<SessionId>,
}

/// Arguments of `reveille create`.
#[derive(Args, Debug)]
pub struct CreateArgs {
    /// The session that it is for.
    #[arg(value_name = "SESSION-ID", value_parser = session_id)]
    pub(crate) of: SessionId,
    /// The time as a phrase, such as `in 10m`, `tomorrow at 9` or `weekdays at 8:30`.
    #[arg(value_name = "WHEN")]
    pub(crate) when: String,
    /// The prompt.
    #[arg(value_name = "MESSAGE")]
    pub(crate) message: String,
    /// Everything else.
    #[command(flatten)]
    pub(crate) more: Flags<CreateFlags>,
    /// Which daemon to ask, and how its answer is printed.
    #[command(flatten)]
    pub(crate) operator: OperatorArgs,
}

/// Arguments of `reveille cancel` and `reveille resume`.
#[derive(Args, Debug)]
pub struct OneOrAllArgs {
    /// The schedules to change.
    #[command(flatten)]
    pub(crate) which: WhichArgs,
    /// As whom to ask, which daemon, and how the answer is printed.
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}

/// Arguments of `reveille pause`.
#[derive(Args, Debug)]
pub struct PauseArgs {
    /// Why.
    #[command(flatten)]
    pub(crate) why: Flags<ReasonFlags>,
    /// The schedules to pause.
    #[command(flatten)]
    pub(crate) which: OneOrAllArgs,
}

/// Arguments of `reveille run-now`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// What becomes of the slot.
    #[command(flatten)]
    pub(crate) slot: Flags<SlotFlags>,
    /// The schedule.
    #[command(flatten)]
    pub(crate) one: OneArgs,
}

/// One schedule, as whom to act on it, and how the answer is printed.
#[derive(Args, Debug)]
pub struct OneArgs {
    /// The schedule.
    #[arg(value_name = "SCHEDULE-ID")]
    pub(crate) schedule: String,
    /// As whom to ask, which daemon, and how the answer is printed.
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}

/// Arguments of `reveille reschedule`.
#[derive(Args, Debug)]
pub struct RescheduleArgs {
    /// The changes.
    #[command(flatten)]
    pub(crate) change: Flags<ChangeFlags>,
    /// The schedule.
    #[command(flatten)]
    pub(crate) one: OneArgs,
}

/// Arguments of `reveille hold-all`.
#[derive(Args, Debug)]
pub struct HoldArgs {
    /// Why.
    #[command(flatten)]
    pub(crate) why: Flags<ReasonFlags>,
    /// Which daemon to ask, and how its answer is printed.
    #[command(flatten)]
    pub(crate) operator: OperatorArgs,
}

/// Arguments of `reveille approve`.
#[derive(Args, Debug)]
pub struct ApproveArgs {
    /// The run.
    #[arg(value_name = "RUN-ID")]
    pub(crate) run: String,
    /// The digest of what was shown, as `reveille approvals` prints it.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: String,
    /// Which daemon to ask, and how its answer is printed.
    #[command(flatten)]
    pub(crate) operator: OperatorArgs,
}

/// Arguments of `reveille deny`.
#[derive(Args, Debug)]
pub struct DenyArgs {
    /// The run.
    #[arg(value_name = "RUN-ID")]
    pub(crate) run: String,
    /// The digest of what the agent asks for, as `reveille approvals` prints it. If omitted, everything of the run that awaits
    /// approval is denied.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
    /// Why.
    #[command(flatten)]
    pub(crate) why: Flags<ReasonFlags>,
    /// Which daemon to ask, and how its answer is printed.
    #[command(flatten)]
    pub(crate) operator: OperatorArgs,
}

/// Arguments of `reveille grant`.
#[derive(Args, Debug)]
pub struct GrantArgs {
    /// The session.
    #[arg(value_name = "SESSION-ID", value_parser = session_id)]
    pub(crate) of: SessionId,
    /// What it may do.
    #[command(flatten)]
    pub(crate) grant: Flags<GrantFlags>,
    /// Which daemon to ask, and how its answer is printed.
    #[command(flatten)]
    pub(crate) operator: OperatorArgs,
}

/// Arguments of `reveille release-all` and `reveille approvals`, and of every command that only an operator can give.
#[derive(Args, Debug)]
pub struct OperatorArgs {
    /// How the answer is printed.
    #[command(flatten)]
    pub(crate) printing: Printing,
    /// Which daemon to ask.
    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,
}

/// Arguments of `reveille inbox`.
#[derive(Args, Debug)]
pub struct InboxArgs {
    /// The session.
    #[arg(value_name = "SESSION-ID", value_parser = session_id)]
    pub(crate) session: SessionId,
    /// Take the messages: they count as delivered from then on.
    #[arg(long)]
    pub(crate) take: bool,
    /// How many to show, or to take, at most.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) first: u32,
    /// How the answer is printed, and which daemon.
    #[command(flatten)]
    pub(crate) operator: OperatorArgs,
}

/// Arguments of `reveille dashboard`.
#[derive(Args, Debug)]
pub struct DashboardArgs {
    /// Print the address, and open no browser.
    #[arg(long)]
    pub(crate) print: bool,
    /// Let the browser look, and change nothing.
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Log out all browsers, and open none.
    #[arg(long, conflicts_with_all = ["print", "read_only"])]
    pub(crate) revoke: bool,
    /// Which daemon to ask.
    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,
}

/// Arguments of `reveille calendar`.
#[derive(Args, Debug)]
pub struct CalendarArgs {
    /// The only schedule to show.
    #[arg(value_name = "SCHEDULE-ID", conflicts_with = "session")]
    pub(crate) schedule: Option<String>,
    /// Show the schedules of this session.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub(crate) session: Option<SessionId>,
    /// End all links to calendars, and print none.
    #[arg(long, conflicts_with_all = ["schedule", "session"])]
    pub(crate) revoke: bool,
    /// Which daemon to ask.
    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,
}
