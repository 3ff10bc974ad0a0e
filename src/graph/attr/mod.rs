//! The scheduler's attributes, each declared once: one file per entity.
//!
//! What the readers share is in `psi_terms.rs` and `listing.rs`, outside this folder. Invariant: a reader goes
//! through the [`View`](super::view::View), so what a caller may not see does not exist for any attribute.

mod agent_schedules;
pub(crate) mod approval;
pub(crate) mod approval_difference;
mod attempt;
mod budget;
mod channel;
mod decision;
mod declare;
mod engine;
mod failure;
mod forecast_explain;
mod guard;
mod inbox;
mod job;
mod last_approved;
mod memory;
mod message;
mod pages;
mod ping;
mod root;
mod run;
mod schedule;
mod schedule_details;
mod session;
mod task;
mod timeline;
mod tool;
mod turn;
mod watch;

pub use inbox::taken_message;

use self::declare::attributes;
use super::psi_terms;
use super::registry::{
    Attribute, Datum, Graph, Registry, RegistryFault, ResolverError, RowKey, Type, ViewOf, Visibility,
};
use super::view::Scheduler;
use crate::domain::Moment;
use crate::edn::{Inst, Value};
use crate::engine::{Key, ScheduleRecord, SessionRecord};

/// The result of a reader.
type Read<'a> = Result<Datum<'a>, ResolverError>;

/// Builds the registry of everything that a query can ask the scheduler for.
///
/// # Errors
///
/// Returns every fault of the declarations. A test checks that there is none.
pub fn registry() -> Result<Registry<Scheduler>, Vec<RegistryFault>> {
    // The order is that of the reference page: the root and the engine first, introspection last.
    let builder = Registry::builder()
        .entity(root::root())
        .entity(engine::engine())
        .entity(engine::limit())
        .entity(schedule::schedule())
        .entity(session::session())
        .entity(run::run())
        .entity(attempt::attempt())
        .entity(turn::turn())
        .entity(decision::decision())
        .entity(message::message())
        .entity(memory::memory())
        .entity(memory::task_note())
        .entity(ping::ping())
        .entity(job::job())
        .entity(watch::watch())
        .entity(task::task())
        .entity(tool::tool())
        .entity(forecast_explain::slot())
        .entity(forecast_explain::explanation())
        .entity(timeline::timeline_cell())
        .entity(pages::schedule_page())
        .entity(pages::session_page())
        .entity(pages::run_page())
        .entity(pages::decision_page())
        .entity(Graph::entity())
        .entity(Graph::resolver_entity())
        .entity(Graph::attribute_entity());
    super::mutation::all().into_iter().fold(builder, super::registry::Builder::mutation).build()
}

impl RowKey for Key {
    fn number(self) -> u64 {
        u64::from(Key::number(self))
    }

    fn numbered(number: u64) -> Key {
        // A number that was never a key maps to a key that no record has.
        Key::numbered(u32::try_from(number).unwrap_or(u32::MAX))
    }
}

/// Joins the two halves of a row's number, for a thing that has its place within another.
fn joined(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Returns the two halves of a row's number.
fn halves(number: u64) -> (u32, u32) {
    let half = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    (half(number >> 32), half(number))
}

/// Declares an attribute that its owning session and operators may see.
fn own(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).visible_to(Visibility::Owner)
}

/// Declares an attribute that every caller may see.
fn everyone(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).visible_to(Visibility::Everyone)
}

/// Declares an attribute that only operators may see.
fn operators(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).visible_to(Visibility::Operator)
}

/// Converts an instant. `#inst` ends with the year 9999; later instants become ISO strings.
fn instant<'a>(moment: Moment) -> Datum<'a> {
    // Nearly all instants are before 10000, and then no value is built.
    match Inst::new(moment.seconds(), moment.nanos()) {
        Some(inst) => Datum::Inst(inst),
        None => Datum::Value(psi_terms::instant(moment)),
    }
}

/// Converts a value that may be absent; `None` becomes nil.
fn maybe<'a, T>(value: Option<T>, datum: impl FnOnce(T) -> Datum<'a>) -> Datum<'a> {
    value.map_or(Datum::Nil, datum)
}

fn entities<'a>(keys: impl IntoIterator<Item = Key>) -> Datum<'a> {
    Datum::Entities(keys.into_iter().map(RowKey::number).collect())
}

fn integer<'a>(number: u64) -> Datum<'a> {
    Datum::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Returns the text of a key's value; `None` if it is not a string.
fn text(key: &Value) -> Option<&str> {
    key.as_str()
}

/// Reads an attribute of a schedule; nil if the schedule does not exist for the caller.
fn of_schedule<'a>(
    view: ViewOf<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(&'a ScheduleRecord) -> Datum<'a>,
) -> Read<'a> {
    Ok(view.schedule(key).map_or(Datum::Nil, attribute))
}

/// Reads an attribute of a session; nil if the session does not exist for the caller.
fn read_session<'a>(
    view: ViewOf<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(&'a SessionRecord) -> Datum<'a>,
) -> Read<'a> {
    Ok(view.session(key).map_or(Datum::Nil, attribute))
}
