//! Schedules, runs and explanations as resources: the graph's attributes of each, as JSON.
//!
//! Invariant: resources of other sessions are absent, because every access is a query of the graph with the caller's
//! permissions.

use super::features::{ResourceInfo, ResourcePage, Unserved};
use crate::dialect::{REQUEST_CAPS, json};
use crate::domain::{Caller, names};
use crate::edn::{Map, Value, read as read_edn};
use crate::graph::eql::{Boundary, QueryAnswer};
use crate::graph::registry::ResolverError;
use crate::limits;
use crate::service::Service;

names! {
    /// A kind of resource; its address is `reveille://KIND/ID`.
    Kind {
        /// A schedule, by its id.
        Schedule = "schedule",
        /// A run, by its id.
        Run = "run",
        /// Why a schedule has fired, or has not, or when it will: by the schedule's id.
        Explanation = "explanation",
        /// What a session remembers, by the session's id.
        Memory = "memory",
    }
}

/// A resource.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Resource {
    kind: Kind,
    id: String,
}

/// Lists the caller's schedules, one page at a time.
///
/// # Errors
/// [`Unserved`] for an invalid cursor.
pub(super) fn list(
    service: &Service,
    caller: &Caller,
    cursor: Option<&str>,
) -> Result<ResourcePage, Unserved> {
    let first = i64::try_from(limits::MCP_PAGE.value).unwrap_or(i64::MAX);
    let mut params = Map::new().with("first", first);
    if let Some(cursor) = cursor {
        params = params.with("after", cursor);
    }
    // The parameters are printed as EDN, which escapes the client's cursor.
    let query = format!("[{{(:psi.scheduler/schedule-page {}) {LISTED}}}]", Value::Map(params));
    let wrong = |error: Option<ResolverError>| {
        error.map_or(Unserved::Absent, |error| Unserved::Wrong { why: error.message })
    };
    let page = ask(service, caller, &query)?.map_err(wrong)?;
    let part = |name: &str| page.as_map().and_then(|page| page.keyword(name));
    let rows = part("reveille.schedule-page/schedules").and_then(Value::as_items).unwrap_or_default();
    let next = match part("reveille.schedule-page/has-next?").and_then(Value::as_bool) {
        Some(true) => part("reveille.schedule-page/end-cursor").and_then(Value::as_str).map(str::to_owned),
        Some(false) | None => None,
    };
    Ok(ResourcePage { items: rows.iter().map(listing).collect(), next })
}

/// The templates of the URIs.
pub(super) fn templates() -> Vec<ResourceInfo> {
    let template = |kind: &Kind| ResourceInfo {
        uri: format!("{SCHEME}{}/{{id}}", kind.name()),
        name: kind.name().to_owned(),
        description: kind.doc().to_owned(),
        mime_type: MIME_TYPE.to_owned(),
    };
    Kind::ALL.iter().map(template).collect()
}

/// Reads one resource.
///
/// # Errors
/// [`Unserved`] for an invalid URI, or for a resource that the caller may not see.
pub(super) fn read(service: &Service, caller: &Caller, uri: &str) -> Result<Map, Unserved> {
    // An invalid URI and an unknown resource look alike.
    let resource = Resource::parse(uri).ok_or(Unserved::Absent)?;
    let lost = |error: Option<ResolverError>| error.as_ref().map_or(Unserved::Absent, Unserved::from);
    let found = ask(service, caller, &resource.query())?.map_err(lost)?;
    let mut text = String::new();
    json::write(&found, &mut text);
    Ok(Map::new().with("uri", uri).with("mimeType", MIME_TYPE).with("text", text))
}

/// Runs a query of one join, and returns its value. The inner error is the graph's reason for having none.
fn ask(
    service: &Service,
    caller: &Caller,
    query: &str,
) -> Result<Result<Value, Option<ResolverError>>, Unserved> {
    let unread = |why: String| Unserved::Wrong { why };
    let form = read_edn(query.as_bytes(), &REQUEST_CAPS).map_err(|error| unread(error.to_string()))?;
    let boundary = Boundary::read(&form).map_err(|error| unread(error.to_string()))?;
    Ok(match service.query(caller, &boundary, false) {
        Ok(QueryAnswer::Done(map)) => Ok(map.iter().next().map_or(Value::Nil, |(_, value)| value.clone())),
        Ok(QueryAnswer::Failed(failure)) => Err(failure.error),
        Err(refusal) => return Err(Unserved::from(&refusal)),
    })
}

fn listing(row: &Value) -> ResourceInfo {
    let part = |name: &str| row.as_map().and_then(|row| row.keyword(name)).and_then(Value::as_str);
    let id = part("psi.scheduler/schedule-id").unwrap_or_default();
    let resource = Resource { kind: Kind::Schedule, id: id.to_owned() };
    ResourceInfo {
        uri: resource.print(),
        name: part("psi.scheduler/label").unwrap_or(id).to_owned(),
        // A person recognizes a schedule by its label and its time.
        description: part("psi.scheduler/when").unwrap_or_default().to_owned(),
        mime_type: MIME_TYPE.to_owned(),
    }
}

impl Resource {
    fn parse(uri: &str) -> Option<Resource> {
        let (kind, id) = uri.strip_prefix(SCHEME)?.split_once('/')?;
        let id = unescaped(id).filter(|id| !id.is_empty())?;
        Some(Resource { kind: Kind::parse(kind)?, id })
    }

    fn print(&self) -> String {
        format!("{SCHEME}{}/{}", self.kind.name(), escaped(&self.id))
    }

    fn query(&self) -> String {
        let (key, shape) = match self.kind {
            Kind::Schedule => ("psi.scheduler/schedule-id", SCHEDULE),
            Kind::Run => ("reveille.run/id", RUN),
            Kind::Explanation => ("psi.scheduler/schedule-id", EXPLANATION),
            Kind::Memory => ("psi.agent-session/session-id", MEMORY),
        };
        // Printed as an EDN string, so an id cannot change the query.
        format!("[{{[:{key} {}] {shape}}}]", Value::from(self.id.as_str()))
    }
}

/// Escapes an id for a URI. Source: RFC 3986, `pchar`.
fn escaped(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte);
    let escape = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    id.bytes().map(escape).collect()
}

/// Reverses the escapes; `None` if the text is not a valid part of a URI.
fn unescaped(part: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(part.len()), part.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        // A percent sign without two digits is invalid, not literal.
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, behind) = rest.split_at_checked(2)?;
        let digits =
            std::str::from_utf8(digits).ok().filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = behind;
    }
    // The escapes can spell any bytes.
    String::from_utf8(bytes).ok()
}

const SCHEME: &str = "reveille://";
const MIME_TYPE: &str = "application/json";
const LISTED: &str = "[:reveille.schedule-page/has-next? :reveille.schedule-page/end-cursor \
                      {:reveille.schedule-page/schedules [:psi.scheduler/schedule-id :psi.scheduler/label \
                      :psi.scheduler/when]}]";
const SCHEDULE: &str = "[:psi.scheduler/schedule-id :psi.scheduler/label :psi.scheduler/kind :psi.scheduler/message \
                        :psi.scheduler/status :psi.scheduler/reason :psi.scheduler/when :psi.scheduler/zone \
                        :psi.scheduler/next-fire-at :psi.scheduler/upcoming :psi.scheduler/created-at \
                        :psi.scheduler/origin-session-id :psi.scheduler/dialect :psi.scheduler/durability \
                        :psi.scheduler/revision :psi.scheduler/paused? :psi.scheduler/idempotency-key \
                        {:psi.scheduler/runs [:reveille.run/id :reveille.run/slot :reveille.run/state]}]";
const RUN: &str = "[:reveille.run/id :reveille.run/slot :reveille.run/state :reveille.run/cause :reveille.run/attempt \
                   :reveille.run/reason :reveille.run/lateness-ms :reveille.run/session-id :reveille.run/started-at \
                   :reveille.run/delivered-at :reveille.run/finished-at :reveille.run/error]";
const EXPLANATION: &str = "[:psi.scheduler/schedule-id {:psi.scheduler/explain [:reveille.explanation/sentence \
                           :reveille.explanation/verdict :reveille.explanation/reason :reveille.explanation/slot \
                           :reveille.explanation/at :reveille.explanation/late-ms :reveille.explanation/run-id \
                           :reveille.explanation/obstacles :reveille.explanation/next-fire-at]}]";

const MEMORY: &str = "[:psi.agent-session/session-id :psi.agent-session/memory-block {:psi.agent-session/memory \
                      [:reveille.memory/goal :reveille.memory/facts {:reveille.memory/tasks [:reveille.task-note/id \
                      :reveille.task-note/subject :reveille.task-note/description :reveille.task-note/status]}]}]";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_its_id() {
        for id in ["sch-1", "a b/ü%", "sch-1~1~2026-04-22T13:00:00Z", "%"] {
            for kind in Kind::ALL {
                let resource = Resource { kind: *kind, id: id.to_owned() };
                assert_eq!(Resource::parse(&resource.print()), Some(resource), "{id}");
            }
        }
    }

    #[test]
    fn what_is_no_address_leads_nowhere() {
        for uri in [
            "",
            "reveille://",
            "reveille://schedule",
            "reveille://schedule/",
            "reveille://session/main",
            "reveille://schedule/%",
            "reveille://schedule/%4",
            "reveille://schedule/%+1",
            "reveille://schedule/%FF",
            "http://schedule/sch-1",
            "REVEILLE://schedule/sch-1",
        ] {
            assert_eq!(Resource::parse(uri), None, "{uri}");
        }
    }
}
