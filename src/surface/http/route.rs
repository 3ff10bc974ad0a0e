//! The routes: what each is called, what it needs a token for, and by which operation a request of it is admitted.
//!
//! The router and the gate are built from this table, so a route that is not in it is not served. What lives elsewhere: what
//! each route does (`handlers`), the router (`routes`).

use crate::domain::Op;

/// A route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// Whether the process runs.
    Alive,
    /// Whether work is accepted and done in time.
    Ready,
    /// The counters of the process.
    Metrics,
    /// The list of the tools.
    Tools,
    /// A call of a tool.
    Tool,
    /// A query or mutations in EQL.
    Eql,
    /// Queries, mutations and subscriptions in GraphQL, and the query page.
    Graphql,
    /// The style sheet of the query page.
    PageCss,
    /// The script of the query page.
    PageJs,
    /// Requests of MCP clients.
    Mcp,
    /// The EDN stream.
    Stream,
    /// The report that a job is ready.
    JobReady,
}

/// How requests of a route are admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RouteAdmission {
    /// Nothing that could be kept from anybody is behind it.
    Open,
    /// A read. It is admitted before the handler is called, and does not exist for those who may not.
    Read(Op),
    /// The request names operations and what they are about. The service admits each.
    ByContent,
}

impl Route {
    /// Every route.
    pub(super) const ALL: &[Route] = &[
        Route::Alive,
        Route::Ready,
        Route::Metrics,
        Route::Tools,
        Route::Tool,
        Route::Eql,
        Route::Graphql,
        Route::PageCss,
        Route::PageJs,
        Route::Mcp,
        Route::Stream,
        Route::JobReady,
    ];

    /// The pattern of its path.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Route::Alive => "/healthz",
            Route::Ready => "/readyz",
            Route::Metrics => "/metrics",
            Route::Tools => "/tools",
            Route::Tool => "/tools/{name}",
            Route::Eql => "/eql",
            Route::Graphql => "/graphql",
            Route::PageCss => "/graphql/page.css",
            Route::PageJs => "/graphql/page.js",
            Route::Mcp => "/mcp",
            Route::Stream => "/stream",
            Route::JobReady => "/v1/sessions/{session}/jobs/{job}/ready",
        }
    }

    /// The route of a path without parameters.
    pub(super) fn of(path: &str) -> Option<Route> {
        Route::ALL.iter().copied().find(|route| route.path() == path)
    }

    /// How its requests are admitted.
    pub(super) const fn admission(self) -> RouteAdmission {
        match self {
            Route::Alive | Route::PageCss | Route::PageJs => RouteAdmission::Open,
            Route::Ready | Route::Tools => RouteAdmission::Read(Op::Query),
            Route::Metrics => RouteAdmission::Read(Op::Metrics),
            Route::Tool | Route::Eql | Route::Graphql | Route::Mcp | Route::Stream | Route::JobReady => {
                RouteAdmission::ByContent
            }
        }
    }

    /// Whether a GET needs no token. A GET of `/graphql` without one is the query page, or a WebSocket, whose first message has
    /// the token.
    pub(super) fn is_open(self) -> bool {
        self.admission() == RouteAdmission::Open || self == Route::Graphql
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::CallerRole;

    /// The table of who gets what has a request of every route.
    #[test]
    fn every_route_is_in_the_table_of_callers() {
        let table = include_str!("../../../fixtures/http/routes.edn");
        for route in Route::ALL {
            // A parameter may be anything.
            let fixed = route.path().split('{').next().unwrap_or_default();
            let is_asked =
                [" ", "?", "\""].iter().any(|end| table.contains(&format!(" {}{end}", route.path())));
            let is_asked = is_asked || route.path().contains('{') && table.contains(&format!(" {fixed}"));
            assert!(is_asked, "no caller asks for {}", route.path());
        }
    }

    #[test]
    fn a_route_admits_reads_only_by_itself() {
        for route in Route::ALL {
            if let RouteAdmission::Read(op) = route.admission() {
                assert!(
                    !op.rule().changes && op.rule().roles.contains(&CallerRole::Operator),
                    "{}",
                    route.path()
                );
            }
        }
    }
}
