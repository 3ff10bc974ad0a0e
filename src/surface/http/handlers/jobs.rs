//! The route by which a build or a script reports that a job is ready, with no more than a URL and a token.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use crate::domain::{Code, JobId, Refusal, SessionId};
use crate::edn::Map;
use crate::service::{HostError, acting_for};
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::Principal;
use crate::surface::http::handlers::tools::denied;
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::message::reply::Reply;

/// `POST /v1/sessions/{session}/jobs/{job}/ready`: triggers every schedule of the session that
/// waits for this job. The request has no body.
pub(in crate::surface::http) async fn ready(
    State(app): State<Arc<AppState>>,
    path: Result<Path<(String, String)>, PathRejection>,
    principal: Principal,
) -> Result<Reply, HttpError> {
    let Path((session, job)) = path.map_err(|_| HttpError::not_found())?;
    let session = SessionId::new(&session).map_err(|_| nobody())?;
    // A host speaks for the sessions that it has opened.
    let handle = app.service.handle();
    let caller = acting_for(handle, &principal.caller, &session).unwrap_or_else(|| principal.caller.clone());
    // Before the job's id is looked at: a caller without the right learns nothing about what would be wrong with it.
    let admitted = app.service.admit_job_report(&caller, &session).map_err(|error| match error {
        HostError::Denied(denial) => denied(&denial),
        HostError::Refused(refusal) | HostError::NotInFlight { refusal, .. } => refused(&refusal),
        // Only an opening names a zone.
        HostError::Zone(fault) => {
            HttpError::invalid(fault.to_string(), "leave the zone out, or name one of the database")
        }
    })?;
    let job = JobId::new(&job).map_err(|error| {
        HttpError::invalid(error.to_string(), "use the job's id as the schedule that waits for it has it")
    })?;
    let answer = Map::new().with("session-id", session.as_str()).with("job-id", job.as_str());
    // The route does what the tool `report_job_ready` does, so it is the same operation.
    app.service.report_job(admitted, session, job).map_err(|refusal| refused(&refusal))?;
    Ok(Reply::new(StatusCode::OK, answer))
}

/// The answer for a session that does not exist or is not the caller's: both look alike.
fn nobody() -> HttpError {
    HttpError::new(ErrorCode::NotFound, "there is no such session", "open the session first, or check its id")
}

fn refused(refusal: &Refusal) -> HttpError {
    let code = match refusal.code() {
        Code::NotFound => return nobody(),
        Code::Validation => ErrorCode::Validation,
        Code::Forbidden => ErrorCode::Forbidden,
        Code::Limit => ErrorCode::Limit,
        Code::Conflict | Code::Unavailable => ErrorCode::Unavailable,
    };
    HttpError::new(code, refusal.to_string(), refusal.hint())
}
