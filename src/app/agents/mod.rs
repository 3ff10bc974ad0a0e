//! Setting agents up, and trying them: `reveille plugin`, `reveille agents` and `reveille setup`.
//!
//! What lives elsewhere: what the hooks of a plugin call (`app/hook`), and the tool server (`app/mcp/`). Invariant: nothing
//! outside of the plugin's own folder is written before it was shown and agreed to.

mod detect;
mod folder;
mod section;
mod setup;
mod trial;

pub(super) use detect::list;
pub(super) use folder::plugin;
pub(super) use setup::setup;
pub(super) use trial::test;
