//! The command line: what can be typed. The commands themselves are in `app`.

mod args;
mod controls;
mod flags;

pub use args::{
    CallerArgs, Cli, Command, DaemonArgs, DoctorArgs, EqlArgs, ExplainArgs, ExportArgs, ForecastArgs,
    GraphqlArgs, ImportArgs, McpArgs, Printing, SchemaArgs, SchemaKind, ServeArgs, StateArgs, StdioArgs,
    ToolArgs,
};
pub use controls::{
    ApproveArgs, DenyArgs, GrantArgs, HoldArgs, OneArgs, OneOrAllArgs, OperatorArgs, PauseArgs,
    RescheduleArgs, WhichArgs,
};
