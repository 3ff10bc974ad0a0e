//! Pages as entities: what is in them, and how to go on. Source: GraphQL Cursor Connections Specification.
//!
//! A page lives as long as the look in which it was made; its number means nothing afterwards.

use super::{integer, maybe, own};
use crate::edn::Value;
use crate::graph::page::Page;
use crate::graph::registry::{Datum, Entity, Seen, Type};
use crate::graph::view::{Scheduler, View};

/// Declares the entity of pages of one kind of entries.
macro_rules! page {
    ($function:ident, $name:literal, $namespace:literal, $of:literal, $entries:literal) => {
        pub(super) fn $function() -> Entity<Scheduler, u64> {
            Entity::<Scheduler, u64>::new($name, concat!($namespace, "/number"), find)
                .doc(concat!("A part of a list of ", $entries, "."))
                .reads(
                    own(concat!($namespace, "/number"), Type::Integer)
                        .doc("Tells the pages of one answer apart."),
                    |_, number, _| Ok(integer(number)),
                )
                .reads(
                    own(concat!($namespace, "/", $entries), Type::Reference($of)).many().doc("The entries."),
                    |view, number, _| {
                        Ok(Datum::Entities(
                            view.page(number, |page| page.numbers.clone()).unwrap_or_default(),
                        ))
                    },
                )
                .reads(
                    own(concat!($namespace, "/total-count"), Type::Integer)
                        .unit($entries)
                        .doc("How many entries the whole list has."),
                    |view, number, _| Ok(integer(view.page(number, |page| page.total).unwrap_or(0))),
                )
                .reads(
                    own(concat!($namespace, "/has-next?"), Type::Boolean)
                        .doc("Whether there are entries behind the last."),
                    |view, number, _| Ok(flag(view, number, |page| page.has_next)),
                )
                .reads(
                    own(concat!($namespace, "/has-previous?"), Type::Boolean)
                        .doc("Whether there are entries before the first."),
                    |view, number, _| Ok(flag(view, number, |page| page.has_previous)),
                )
                .reads(
                    own(concat!($namespace, "/start-cursor"), Type::String)
                        .nullable()
                        .doc("The place of the first entry, for the parameter before."),
                    |view, number, _| Ok(place(view, number, Page::start)),
                )
                .reads(
                    own(concat!($namespace, "/end-cursor"), Type::String)
                        .nullable()
                        .doc("The place of the last entry, for the parameter after."),
                    |view, number, _| Ok(place(view, number, Page::end)),
                )
        }
    };
}

page!(schedule_page, "schedule-page", "reveille.schedule-page", "schedule", "schedules");
page!(session_page, "session-page", "reveille.session-page", "session", "sessions");
page!(decision_page, "decision-page", "reveille.decision-page", "decision", "decisions");

fn find(view: Seen<'_, Scheduler>, key: &Value) -> Option<u64> {
    let number = u64::try_from(key.as_int()?).ok()?;
    view.page(number, |_| number)
}

fn flag<'a>(view: Seen<'a, Scheduler>, number: u64, read: fn(&Page) -> bool) -> Datum<'a> {
    Datum::Bool(view.page(number, read).unwrap_or(false))
}

fn place<'a>(
    view: Seen<'a, Scheduler>,
    number: u64,
    read: fn(&Page, &View<'_>) -> Option<String>,
) -> Datum<'a> {
    maybe(view.page(number, |page| read(page, view)).flatten(), |text| Datum::Value(Value::string(text)))
}
