//! The route by which a build or a script reports that a job is ready, with no more than a URL and a token.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use crate::domain::{Caller, Code, JobId, Refusal, SessionId};
use crate::edn::Map;
use crate::service::{Admitted, HostError, acting_for};
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::handlers::tools::denied;
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::message::reply::Reply;
use crate::surface::http::route::{Route, RouteAdmission};

/// `POST /v1/sessions/{session}/jobs/{job}/ready`: triggers every schedule of the session that
/// waits for this job. The request has no body.
pub(in crate::surface::http) async fn ready(
    State(app): State<Arc<AppState>>,
    path: Result<Path<(String, String)>, PathRejection>,
    principal: Principal,
) -> Result<Reply, HttpError> {
    let Path((session, job)) = path.map_err(|_| HttpError::not_found())?;
    let session = SessionId::new(&session).map_err(|_| nobody())?;
    let caller = speaker(&app, &principal, &session);
    // Before the job's id is looked at: a caller without the right learns nothing about what would be wrong with it.
    let admitted = admitted(&app, &caller, &session, Route::JobReady)?;
    let job = JobId::new(&job).map_err(|error| {
        HttpError::invalid(error.to_string(), "use the job's id as the schedule that waits for it has it")
    })?;
    let answer = Map::new().with("session-id", session.as_str()).with("job-id", job.as_str());
    // The route does what the tool `report_job_ready` does, so it is the same operation.
    app.service.report_job(admitted, session, job).map_err(|refusal| refused(&refusal))?;
    Ok(Reply::new(StatusCode::OK, answer))
}

/// The caller as it speaks for this session: a host does so for the sessions that it has opened.
pub(super) fn speaker(app: &AppState, principal: &Principal, session: &SessionId) -> Caller {
    let speaks = acting_for(app.service.handle(), &principal.caller, session);
    // A caller that does not speak for the session stays itself, and is refused when it is admitted.
    speaks.unwrap_or_else(|| principal.caller.clone())
}

/// Admits the operation of a route about this session.
pub(super) fn admitted<'a>(
    app: &AppState,
    caller: &'a Caller,
    session: &SessionId,
    route: Route,
) -> Result<Admitted<'a>, HttpError> {
    let RouteAdmission::About(op) = route.admission() else { return Err(HttpError::not_found()) };
    app.service.admit_about(caller, session, op).map_err(|error| match error {
        HostError::Denied(denial) => denied(&denial),
        HostError::Refused(refusal) | HostError::NotInFlight { refusal, .. } => refused(&refusal),
        // Only an opening names a zone.
        HostError::Zone(fault) => {
            HttpError::invalid(fault.to_string(), "leave the zone out, or name one of the database")
        }
    })
}

/// The answer for a session that does not exist or is not the caller's: both look alike.
pub(super) fn nobody() -> HttpError {
    HttpError::new(ErrorCode::NotFound, "there is no such session", "open the session first, or check its id")
}

pub(super) fn refused(refusal: &Refusal) -> HttpError {
    let code = match refusal.code() {
        Code::NotFound => return nobody(),
        Code::Validation => ErrorCode::Validation,
        Code::Forbidden => ErrorCode::Forbidden,
        Code::Limit => ErrorCode::Limit,
        Code::Conflict | Code::Unavailable => ErrorCode::Unavailable,
    };
    HttpError::new(code, refusal.to_string(), refusal.hint())
}
