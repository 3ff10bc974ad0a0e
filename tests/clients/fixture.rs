//! What the conformance suite of MCP asks of a server that it tests: the tools and resources of `fixtures/mcp/conformance.json`,
//! served by the protocol that serves the scheduler's. Of ours there is none that answers with a sound, nor one that is an image.

use reveille::dialect::{REQUEST_CAPS, json};
use reveille::edn::{Map, Value};
use reveille::surface::mcp::{Features, ResourceInfo, ResourcePage, Tool, Unserved};

/// The file, read.
pub(crate) struct Fixture(Value);

impl Fixture {
    pub(crate) fn read() -> Fixture {
        let text = include_bytes!("../../fixtures/mcp/conformance.json");
        Fixture(json::read(text, &REQUEST_CAPS).expect("JSON within the caps of a request"))
    }

    /// The rows of one of its lists.
    fn rows(&self, list: &str) -> impl Iterator<Item = &Map> {
        part(self.0.as_map().expect("an object"), list).as_items().expect("a list").iter().map(map)
    }

    /// A part of the row that has this text there, if one has.
    fn find(&self, list: &str, key: &str, is: &str, name: &str) -> Option<Map> {
        self.rows(list).find(|row| text(row, key) == is).map(|row| map(part(row, name)).clone())
    }
}

impl Features for Fixture {
    fn tools(&self) -> Vec<Tool> {
        let tool = |row: &Map| Tool {
            name: text(row, "name"),
            description: text(row, "description"),
            input_schema: part(row, "inputSchema").clone(),
            annotations: None,
        };
        self.rows("tools").map(tool).collect()
    }

    fn call(&self, name: &str, _: &Value) -> Option<Map> {
        self.find("tools", "name", name, "result")
    }

    fn resources(&self, cursor: Option<&str>) -> Result<ResourcePage, Unserved> {
        match cursor {
            None => Ok(ResourcePage { items: self.rows("resources").map(listing).collect(), next: None }),
            Some(_) => Err(Unserved::Absent),
        }
    }

    fn templates(&self) -> Vec<ResourceInfo> {
        self.rows("templates").map(listing).collect()
    }

    fn read(&self, uri: &str) -> Result<Map, Unserved> {
        self.find("resources", "uri", uri, "content").or_else(|| made(uri)).ok_or(Unserved::Absent)
    }
}

/// What stands behind an address that the one template makes.
fn made(uri: &str) -> Option<Map> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    let mut text = String::new();
    json::write(&Map::new().with("id", id).into(), &mut text);
    Some(Map::new().with("uri", uri).with("mimeType", "application/json").with("text", text))
}

fn listing(row: &Map) -> ResourceInfo {
    ResourceInfo {
        uri: text(row, "uri"),
        name: text(row, "name"),
        description: text(row, "description"),
        mime_type: text(row, "mimeType"),
    }
}

fn part<'a>(row: &'a Map, name: &str) -> &'a Value {
    row.text(name).expect("the file has it")
}

fn map(value: &Value) -> &Map {
    value.as_map().expect("an object")
}

fn text(row: &Map, name: &str) -> String {
    part(row, name).as_str().expect("a text").to_owned()
}
