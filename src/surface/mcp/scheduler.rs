//! The scheduler's own tools and resources, for one caller.

use super::features::{Features, Listing, Page, Tool, Unserved};
use super::offer::Offer;
use super::{resources, tools};
use crate::domain::Caller;
use crate::edn::{Map, Value};
use crate::runtime::Handle;

/// What the scheduler has to offer.
#[derive(Clone, Copy)]
pub struct Scheduler<'a> {
    /// The way to the engine.
    pub handle: &'a Handle,
    /// Who calls.
    pub caller: &'a Caller,
    /// Which tools are offered.
    pub offer: &'a Offer,
}

impl Features for Scheduler<'_> {
    fn tools(&self) -> Vec<Tool> {
        self.offer.tools().map(tools::describe).collect()
    }

    fn call(&self, name: &str, args: &Value) -> Option<Map> {
        tools::call(self, name, args)
    }

    fn resources(&self, cursor: Option<&str>) -> Result<Page, Unserved> {
        resources::list(self, cursor)
    }

    fn templates(&self) -> Vec<Listing> {
        resources::templates()
    }

    fn read(&self, uri: &str) -> Result<Map, Unserved> {
        resources::read(self, uri)
    }
}
