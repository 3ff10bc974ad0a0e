//! Creating a schedule, once for each idempotency key.
//!
//! A repeat of a call finds the schedule that the first call created, as long as it is retained. A key ends with its schedule:
//! once that has ended, only the same request is its repeat, and any other creates a new schedule. What lives elsewhere:
//! whether two requests are the same (`engine`).

use crate::domain::{Durability, Moment, Refusal, Schedule, ScheduleId, Trigger, When};
use crate::engine::{Command, Input, NewSchedule, ScheduleRecord};
use crate::runtime::Handle;

/// A created schedule, or the one that an earlier call with its key created.
pub(crate) struct Created<R> {
    pub(crate) id: ScheduleId,
    pub(crate) is_new: bool,
    /// What was read from the schedule in the step that created it; `None` if it has ended and is gone already.
    pub(crate) read: Option<R>,
}

type Outcome<R> = Result<Created<R>, Refusal>;

/// The durability of a schedule for which none is asked: durable if there is a store.
pub(crate) fn durability(handle: &Handle) -> Durability {
    if handle.read().store().is_some() { Durability::Durable } else { Durability::Volatile }
}

/// Creates a schedule. `read` reads its time as of a moment: now, or for a repeat, the moment of the first call, because an
/// instant that has passed since was still ahead then. `look` reads something from the schedule before anything else happens.
///
/// # Errors
/// That of `read`. The inner error is the engine's.
pub(crate) fn create<T, E, R>(
    handle: &Handle,
    new: NewSchedule,
    read: impl Fn(Moment) -> Result<(When, T), E>,
    look: impl Fn(&ScheduleRecord) -> R,
) -> Result<(Outcome<R>, T), E> {
    let first = handle.view(|state| {
        let earlier = state.schedule_by_key(&new.owner, new.dialect, new.key()?)?;
        Some((first_read_at(earlier.schedule()), earlier.status().is_terminal()))
    });
    // The call has no key, or its key is free: it is no repeat.
    let Some((first, has_ended)) = first else {
        let (when, more) = read(handle.now().wall)?;
        return Ok((submit(handle, NewSchedule { when, ..new }, look), more));
    };
    // The engine compares the two requests. It refuses another one under the key of a schedule that goes on.
    if !has_ended {
        let (when, more) = read(first)?;
        return Ok((submit(handle, NewSchedule { when, ..new }, look), more));
    }
    // The answer to the first call may have been lost, so the same request must not run again. What cannot be read as of the
    // first call is another request.
    if let Ok((when, more)) = read(first) {
        let again = NewSchedule { when, ..new.clone() };
        let earlier = handle.view(|state| {
            let id = state.repeated(&again)?.clone();
            let read = state.schedule(&id).map(&look);
            Some(Created { id, is_new: false, read })
        });
        if let Some(earlier) = earlier {
            return Ok((Ok(earlier), more));
        }
    }
    // Another request: the key of a schedule that has ended is free.
    let (when, more) = read(handle.now().wall)?;
    Ok((submit(handle, NewSchedule { when, ..new }, look), more))
}

fn submit<R>(handle: &Handle, mut new: NewSchedule, look: impl Fn(&ScheduleRecord) -> R) -> Outcome<R> {
    let durability = new.durability;
    let fresh = || ScheduleId::fresh(durability, || handle.now().wall, handle.random_bits());
    let id = new.id.get_or_insert_with(fresh).clone();
    // Copied before the command takes them, because the answer looks the schedule up by its key.
    let (owner, dialect, key) = (new.owner.clone(), new.dialect, new.key().map(Box::<str>::from));
    // Read in the same critical section: a schedule that was just created has not ended yet.
    handle.submit_with(Input::Command(Command::CreateSchedule(new)), |state| {
        let earlier = key.and_then(|key| state.schedule_by_key(&owner, dialect, &key));
        // A schedule that was created just now is found under its key as well.
        let earlier = earlier.map(|earlier| &earlier.schedule().id).filter(|earlier| **earlier != id);
        let found = earlier.unwrap_or(&id);
        let read = state.schedule(found).map(look);
        Created { id: found.clone(), is_new: earlier.is_none(), read }
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
