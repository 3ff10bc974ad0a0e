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
    /// It needs no admission, for this reason.
    Open(&'static str),
    /// One read, which is admitted before the handler is called. The route does not exist for those who may not.
    Hidden(Op),
    /// One operation, which is admitted before the handler is called.
    Before(Op),
    /// One operation about the session that the path names. The handler has it admitted when it knows for which session the
    /// caller speaks.
    About(Op),
    /// One operation of a request that has a proof of its own instead of a token. The service admits it for the caller whose
    /// proof that is.
    Proven(Op),
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
            // `{file}` is one segment: a path with a further slash belongs to no route, as in the router.
            Some((before, _)) => path.strip_prefix(before).is_some_and(|file| !file.contains('/')),
            None => route.path() == path,
        };
        Route::ALL.iter().copied().find(matches)
    }

    /// How its requests are admitted.
    pub(super) const fn admission(self) -> RouteAdmission {
        match self {
            Route::Alive => RouteAdmission::Open("it says that the process runs, and nothing else"),
            Route::PageFile | Route::Dashboard | Route::DashboardFile => {
                RouteAdmission::Open("the pages are the same for everybody, and have no data")
            }
            Route::Enter => RouteAdmission::Open("an operator was admitted when the one-time code was made"),
            Route::Ready | Route::Tools | Route::Kit => RouteAdmission::Hidden(Op::Query),
            Route::Metrics => RouteAdmission::Hidden(Op::Metrics),
            Route::Leave => RouteAdmission::Before(Op::Leave),
            Route::LoginCode | Route::LogoutAll => RouteAdmission::Before(Op::Dashboard),
            Route::CalendarLink | Route::CalendarsRevoked => RouteAdmission::Before(Op::Calendar),
            Route::JobReady => RouteAdmission::About(Op::ReportJob),
            Route::Ping => RouteAdmission::About(Op::Ping),
            // By the proof in its address.
            Route::Calendar => RouteAdmission::Proven(Op::Graph),
            // By the channel's own proof.
            #[cfg(feature = "channels")]
            Route::Inbound => RouteAdmission::Proven(Op::Arrive),
            Route::Tool | Route::Eql | Route::Graphql | Route::Mcp | Route::Stream => {
                RouteAdmission::ByContent
            }
        }
    }

    /// Whether a request of that method and path needs no token. A GET of `/graphql` without one is the query page, or a
    /// WebSocket, whose first message has the token. A calendar has its proof in its address. Who posts a one-time code has no
    /// token yet, and what comes in by a channel has the channel's proof.
    pub(super) fn is_open(method: &Method, path: &str) -> bool {
        // Checked apart, because `Route::of` finds no route with a parameter in the middle of its path.
        if method == Method::POST && is_inbound(path) {
            return true;
        }
        let Some(route) = Route::of(path) else { return false };
        if method == Method::POST {
            // The other open routes are only read.
            return route == Route::Enter;
        }
        let reads = method == Method::GET || method == Method::HEAD;
        let has_own_proof = matches!(route, Route::Graphql | Route::Calendar);
        reads && (matches!(route.admission(), RouteAdmission::Open(_)) || has_own_proof)
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

    /// Only of a read may it be hidden that it exists, and only who has no token of ours has a proof instead.
    #[test]
    fn every_route_says_how_it_is_admitted() {
        for route in Route::ALL {
            let path = route.path();
            let is_sound = match route.admission() {
                RouteAdmission::Open(why) => !why.is_empty(),
                RouteAdmission::Hidden(op) => {
                    !op.rule().changes && op.rule().roles.contains(&CallerRole::Operator)
                }
                RouteAdmission::Before(op) => op.rule().roles.contains(&CallerRole::Operator),
                RouteAdmission::About(op) => op.rule().is_granted && path.contains("{session}"),
                RouteAdmission::Proven(_) => {
                    let methods = [Method::GET, Method::POST];
                    let path = path.replace("{file}", "a.ics").replace("{name}", "ops");
                    methods.iter().any(|method| Route::is_open(method, &path))
                }
                RouteAdmission::ByContent => !path.contains("{session}"),
            };
            assert!(is_sound, "{path}");
        }
    }
}
