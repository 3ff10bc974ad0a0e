//! The bounds of GraphQL: documents, subscriptions, pages; and of pages over MCP.

use super::declare::{Limit, limits};

limits! { OF_GRAPHQL:
    /// Levels of fields in a GraphQL operation, with fragments expanded. Source: reliability S13.
    GRAPHQL_DEPTH = 12 "levels" as "graphql-depth";
    /// Leaves that the answer to a GraphQL operation may have; the fields of a page count once for
    /// each entry. S13 allows 500 and counts a page once, but a page of 100 rows of 13 fields is
    /// what a dashboard requests.
    GRAPHQL_COMPLEXITY = 10_000 "leaves" as "graphql-complexity";
    /// Aliases in a GraphQL operation, with fragments expanded. Source: S13.
    GRAPHQL_ALIASES = 30 "aliases" as "graphql-aliases";
    /// Root fields of a GraphQL operation. Source: S13.
    GRAPHQL_ROOT_FIELDS = 20 "fields" as "graphql-root-fields";
    /// Directives at one place of a GraphQL document. Source: S13.
    GRAPHQL_DIRECTIVES = 8 "directives" as "graphql-directives";
    /// Fields in a GraphQL document, with fragments expanded; bounds the cost of validating it.
    GRAPHQL_FIELDS = 1_000 "fields" as "graphql-fields";
    /// Tokens and comments in a GraphQL document; bounds the cost of parsing it.
    GRAPHQL_TOKENS = 8_192 "tokens" as "graphql-tokens";
    /// Arguments of one GraphQL field, and variables of one operation.
    GRAPHQL_ARGUMENTS = 64 "arguments" as "graphql-arguments";
    /// Nested lists of fields in an introspection query; each level multiplies the answer by the
    /// size of the schema. Source: graphql-js, `MaxIntrospectionDepthRule`.
    GRAPHQL_INTROSPECTION_LISTS = 2 "levels" as "graphql-introspection-lists";
    /// Assumed length of a list without pages when the complexity of a GraphQL operation is
    /// computed.
    GRAPHQL_LIST_ENTRIES = 10 "entries" as "graphql-list-entries";
    /// Entries of a GraphQL page by default; `first` or `last` sets another number.
    GRAPHQL_PAGE = 50 "entries" as "graphql-page";
    /// Resources of one page over MCP.
    MCP_PAGE = 50 "entries" as "mcp-page";
    /// How long a GraphQL WebSocket may take to authenticate. Source: reliability S04.
    GRAPHQL_INIT_MS = 5_000 "ms" as "graphql-init-ms";
    /// Longest message over a GraphQL WebSocket. Source: reliability T42.
    GRAPHQL_MESSAGE_BYTES = 65_536 "bytes" as "graphql-message-bytes";
    /// Interval of heartbeats on a GraphQL connection that sends nothing else.
    GRAPHQL_HEARTBEAT_MS = 15_000 "ms" as "graphql-heartbeat-ms";
    /// GraphQL subscriptions of one server at the same time; each has a thread.
    GRAPHQL_SUBSCRIPTIONS = 256 "subscriptions" as "graphql-subscriptions";
    /// GraphQL subscriptions of one session, and of the fresh sessions that come from it, at the same time.
    GRAPHQL_SESSION_SUBSCRIPTIONS = 32 "subscriptions" as "graphql-session-subscriptions";
    /// GraphQL subscriptions of one host token at the same time. All observers together have as many.
    GRAPHQL_TOKEN_SUBSCRIPTIONS = 112 "subscriptions" as "graphql-token-subscriptions";
    /// How many of the GraphQL subscriptions only operators may start.
    GRAPHQL_OPERATOR_SUBSCRIPTIONS = 32 "subscriptions" as "graphql-operator-subscriptions";
    /// Answers that may wait between a GraphQL subscription and its connection; later items stay in
    /// the feed until there is room.
    GRAPHQL_PUSHED = 16 "answers" as "graphql-pushed";
    /// Items that are pushed to one GraphQL subscription at a time; later items stay in the feed
    /// until their turn.
    GRAPHQL_BATCH = 64 "items" as "graphql-batch";
    /// Compiled GraphQL operations that are cached, by text and variables.
    GRAPHQL_COMPILED = 256 "operations" as "graphql-compiled";
    /// Longest GraphQL operation, variables included, whose compiled form is cached.
    GRAPHQL_COMPILED_BYTES = 16_384 "bytes" as "graphql-compiled-bytes";
}
