//! The command line: what can be typed. The commands themselves are in `app`.

mod agents;
mod args;
mod asking;
mod controls;
pub(crate) mod flags;
mod reading;
mod store;

pub(crate) use agents::{AgentTestArgs, AgentsAction};
pub use agents::{AgentsArgs, HookArgs, McpArgs, PluginAgent, PluginArgs, SetupArgs};
pub use args::{Cli, Command, EqlArgs, GraphqlArgs, SchemaArgs, SchemaKind, ServeArgs, StdioArgs, ToolArgs};
pub use asking::{AskingArgs, CallerArgs, DaemonArgs, Printing, StateArgs};
pub use controls::{
    ApproveArgs, CalendarArgs, CreateArgs, DashboardArgs, DenyArgs, GrantArgs, HoldArgs, InboxArgs, OneArgs,
    OneOrAllArgs, OperatorArgs, PauseArgs, RescheduleArgs, RunArgs, WhichArgs,
};
pub use reading::{ExplainArgs, ForecastArgs, ListArgs, ListingArgs, LogArgs, WatchArgs};
pub use store::{BackupArgs, DoctorArgs, ExportArgs, ImportArgs};
