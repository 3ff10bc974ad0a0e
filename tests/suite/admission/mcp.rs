//! Every tool as a model calls it through the Model Context Protocol.

use reveille::dialect::json;
use reveille::domain::{Caller, Dialect};
use reveille::edn::{Map, Value};
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::surface::mcp::{Features, McpService, Scheduler, ToolFilter};

/// The line that answers a call of a tool, with the tools of all dialects on offer.
pub(super) fn call(handle: &Handle, caller: &Caller, tool: &str, args: &Value) -> String {
    let all: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
    let offer = ToolFilter::parse(&all.join(",")).expect("dialects");
    let scheduler = Scheduler { service: &Service::new(handle.clone()), caller, offer: &offer };
    let params = Map::new().with("name", tool).with("arguments", args.clone());
    let request = Map::new().with("jsonrpc", "2.0").with("id", 1).with("method", "tools/call");
    let mut line = String::new();
    json::write(&request.with("params", params).into(), &mut line);
    McpService { features: &scheduler }.answer(line.as_bytes(), None).body.expect("an answer")
}

/// All tools that there are, each with the schema of its arguments.
pub(super) fn tools(handle: &Handle) -> Vec<(String, String)> {
    let all: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
    let offer = ToolFilter::parse(&all.join(",")).expect("dialects");
    let service = Service::new(handle.clone());
    let tools = Scheduler { service: &service, caller: &Caller::OPERATOR, offer: &offer }.tools();
    let schema = |schema: &Value| {
        let mut text = String::new();
        json::write(schema, &mut text);
        text
    };
    tools.into_iter().map(|tool| (tool.name, schema(&tool.input_schema))).collect()
}
