//! The pace at which the runs of each family may have something written to disk.
//!
//! All sessions share one disk, and a run can cause far more to be written than the call that scheduled it: its schedule comes
//! again and again. All of it is in memory only: a new process begins with none.

use std::collections::BTreeMap;

use super::slab::Key;
use super::state::State;
use crate::domain::{BootTime, Phase, Schedule, SessionId, Span};
use crate::limits;

/// The pace of each family, by its root.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    paces: BTreeMap<SessionId, Pace>,
    /// How many entries there may be before the expired ones are dropped.
    sweep_at: usize,
}

/// How far one family is, as two instants (GCRA).
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The time at which all that its runs have had written is done.
    paid_until: BootTime,
    /// The time at which the last of the runs that wait may go out.
    booked_until: BootTime,
}

/// How far a family may be ahead of the pace: one second's worth may be written at once.
const AHEAD: Span = Span::from_millis(1_000);
/// A table of this size is not worth a sweep.
const SWEEP_MIN: usize = 64;

/// Returns how many bytes are written when a run of this schedule is handed over in this phase: the prompt of a durable
/// schedule, and everything of a fresh session.
pub(super) fn bytes_written(schedule: &Schedule, phase: Phase) -> u64 {
    match phase {
        Phase::CreateSession => schedule.bytes(),
        Phase::PromptSubmit if schedule.is_durable() => schedule.payload.text().len() as u64,
        Phase::PromptSubmit | Phase::Outside | Phase::Call => 0,
    }
}

/// Returns the time that so many bytes take at the pace.
fn time_of(bytes: u64) -> Span {
    // In 128 bits, because a step may hand over many large runs.
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(limits::RUN_BYTES_PER_SECOND.value);
    Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

impl Pace {
    const START: Pace = Pace { paid_until: BootTime::ZERO, booked_until: BootTime::ZERO };

    /// Counts bytes if they may be written now. If not, they are booked, and the time at which they may be is returned.
    pub(super) fn take(&mut self, bytes: u64, now: BootTime) -> Result<(), BootTime> {
        let free_at = self.free_at(now);
        if free_at == now {
            self.write(bytes, now);
            return Ok(());
        }
        let due = free_at.max(self.booked_until);
        self.book(bytes, now);
        Err(due)
    }

    /// Counts bytes, whether or not they may be written now.
    pub(super) fn write(&mut self, bytes: u64, now: BootTime) {
        self.paid_until = self.paid_until.max(now).after(time_of(bytes));
    }

    /// Runs that wait get a time each: if all of them came when there is room for one, each would come again and again.
    fn book(&mut self, bytes: u64, now: BootTime) {
        self.booked_until = self.booked_until.max(self.free_at(now)).after(time_of(bytes));
    }

    fn free_at(&self, now: BootTime) -> BootTime {
        // GCRA: free while what is paid for reaches no further than `AHEAD` from now.
        now.after(self.paid_until.since(now.after(AHEAD)))
    }

    /// Returns the bytes that are not done at `now`.
    fn used(&self, now: BootTime) -> u64 {
        let bytes =
            u128::from(self.paid_until.since(now).nanos()) * u128::from(limits::RUN_BYTES_PER_SECOND.value);
        u64::try_from(bytes.div_ceil(1_000_000_000)).unwrap_or(u64::MAX)
    }

    fn is_over(&self, now: BootTime) -> bool {
        self.paid_until.max(self.booked_until) <= now
    }
}

impl Written {
    /// Returns the pace of the family of this root, to be changed.
    fn of(&mut self, root: SessionId, now: BootTime) -> &mut Pace {
        // A sweep walks the table, and the next one comes when it has doubled: a constant cost per entry.
        if self.paces.len() > self.sweep_at {
            self.paces.retain(|_, pace| !pace.is_over(now));
            self.sweep_at = (2 * self.paces.len()).max(SWEEP_MIN);
        }
        self.paces.entry(root).or_insert(Pace::START)
    }
}

impl State {
    /// Returns the pace of the family of this root.
    pub(super) fn pace(&self, root: &SessionId) -> Pace {
        self.written.paces.get(root).copied().unwrap_or(Pace::START)
    }

    /// Returns what the runs of this root's family have had written within the last second.
    pub fn run_bytes(&self, root: &SessionId, now: BootTime) -> u64 {
        self.pace(root).used(now)
    }

    /// Returns the same of the family that has had most written.
    pub fn run_bytes_of_largest(&self, now: BootTime) -> u64 {
        self.written.paces.values().map(|pace| pace.used(now)).max().unwrap_or(0)
    }

    /// Counts the bytes that the hand-over of a run in this phase has written.
    pub(super) fn note_written(&mut self, run: Key, phase: Phase, now: BootTime) {
        self.note_pace(run, phase, now, Pace::write);
    }

    /// Counts the bytes of a run that waits until its family may write again.
    pub(super) fn note_booked(&mut self, run: Key, phase: Phase, now: BootTime) {
        self.note_pace(run, phase, now, Pace::book);
    }

    /// Counts bytes of the family of this root if they may be written now. Returns whether they may.
    #[cfg(feature = "embed")]
    pub(super) fn take_pace(&mut self, root: SessionId, bytes: u64, now: BootTime) -> bool {
        let pace = self.written.of(root, now);
        let is_free = pace.free_at(now) == now;
        if is_free {
            pace.write(bytes, now);
        }
        is_free
    }

    fn note_pace(&mut self, run: Key, phase: Phase, now: BootTime, note: fn(&mut Pace, u64, BootTime)) {
        let Some(asked) = self.runs.get(run).and_then(|record| self.definition_of(record)) else { return };
        let bytes = bytes_written(asked, phase);
        if bytes == 0 {
            return;
        }
        let root = self.root_in(asked).clone();
        note(self.written.of(root, now), bytes, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_family_stores_waits_for_its_pace() {
        let mut state = State::default();
        let [one, other] = ["one", "other"].map(|name| SessionId::new(name).expect("an id"));
        let (second, now) = (limits::RUN_BYTES_PER_SECOND.value, BootTime::from_nanos(1));
        assert!(
            state.take_pace(one.clone(), 2 * second, now),
            "what is too much for a second goes out alone"
        );
        assert!(!state.take_pace(one.clone(), 1, now), "and is paid for");
        assert!(state.take_pace(other, second, now), "by its own family");
        let paid = now.after(Span::from_millis(1_000));
        assert!(state.take_pace(one.clone(), 1, paid), "a second's worth may be ahead");
        assert_eq!(state.run_bytes(&one, paid), second + 1);
    }
}
