//! The law about durability: commit first, then act.

use super::books::{Books, Plan, key_of};
use super::history::{Observation, Seen};
use super::on_sight::{Verdict, hold};

/// A durable run reaches its host only after the fact that dispatches it is committed.
pub(super) fn nothing_unkept_is_handed_over(books: &Books, seen: &Observation) -> Verdict {
    let Seen::Received(reception) = &seen.seen else { return Ok(()) };
    let is_durable = books.plans.get(&reception.run.schedule).is_some_and(Plan::is_durable);
    let (Some(kept), Some(life)) =
        (books.kept.filter(|_| is_durable), books.lives.get(&key_of(&reception.run)))
    else {
        return Ok(());
    };
    let at = life.dispatched_at;
    hold(at <= kept, || {
        format!("{} was handed over by fact {at}, and {kept} is the last one kept", reception.run)
    })
}
