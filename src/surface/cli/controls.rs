//! The arguments of an operator's controls, as types.

use clap::Args;

use super::args::{DaemonArgs, Printing, session_id};
use crate::domain::SessionId;

/// A schedule, or all schedules of a session.
#[derive(Args, Debug)]
pub struct WhichArgs {
    /// The schedule.
    #[arg(value_name = "SCHEDULE-ID", required_unless_present = "all_of", conflicts_with = "all_of")]
    pub schedule: Option<String>,
    /// All unfinished schedules of this session.
    #[arg(long, value_name = "SESSION-ID", value_parser = session_id)]
    pub all_of: Option<SessionId>,
}

/// Arguments of `reveille cancel` and `reveille resume`.
#[derive(Args, Debug)]
pub struct OneOrAllArgs {
    /// What it is done to.
    #[command(flatten)]
    pub which: WhichArgs,
    /// How the answer is printed.
    #[command(flatten)]
    pub printing: Printing,
    /// Act as this session; without it, as the operator.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// Arguments of `reveille pause`.
#[derive(Args, Debug)]
pub struct PauseArgs {
    /// Why, in your words.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// What is paused.
    #[command(flatten)]
    pub which: OneOrAllArgs,
}

/// Arguments of `reveille run-now`.
#[derive(Args, Debug)]
pub struct OneArgs {
    /// The schedule.
    #[arg(value_name = "SCHEDULE-ID")]
    pub schedule: String,
    /// How the answer is printed.
    #[command(flatten)]
    pub printing: Printing,
    /// Act as this session; without it, as the operator.
    #[arg(long, value_name = "ID", value_parser = session_id)]
    pub session: Option<SessionId>,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// Arguments of `reveille reschedule`.
#[derive(Args, Debug)]
pub struct RescheduleArgs {
    /// When, in a phrase: weekdays at 8:30, in 2 hours, every 5 minutes.
    #[arg(long, value_name = "PHRASE")]
    pub when: Option<String>,
    /// On whose clock a phrase or cron is read.
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,
    /// When, by five fields of cron.
    #[arg(long, value_name = "EXPR")]
    pub cron: Option<String>,
    /// When: an ISO instant.
    #[arg(long, value_name = "INSTANT")]
    pub at: Option<String>,
    /// How long from now.
    #[arg(long, value_name = "MS")]
    pub delay_ms: Option<u64>,
    /// Its name for people.
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// The prompt.
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,
    /// The schedule.
    #[command(flatten)]
    pub one: OneArgs,
}

/// Arguments of `reveille hold-all`.
#[derive(Args, Debug)]
pub struct HoldArgs {
    /// Why, in your words.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// How the answer is printed.
    #[command(flatten)]
    pub printing: Printing,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// Arguments of `reveille approve`.
#[derive(Args, Debug)]
pub struct ApproveArgs {
    /// The run.
    #[arg(value_name = "RUN-ID")]
    pub run: String,
    /// What was shown of it, as `reveille approvals` prints it.
    #[arg(long, value_name = "DIGEST")]
    pub digest: String,
    /// How the answer is printed.
    #[command(flatten)]
    pub printing: Printing,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// Arguments of `reveille deny`.
#[derive(Args, Debug)]
pub struct DenyArgs {
    /// The run.
    #[arg(value_name = "RUN-ID")]
    pub run: String,
    /// Why, in your words.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// How the answer is printed.
    #[command(flatten)]
    pub printing: Printing,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// Arguments of `reveille grant`.
#[derive(Args, Debug)]
pub struct GrantArgs {
    /// The session.
    #[arg(value_name = "SESSION-ID", value_parser = session_id)]
    pub of: SessionId,
    /// change, read, or none, which ends its token; as it is if left out.
    #[arg(long, value_name = "RIGHT", value_parser = ["change", "read", "none"])]
    pub right: Option<String>,
    /// By tools of which dialects, or all; as it is if left out.
    #[arg(long, value_name = "DIALECTS", value_delimiter = ',')]
    pub dialects: Option<Vec<String>>,
    /// How deep in a line of turns that schedules began it may schedule more; as it is if left out.
    #[arg(long, value_name = "TURNS")]
    pub depth: Option<u32>,
    /// How the answer is printed.
    #[command(flatten)]
    pub printing: Printing,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

/// Arguments of `reveille release-all` and `reveille approvals`.
#[derive(Args, Debug)]
pub struct ReleaseArgs {
    /// How the answer is printed.
    #[command(flatten)]
    pub printing: Printing,
    /// Which daemon to ask.
    #[command(flatten)]
    pub daemon: DaemonArgs,
}
