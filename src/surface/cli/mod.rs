//! The command line: what may be typed, and nothing of what it does (`app`).

mod args;

pub use args::{
    Cli, Command, DaemonArgs, DoctorArgs, EqlArgs, ExplainArgs, ExportArgs, ForecastArgs, GraphqlArgs,
    ImportArgs, McpArgs, Printing, SchemaArgs, SchemaKind, ServeArgs, StateArgs, StdioArgs, ToolArgs,
};
