//! The command line: what may be typed, and nothing of what it does (`app`).

mod args;

pub use args::{
    ApproveArgs, Cli, Command, DaemonArgs, DenyArgs, DoctorArgs, EqlArgs, ExplainArgs, ExportArgs,
    ForecastArgs, GrantArgs, GraphqlArgs, HoldArgs, ImportArgs, McpArgs, OneArgs, OneOrAllArgs, PauseArgs,
    Printing, ReleaseArgs, RescheduleArgs, SchemaArgs, SchemaKind, ServeArgs, StateArgs, StdioArgs, ToolArgs,
    WhichArgs,
};
