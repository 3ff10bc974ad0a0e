//! Pages of lists as entities: their entries, the total, and cursors to continue. Source: GraphQL Cursor Connections
//! Specification.
//!
//! A page is made during a query and lives in its arena; its number means nothing afterwards.

use super::{integer, maybe, own};
use crate::edn::Value;
use crate::graph::page::Page;
use crate::graph::registry::{Datum, Entity, Type, ViewOf};
use crate::graph::view::{Scheduler, View};

/// Declares the entity of pages of one kind of entries.
macro_rules! page {
    ($function:ident, $name:literal, $namespace:literal, $of:literal, $entries:literal) => {
        pub(super) fn $function() -> Entity<Scheduler, u64> {
            Entity::<Scheduler, u64>::new($name, concat!($namespace, "/number"), find)
                .doc(concat!("A page of a list of ", $entries, "."))
                .reads(
                    own(concat!($namespace, "/number"), Type::Integer)
                        .doc("A number that distinguishes the pages of one answer."),
                    |_, number, _| Ok(integer(number)),
                )
                .reads(
                    own(concat!($namespace, "/", $entries), Type::Reference($of))
                        .many()
                        .doc("The entries of the page."),
                    |view, number, _| {
                        Ok(Datum::Entities(
                            view.page(number, |page| page.numbers.clone()).unwrap_or_default(),
                        ))
                    },
                )
                .reads(
                    own(concat!($namespace, "/total-count"), Type::Integer)
                        .unit($entries)
                        .doc("The number of entries of the whole list."),
                    |view, number, _| Ok(integer(view.page(number, |page| page.total).unwrap_or(0))),
                )
                .reads(
                    own(concat!($namespace, "/has-next?"), Type::Boolean)
                        .doc("Whether entries follow the page."),
                    |view, number, _| Ok(flag(view, number, |page| page.has_next)),
                )
                .reads(
                    own(concat!($namespace, "/has-previous?"), Type::Boolean)
                        .doc("Whether entries precede the page."),
                    |view, number, _| Ok(flag(view, number, |page| page.has_previous)),
                )
                .reads(
                    own(concat!($namespace, "/start-cursor"), Type::String).nullable().doc(
                        "The cursor of the first entry, for the parameter before. Nil if the page is empty.",
                    ),
                    |view, number, _| Ok(place(view, number, Page::start)),
                )
                .reads(
                    own(concat!($namespace, "/end-cursor"), Type::String).nullable().doc(
                        "The cursor of the last entry, for the parameter after. Nil if the page is empty.",
                    ),
                    |view, number, _| Ok(place(view, number, Page::end)),
                )
        }
    };
}

page!(schedule_page, "schedule-page", "reveille.schedule-page", "schedule", "schedules");
page!(session_page, "session-page", "reveille.session-page", "session", "sessions");
page!(run_page, "run-page", "reveille.run-page", "run", "runs");
page!(decision_page, "decision-page", "reveille.decision-page", "decision", "decisions");

fn find(view: ViewOf<'_, Scheduler>, key: &Value) -> Option<u64> {
    // A number from an earlier query finds nothing, or a page of this query: callers should not keep it.
    let number = u64::try_from(key.as_int()?).ok()?;
    view.page(number, |_| number)
}

fn flag<'a>(view: ViewOf<'a, Scheduler>, number: u64, read: fn(&Page) -> bool) -> Datum<'a> {
    Datum::Bool(view.page(number, read).unwrap_or(false))
}

fn place<'a>(
    view: ViewOf<'a, Scheduler>,
    number: u64,
    read: fn(&Page, &View<'_>) -> Option<String>,
) -> Datum<'a> {
    maybe(view.page(number, |page| read(page, view)).flatten(), |text| Datum::Value(Value::string(text)))
}
