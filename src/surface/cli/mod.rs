//! The command line: what may be typed, and nothing of what it does (`app`).

mod args;

pub use args::{
    Cli, Command, DaemonArgs, DoctorArgs, EqlArgs, ExplainArgs, ForecastArgs, GraphqlArgs, Printing,
    SchemaArgs, SchemaKind, ServeArgs, StdioArgs, ToolArgs,
};
