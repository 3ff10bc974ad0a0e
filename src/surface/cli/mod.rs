//! The command line: what may be typed, and nothing of what it does (`app`).

mod args;
mod controls;
mod flags;

pub use args::{
    Cli, Command, DaemonArgs, DoctorArgs, EqlArgs, ExplainArgs, ExportArgs, ForecastArgs, GraphqlArgs,
    ImportArgs, McpArgs, Printing, SchemaArgs, SchemaKind, ServeArgs, StateArgs, StdioArgs, ToolArgs,
};
pub use controls::{
    ApproveArgs, DenyArgs, GrantArgs, HoldArgs, OneArgs, OneOrAllArgs, PauseArgs, ReleaseArgs,
    RescheduleArgs, WhichArgs,
};
