//! The scheduler's attributes, each declared once: one file per entity.
//!
//! What readers share is in `shown.rs` and `listing.rs`, beside this folder. Invariant: a reader looks through the
//! [`View`](super::view::View), so what a caller may not see does not exist for any attribute.

mod decision;
mod engine;
mod foresight;
mod ground;
mod guard;
mod job;
mod message;
mod pages;
mod run;
mod schedule;
mod session;
mod terms;

use super::registry::{
    Attribute, Datum, Fault, Graph, Numbered, Registry, ResolverError, Seen, Type, Visibility,
};
use super::shown;
use super::view::Scheduler;
use crate::domain::Moment;
use crate::edn::{Inst, Value};
use crate::engine::{Key, ScheduleRecord};

/// What readers return.
type Read<'a> = Result<Datum<'a>, ResolverError>;

/// Everything there is to ask the scheduler for.
///
/// # Errors
/// Every fault of the declarations; a test sees to it that there is none.
pub fn registry() -> Result<Registry<Scheduler>, Vec<Fault>> {
    let builder = Registry::builder()
        .entity(ground::ground())
        .entity(engine::engine())
        .entity(engine::limit())
        .entity(schedule::schedule())
        .entity(session::session())
        .entity(run::run())
        .entity(decision::decision())
        .entity(message::message())
        .entity(job::job())
        .entity(foresight::slot())
        .entity(foresight::explanation())
        .entity(pages::schedule_page())
        .entity(pages::session_page())
        .entity(pages::decision_page())
        .entity(Graph::entity())
        .entity(Graph::resolver_entity())
        .entity(Graph::attribute_entity());
    super::mutation::all().into_iter().fold(builder, super::registry::Builder::mutation).build()
}

impl Numbered for Key {
    fn number(self) -> u64 {
        u64::from(Key::number(self))
    }

    fn numbered(number: u64) -> Key {
        // A number that was never a key's leads nowhere.
        Key::numbered(u32::try_from(number).unwrap_or(u32::MAX))
    }
}

/// An attribute of something that belongs to a session: that session sees it, and operators.
fn own(ident: &'static str, kind: Type) -> Attribute {
    Attribute::new(ident, kind).visible_to(Visibility::Owner)
}

/// An instant; `#inst` ends with the year 9999.
fn instant<'a>(moment: Moment) -> Datum<'a> {
    match Inst::new(moment.seconds(), moment.nanos()) {
        Some(inst) => Datum::Inst(inst),
        None => Datum::Value(shown::instant(moment)),
    }
}

/// What may be nil.
fn maybe<'a, T>(value: Option<T>, datum: impl FnOnce(T) -> Datum<'a>) -> Datum<'a> {
    value.map_or(Datum::Nil, datum)
}

fn entities<'a>(keys: impl IntoIterator<Item = Key>) -> Datum<'a> {
    Datum::Entities(keys.into_iter().map(Numbered::number).collect())
}

fn integer<'a>(number: u64) -> Datum<'a> {
    Datum::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The text of a key's value.
fn text(key: &Value) -> Option<&str> {
    key.as_str()
}

/// Reads off a schedule, if it exists for the caller.
fn of_schedule<'a>(
    view: Seen<'a, Scheduler>,
    key: Key,
    attribute: impl FnOnce(&'a ScheduleRecord) -> Datum<'a>,
) -> Read<'a> {
    Ok(view.schedule(key).map_or(Datum::Nil, attribute))
}
