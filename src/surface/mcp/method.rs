//! The methods of the protocol that are served.

use crate::domain::names;

names! {
    /// A supported method.
    Method {
        /// Performs the handshake.
        Initialize = "initialize",
        /// Lists the supported revisions, without a handshake.
        Discover = "server/discover",
        /// Checks that the server responds.
        Ping = "ping",
        /// Lists the tools.
        ListTools = "tools/list",
        /// Calls a tool.
        CallTool = "tools/call",
        /// Lists the resources.
        ListResources = "resources/list",
        /// Lists the templates of the URIs of resources.
        ListTemplates = "resources/templates/list",
        /// Reads a resource.
        ReadResource = "resources/read",
    }
}
