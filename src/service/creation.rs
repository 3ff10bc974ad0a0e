//! Creating a schedule, once for each idempotency key.
//!
//! A repeat of a call finds the schedule that the first call created, as long as it is retained. What lives elsewhere: whether
//! a repeat means the same (`engine`).

use crate::domain::{Dialect, Moment, Refusal, Schedule, ScheduleId, SessionId, Trigger};
use crate::engine::{Command, Input, NewSchedule};
use crate::runtime::Handle;

/// The moment as of which the times of a creation are read: now, or for a repeat, the moment of the first call, because an
/// instant that has passed since was still ahead then.
pub(crate) fn read_as_of(handle: &Handle, owner: &SessionId, dialect: Dialect, key: Option<&str>) -> Moment {
    let first = |key| {
        handle.view(|state| {
            let earlier = state.schedule_by_key(owner, dialect, key);
            earlier.map(|earlier| first_read_at(earlier.schedule()))
        })
    };
    key.and_then(first).unwrap_or_else(|| handle.now().wall)
}

/// Creates a schedule. Returns its id and `true`, or `false` with the id of the one that an earlier call with its key created.
pub(crate) fn create(handle: &Handle, mut new: NewSchedule) -> Result<(ScheduleId, bool), Refusal> {
    let durability = new.durability;
    let fresh = || ScheduleId::fresh(durability, || handle.now().wall, handle.random_bits());
    let id = new.id.get_or_insert_with(fresh).clone();
    let (owner, dialect) = (new.owner.clone(), new.dialect);
    let key = new.settings.as_ref().and_then(|settings| settings.key.clone());
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
