//! Calendars: who gets a link to one, and what it shows.
//!
//! A link is made for an operator, and shows to anybody who has it when schedules fire and what they are called: never what they
//! say. What lives elsewhere: the proof in a link, and the format (`calendar`).

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, REFERRER_POLICY};
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::dialect::REQUEST_CAPS;
use crate::dialect::args::{Arg, ArgError, Args, Choices, Keys, Style, TOOL_WORDS};
use crate::domain::{Caller, CallerRole, Moment, Right, ScheduleId, Scope, SessionId, Span, TokenName, Via};
use crate::edn::{self, Map, Value};
use crate::graph::eql::{Boundary, QueryAnswer};
use crate::limits;
use crate::runtime::Token;
use crate::surface::http::app_state::AppState;
use crate::surface::http::auth::{Peer, Principal};
use crate::surface::http::calendar::{CalendarOf, Event, ical};
use crate::surface::http::long;
use crate::surface::http::message::body::read_value;
use crate::surface::http::message::error::{ErrorCode, HttpError};
use crate::surface::http::message::reply::Reply;

/// `POST /calendar`: a link to a calendar, of all schedules or of those that the body names.
pub(in crate::surface::http) async fn link(
    State(app): State<Arc<AppState>>,
    request: Request<Body>,
) -> Result<Reply, HttpError> {
    let (body, notation) = read_value(&app, request).await?;
    let style = Style { notation, keys: Keys::Notated, choices: Choices::Exact, short_times: false };
    let hint = "give {} for all schedules, or one of session-id and schedule-id";
    let wrong = |error: ArgError| HttpError::invalid(error.message(&TOOL_WORDS), hint);
    let args = Arg::new(&body, style).map(&["session-id", "schedule-id"]).map_err(wrong)?;
    let of = match (id(&args, "session-id", SessionId::new), id(&args, "schedule-id", ScheduleId::new)) {
        (Err(error), _) | (_, Err(error)) => return Err(wrong(error)),
        (Ok(None), Ok(None)) => CalendarOf::All,
        (Ok(Some(session)), Ok(None)) => {
            // The link has the opening of its session, so that a later session of this id is not shown.
            let opened = app.service.handle().view(|state| Some(state.session(&session)?.opened()));
            CalendarOf::Session(session, opened.ok_or_else(|| absent("session"))?)
        }
        (Ok(None), Ok(Some(schedule))) => {
            let is_known = app.service.handle().view(|state| state.schedule(&schedule).is_some());
            CalendarOf::Schedule(is_known.then_some(schedule).ok_or_else(|| absent("schedule"))?)
        }
        (Ok(Some(_)), Ok(Some(_))) => {
            return Err(HttpError::invalid("session-id and schedule-id are both given", hint));
        }
    };
    // Relative, because the daemon may be served below the path of a proxy.
    let path = format!("calendar/{}.ics", app.calendars.link(&of));
    Ok(Reply::new(StatusCode::OK, Map::new().with("path", path)))
}

/// `POST /calendar/revoke`: ends all links to calendars.
pub(in crate::surface::http) async fn revoke(State(app): State<Arc<AppState>>) -> Result<Reply, HttpError> {
    let handle = app.service.handle();
    let key = Token::from_entropy(handle.random_bits(), handle.random_bits());
    app.calendars.renew(key).map_err(|error| {
        let message = format!("the key of the links cannot be replaced, so the links stay valid: {error}");
        HttpError::new(
            ErrorCode::Unavailable,
            message,
            "make room in the data directory, and revoke them again",
        )
    })?;
    Ok(Reply::new(StatusCode::OK, Map::new().with("revoked", true)))
}

/// `GET /calendar/{file}`: the calendar of a link, for whom the link is.
pub(in crate::surface::http) async fn show(
    State(app): State<Arc<AppState>>,
    Extension(Peer(peer)): Extension<Peer>,
    file: Result<Path<String>, PathRejection>,
) -> Result<Response, HttpError> {
    let file = file.map(|Path(file)| file).unwrap_or_default();
    // Any other name is read as the empty link, which is never valid.
    let link = file.strip_suffix(".ics").unwrap_or_default();
    let Some(of) = app.calendars.read(link) else {
        app.backoff.wrong_token(peer, app.service.handle().now().boot).await;
        return Err(HttpError::not_found());
    };
    // The link is the proof. The principal only says for whom the work and the answer count.
    let principal = Principal { caller: reader(&app, &of)?, token: Token::from_text(link) };
    // Checked again when the turn has come: the session may have been closed, and its id opened again, while the link waited.
    let work = || reader(&app, &of).and_then(|caller| calendar(&app, &caller, &of));
    let read = long::wait_for_turn(&app, &principal, work);
    let text = read.map_err(long::not_done)??;
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/calendar; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    // The address is the proof, so it must not reach another server as a referrer.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // The answer counts as one of this caller, and is logged so.
    response.extensions_mut().insert(principal);
    Ok(response)
}

/// The caller as which a calendar is read. It sees what the link is about, and changes nothing.
fn reader(app: &AppState, of: &CalendarOf) -> Result<Caller, HttpError> {
    let scope = match of {
        CalendarOf::All | CalendarOf::Schedule(_) => Scope::Operator,
        CalendarOf::Session(session, opened) => {
            let is_it = app
                .service
                .handle()
                .view(|state| state.session(session).is_some_and(|record| record.opened() == *opened));
            // Closed, or another one has its id.
            Scope::Session(is_it.then(|| session.clone()).ok_or_else(HttpError::not_found)?)
        }
    };
    let name = TokenName::new("calendar").expect("a word is a name");
    Ok(Caller { scope, role: CallerRole::Observer, right: Right::Read, via: Via::Operator(name) })
}

/// Reads the slots to come, and writes them as a calendar.
fn calendar(app: &AppState, caller: &Caller, of: &CalendarOf) -> Result<String, HttpError> {
    let now = app.service.handle().now().wall;
    let until = now.checked_add(Span::from_millis(limits::CALENDAR_MS.value));
    let count = |limit: limits::Limit| i64::try_from(limit.value).unwrap_or(i64::MAX);
    let mut params = Map::new()
        .with("first", count(limits::CALENDAR_SLOTS))
        .with("to", until.map(|until| until.to_string()));
    let name = match of {
        CalendarOf::All => "Reveille".to_owned(),
        CalendarOf::Session(session, _) => format!("Reveille: {session}"),
        CalendarOf::Schedule(schedule) => format!("Reveille: {schedule}"),
    };
    params = match of {
        CalendarOf::Schedule(schedule) => params.with("schedule-id", schedule.to_string()),
        CalendarOf::All | CalendarOf::Session(..) => params.with("each", slots_each(app, of)),
    };
    // The parameters are printed as EDN, so an id cannot change the query.
    let query = format!("[{{(:reveille/forecast {}) {SHOWN}}}]", Value::from(params));
    let form = edn::read(query.as_bytes(), &REQUEST_CAPS).ok();
    let request = form.and_then(|form| Boundary::read(&form).ok()).expect("a query of ours is one");
    let answer = app.service.query(caller, &request, false);
    let slots = match answer.map_err(|refusal| HttpError::invalid(refusal.to_string(), LATER))? {
        QueryAnswer::Done(answer) => answer,
        QueryAnswer::Failed(failure) => {
            let cause = failure.error.map_or_else(|| failure.cause.name().to_owned(), |error| error.message);
            return Err(HttpError::new(ErrorCode::Unavailable, cause, LATER));
        }
    };
    let slots = slots.keyword("reveille/forecast").and_then(Value::as_items).unwrap_or_default();
    let events: Vec<Event> = slots.iter().filter_map(|slot| event(slot.as_map()?)).collect();
    Ok(ical(&name, now, &events))
}

/// How many slots of one schedule a calendar of several has: so few that all of its schedules have some.
fn slots_each(app: &AppState, of: &CalendarOf) -> i64 {
    let schedules = app.service.handle().view(|state| match of {
        CalendarOf::Session(session, _) => {
            u64::try_from(state.live_schedules_of(session).len()).unwrap_or(u64::MAX)
        }
        CalendarOf::All | CalendarOf::Schedule(_) => state.live_count(),
    });
    let share = limits::CALENDAR_SLOTS.value / schedules.max(1);
    i64::try_from(share.clamp(1, limits::CALENDAR_SLOTS_EACH.value)).unwrap_or(1)
}

/// Makes an entry of a slot.
fn event(slot: &Map) -> Option<Event> {
    let at = |name: &str| {
        let inst = slot.keyword(name)?.as_inst()?;
        Moment::new(inst.seconds(), inst.nanos())
    };
    let word = |map: &Map, name: &str| Some(map.keyword(name)?.as_keyword()?.name().replace('-', " "));
    let id = slot.keyword("reveille.slot/schedule-id")?.as_str()?;
    let schedule = slot.keyword("reveille.slot/schedule").and_then(Value::as_map)?;
    let text = |name: &str| schedule.keyword(name).and_then(Value::as_str);
    let will = word(slot, "reveille.slot/will")?;
    let kind = word(schedule, "psi.scheduler/kind").unwrap_or_default();
    let session = text("psi.scheduler/origin-session-id").unwrap_or_default();
    let why = word(slot, "reveille.slot/reason").map_or_else(String::new, |why| format!(", because: {why}"));
    let status = match &*will {
        "fires" => "CONFIRMED",
        "waits" | "held" | "paused" | "needs approval" | "left" => "TENTATIVE",
        // It fails, is refused, is skipped or is lost: no turn will come of it.
        _ => "CANCELLED",
    };
    Some(Event {
        // By the slot, because the instant at which an overdue slot is handled changes.
        uid: format!("{id}/{}@reveille", at("reveille.slot/slot")?),
        at: at("reveille.slot/slot")?,
        summary: text("psi.scheduler/label").unwrap_or(id).to_owned(),
        description: format!("{kind} of session {session}: {will}{why}\nschedule {id}"),
        status,
    })
}

/// Reads an id, if one is given.
fn id<T, E>(
    args: &Args<'_>,
    key: &'static str,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, ArgError> {
    args.opt(key, |arg| arg.id(limits::ID_BYTES, |text| parse(text).ok()))
}

fn absent(thing: &str) -> HttpError {
    HttpError::new(
        ErrorCode::NotFound,
        format!("there is no such {thing}"),
        "reveille list shows what there is",
    )
}

const SHOWN: &str = "[:reveille.slot/slot :reveille.slot/will :reveille.slot/reason \
                     :reveille.slot/schedule-id {:reveille.slot/schedule [:psi.scheduler/label :psi.scheduler/kind \
                     :psi.scheduler/origin-session-id]}]";
const LATER: &str = "come back a little later";

#[cfg(test)]
mod tests {
    use super::*;

    /// A calendar program would move it at each refresh.
    #[test]
    fn an_overdue_slot_stays_at_its_instant() {
        let slot = r#"{:reveille.slot/at #inst "2026-06-01T12:00:00Z" :reveille.slot/slot #inst "2026-06-01T09:00:00Z"
                       :reveille.slot/will :paused :reveille.slot/schedule-id "sch-1" :reveille.slot/schedule {}}"#;
        let slot = edn::read(slot.as_bytes(), &REQUEST_CAPS).expect("EDN");
        let event = event(slot.as_map().expect("a map")).expect("an entry");
        assert_eq!(Some(event.at), Moment::parse("2026-06-01T09:00:00Z").ok());
    }
}
