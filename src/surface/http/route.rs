//! The routes: what each is called, what it needs a token for, and by which operation a request of it is admitted.
//!
//! The router and the gate are built from this table, so a route that is not in it is not served. What lives elsewhere: what
//! each route does (`handlers`), the router (`routes`).

use axum::http::Method;

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
    /// The dashboard.
    Dashboard,
    /// A file of the dashboard.
    DashboardFile,
    /// The dashboard with a one-time code in its fragment, and the exchange of that code for a login.
    Enter,
    /// The end of a login.
    Leave,
    /// A new one-time code.
    LoginCode,
    /// The end of all logins.
    LogoutAll,
    /// A new link to a calendar.
    CalendarLink,
    /// The end of all links to calendars.
    CalendarsRevoked,
    /// The calendar of a link.
    Calendar,
    /// The list of the tools.
    Tools,
    /// The list of the tools that those call.
    Kit,
    /// A call of a tool.
    Tool,
    /// A query or mutations in EQL.
    Eql,
    /// Queries, mutations and subscriptions in GraphQL, and the query page.
    Graphql,
    /// A file of the query page.
    PageFile,
    /// Requests of MCP clients.
    Mcp,
    /// The EDN stream.
    Stream,
    /// The report that a job is ready.
    JobReady,
    /// A ping of a session.
    Ping,
    /// What comes in by a channel.
    #[cfg(feature = "channels")]
    Inbound,
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
        Route::Dashboard,
        Route::DashboardFile,
        Route::Enter,
        Route::Leave,
        Route::LoginCode,
        Route::LogoutAll,
        Route::CalendarLink,
        Route::CalendarsRevoked,
        Route::Calendar,
        Route::Tools,
        Route::Kit,
        Route::Tool,
        Route::Eql,
        Route::Graphql,
        Route::PageFile,
        Route::Mcp,
        Route::Stream,
        Route::JobReady,
        Route::Ping,
        #[cfg(feature = "channels")]
        Route::Inbound,
    ];

    /// The pattern of its path.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Route::Alive => "/healthz",
            Route::Ready => "/readyz",
            Route::Metrics => "/metrics",
            Route::Dashboard => "/",
            Route::DashboardFile => "/app/{file}",
            Route::Enter => "/enter",
            Route::Leave => "/leave",
            Route::LoginCode => "/dashboard/code",
            Route::LogoutAll => "/dashboard/revoke",
            Route::CalendarLink => "/calendar",
            Route::CalendarsRevoked => "/calendar/revoke",
            Route::Calendar => "/calendar/{file}",
            Route::Tools => "/tools",
            Route::Kit => "/kit",
            Route::Tool => "/tools/{name}",
            Route::Eql => "/eql",
            Route::Graphql => "/graphql",
            Route::PageFile => "/graphql/{file}",
            Route::Mcp => "/mcp",
            Route::Stream => "/stream",
            Route::JobReady => "/v1/sessions/{session}/jobs/{job}/ready",
            Route::Ping => "/v1/sessions/{session}/pings/{name}",
            #[cfg(feature = "channels")]
            Route::Inbound => "/v1/channels/{name}/in",
        }
    }

    /// The route of a path without parameters, or with one at its end.
    fn of(path: &str) -> Option<Route> {
        let matches = |route: &Route| match route.path().split_once("{file}") {
            Some((before, _)) => path.strip_prefix(before).is_some_and(|file| !file.contains('/')),
            None => route.path() == path,
        };
        Route::ALL.iter().copied().find(matches)
    }

    /// How its requests are admitted.
    pub(super) const fn admission(self) -> RouteAdmission {
        match self {
            Route::Alive | Route::PageFile | Route::Dashboard | Route::DashboardFile | Route::Enter => {
                RouteAdmission::Open
            }
            Route::Ready | Route::Tools | Route::Kit => RouteAdmission::Read(Op::Query),
            Route::Metrics => RouteAdmission::Read(Op::Metrics),
            Route::Tool
            | Route::Eql
            | Route::Graphql
            | Route::Mcp
            | Route::Stream
            | Route::JobReady
            | Route::Ping
            | Route::Leave
            | Route::LoginCode
            | Route::LogoutAll
            | Route::CalendarLink
            | Route::CalendarsRevoked => RouteAdmission::ByContent,
            // By the proof in its address.
            Route::Calendar => RouteAdmission::ByContent,
            // By the channel's own proof.
            #[cfg(feature = "channels")]
            Route::Inbound => RouteAdmission::ByContent,
        }
    }

    /// Whether a request of that method and path needs no token. A GET of `/graphql` without one is the query page, or a
    /// WebSocket, whose first message has the token. A calendar has its proof in its address. Who posts a one-time code has no
    /// token yet, and what comes in by a channel has the channel's proof.
    pub(super) fn is_open(method: &Method, path: &str) -> bool {
        if method == Method::POST && is_inbound(path) {
            return true;
        }
        let Some(route) = Route::of(path) else { return false };
        if method == Method::POST {
            return route == Route::Enter;
        }
        let reads = method == Method::GET || method == Method::HEAD;
        let has_own_proof = matches!(route, Route::Graphql | Route::Calendar);
        reads && (route.admission() == RouteAdmission::Open || has_own_proof)
    }
}

/// Whether a path is of what comes in by a channel.
fn is_inbound(path: &str) -> bool {
    let name = path.strip_prefix("/v1/channels/").and_then(|rest| rest.strip_suffix("/in"));
    cfg!(feature = "channels") && name.is_some_and(|name| !name.is_empty() && !name.contains('/'))
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
