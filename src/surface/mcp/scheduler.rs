//! The scheduler's tools and resources, for one caller.

use super::features::{Begun, Features, ResourceInfo, ResourcePage, Tool, Unserved};
use super::tool_filter::ToolFilter;
use super::{resources, tools};
use crate::domain::Caller;
use crate::edn::{Map, Value};
use crate::service::{Called, Service, ToolInfo};

/// Gives one caller access to the scheduler's features.
#[derive(Clone, Copy)]
pub struct Scheduler<'a> {
    /// The engine's service.
    pub service: &'a Service,
    /// The caller of every request.
    pub caller: &'a Caller,
    /// The offered tools.
    pub offer: &'a ToolFilter,
}

impl Features for Scheduler<'_> {
    fn tools(&self) -> Vec<Tool> {
        let tools = self.service.toolbox(&self.caller.as_model()).into_iter();
        tools.filter(|tool| self.offer.has(tool)).map(tools::describe).collect()
    }

    fn call(&self, name: &str, args: &Value) -> Option<Map> {
        Some(match self.begin(name, args)? {
            Begun::Now(result) => result,
            Begun::Later(pending, shown) => shown(Called::Later(pending).wait()),
        })
    }

    fn begin(&self, name: &str, args: &Value) -> Option<Begun> {
        // What this client has not selected does not exist for it.
        ToolInfo::named(name).filter(|tool| self.offer.has(tool))?;
        tools::begin(self.service, self.caller, name, args)
    }

    fn resources(&self, cursor: Option<&str>) -> Result<ResourcePage, Unserved> {
        resources::list(self.service, self.caller, cursor)
    }

    fn templates(&self) -> Vec<ResourceInfo> {
        resources::templates()
    }

    fn read(&self, uri: &str) -> Result<Map, Unserved> {
        resources::read(self.service, self.caller, uri)
    }
}
