//! Creating a schedule, once for each idempotency key.
//!
//! A repeat of a call finds the schedule that the first call created, as long as it is retained. A key ends with its schedule:
//! once that has ended, only the same request is its repeat, and any other creates a new schedule. What lives elsewhere:
//! whether two requests are the same (`engine`).

use crate::domain::{Durability, Moment, Refusal, Schedule, ScheduleId, Trigger, When};
use crate::engine::{Command, Input, NewSchedule};
use crate::runtime::Handle;

/// A schedule that was created (`true`), or the one that an earlier call with its key has created (`false`).
type Created = Result<(ScheduleId, bool), Refusal>;

/// The durability of a schedule for which none is asked: durable if there is a store.
pub(crate) fn durability(handle: &Handle) -> Durability {
    if handle.read().store().is_some() { Durability::Durable } else { Durability::Volatile }
}

/// Creates a schedule. `read` reads its time as of a moment: now, or for a repeat, the moment of the first call, because an
/// instant that has passed since was still ahead then.
///
/// # Errors
/// That of `read`. The inner error is the engine's.
pub(crate) fn create<T, E>(
    handle: &Handle,
    new: NewSchedule,
    read: impl Fn(Moment) -> Result<(When, T), E>,
) -> Result<(Created, T), E> {
    let first = handle.view(|state| {
        let earlier = state.schedule_by_key(&new.owner, new.dialect, new.key()?)?;
        Some((first_read_at(earlier.schedule()), earlier.status().is_terminal()))
    });
    let Some((first, has_ended)) = first else {
        let (when, more) = read(handle.now().wall)?;
        return Ok((submit(handle, NewSchedule { when, ..new }), more));
    };
    if !has_ended {
        let (when, more) = read(first)?;
        return Ok((submit(handle, NewSchedule { when, ..new }), more));
    }
    // The answer to the first call may have been lost, so the same request must not run again. What cannot be read as of the
    // first call is another request.
    if let Ok((when, more)) = read(first) {
        let again = NewSchedule { when, ..new.clone() };
        if let Some(earlier) = handle.view(|state| state.repeated(&again).cloned()) {
            return Ok((Ok((earlier, false)), more));
        }
    }
    let (when, more) = read(handle.now().wall)?;
    Ok((submit(handle, NewSchedule { when, ..new }), more))
}

fn submit(handle: &Handle, mut new: NewSchedule) -> Created {
    let durability = new.durability;
    let fresh = || ScheduleId::fresh(durability, || handle.now().wall, handle.random_bits());
    let id = new.id.get_or_insert_with(fresh).clone();
    let (owner, dialect, key) = (new.owner.clone(), new.dialect, new.key().map(Box::<str>::from));
    // Read in the same critical section: a schedule that was just created has not ended yet.
    handle.submit_with(Input::Command(Command::CreateSchedule(new)), |state| {
        let earlier = key.and_then(|key| state.schedule_by_key(&owner, dialect, &key));
        // A schedule that was created just now is found under its key as well.
        let earlier = earlier.map(|earlier| &earlier.schedule().id).filter(|earlier| **earlier != id);
        earlier.map_or_else(|| (id.clone(), true), |earlier| (earlier.clone(), false))
    })
}

/// The moment at which a creation was read, as far as its repeat can tell: an instant that was ahead when it was read may have
/// passed when it was decided on.
fn first_read_at(schedule: &Schedule) -> Moment {
    match schedule.trigger {
        Trigger::At(at) => at.min(schedule.created_at),
        Trigger::Every(_) | Trigger::Calendar(_) | Trigger::Cron(..) | Trigger::Event(_) => {
            schedule.created_at
        }
    }
}
