//! `reveille schema`: prints the generated files of `schema/`. A test compares them with the
//! committed ones.

mod errors;

use std::io::{self, Write};
use std::process::ExitCode;

use crate::app::exit::Exit;
use crate::edn::{Map, Value};
use crate::graph::export;
use crate::service::{TOOLBOX, registry};
use crate::surface::cli::SchemaKind;
use crate::surface::{graphql, json};

pub(super) fn schema(kind: SchemaKind) -> io::Result<ExitCode> {
    io::stdout().lock().write_all(text(kind).as_bytes())?;
    Ok(Exit::Done.into())
}

/// The text of one generated file.
pub fn text(kind: SchemaKind) -> String {
    match kind {
        SchemaKind::Attributes => export::attributes_edn(&*registry()),
        SchemaKind::Tools => tools(),
        SchemaKind::Errors => errors::text(),
        SchemaKind::Graphql => graphql::sdl(),
    }
}

/// Every tool with the JSON Schema of its arguments.
fn tools() -> String {
    let describe = |tool: &crate::service::ToolInfo| {
        let map = Map::new()
            .with("name", tool.name)
            .with("dialect", tool.dialect.name())
            .with("description", tool.description())
            .with("annotations", tool.effect.annotations());
        Value::Map(map.with("inputSchema", tool.input_schema()))
    };
    let tools: Vec<Value> = TOOLBOX.iter().map(describe).collect();
    let mut text = String::new();
    json::write(&Map::new().with("tools", tools).into(), &mut text);
    // Parsed again as a tree, which prints one key per line in sorted order: diffs stay small.
    let tree: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    format!("{tree:#}\n")
}
