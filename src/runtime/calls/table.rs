//! The table of calls: which are with an executor, which wait, when each has to end, and who has how many places.
//!
//! Invariant: a call is in the table from its beginning to its one end, and is counted in the places exactly while it is with an
//! executor.

use std::collections::{BTreeMap, BTreeSet};

use super::CallsInUse;
use super::lines::{Lines, Party};
use crate::domain::{BootTime, SessionId, ToolName};
use crate::engine::Invocation;
use crate::limits;
use crate::runtime::kit::Offerer;

/// What gets the outcome of a call.
pub(super) type Done = Box<dyn FnOnce(crate::domain::Outcome) + Send>;

#[derive(Default)]
pub(super) struct Table {
    calls: BTreeMap<Box<str>, Call>,
    /// With the serial numbers, so that calls that are due together end in the order in which they began.
    deadlines: BTreeSet<(BootTime, u64, Box<str>)>,
    lines: Lines,
    in_flight: u64,
    /// By the roots. Calls of operators are in flight as well, and those of no family.
    of_families: BTreeMap<SessionId, u64>,
    of_executors: BTreeMap<u32, u64>,
    last_serial: u64,
    is_handing_out: bool,
    is_closed: bool,
}

/// A call under way.
pub(super) struct Call {
    id: Box<str>,
    /// Who shares a line and a bound with it.
    party: Party,
    tool: ToolName,
    offerer: Offerer,
    began: BootTime,
    deadline: BootTime,
    /// Tells it from an earlier call of this id, whose outcome may still come.
    serial: u64,
    /// What its executor will get; `None` once it has it.
    waiting: Option<Invocation>,
    done: Done,
}

/// A call that is in the table no more.
pub(super) struct Ended {
    pub(super) tool: ToolName,
    pub(super) offerer: Offerer,
    pub(super) began: BootTime,
    pub(super) is_with_executor: bool,
    pub(super) done: Done,
}

impl Call {
    pub(super) fn new(
        offerer: Offerer,
        (party, invocation): (Party, Invocation),
        (began, deadline): (BootTime, BootTime),
        done: Done,
    ) -> Call {
        let (id, tool) = (invocation.id.clone(), invocation.tool.clone());
        Call { id, party, tool, offerer, began, deadline, serial: 0, waiting: Some(invocation), done }
    }

    /// How many calls its executor may carry out when it begins.
    fn places_at_executor(&self) -> u64 {
        let places = self.offerer.kind.places().value;
        match self.party {
            // Beyond the others: sessions may have taken them all.
            Party::Operators => places + limits::CALLS_EXECUTOR_RESERVE.value,
            Party::Family(_) => places,
        }
    }
}

impl Table {
    pub(super) fn next_deadline(&self) -> Option<BootTime> {
        self.deadlines.first().map(|(deadline, ..)| *deadline)
    }

    pub(super) fn in_use(&self) -> CallsInUse {
        let (in_flight, waiting) = (self.in_flight, self.lines.length());
        CallsInUse {
            in_flight,
            waiting,
            of_families: self.of_families.clone(),
            late: 0,
            next_deadline: self.next_deadline(),
        }
    }

    /// Adds a call to the line of its party. Returns whether it has to end before all others.
    pub(super) fn begin(&mut self, mut call: Call) -> Result<bool, (Done, &'static str)> {
        if self.is_closed {
            return Err((call.done, "the scheduler is stopping"));
        }
        if self.calls.contains_key(&call.id) {
            return Err((call.done, "a call of this id is under way"));
        }
        if !self.may_wait(&call.party) {
            return Err((call.done, "too many calls wait for their turn"));
        }
        self.last_serial += 1;
        call.serial = self.last_serial;
        let is_first = self.next_deadline().is_none_or(|first| call.deadline < first);
        self.deadlines.insert((call.deadline, call.serial, call.id.clone()));
        self.lines.push(&call.party, &call.id);
        self.calls.insert(call.id.clone(), call);
        Ok(is_first)
    }

    /// Whether the caller is to hand calls out; `false` if somebody does it already.
    pub(super) fn start_handing_out(&mut self) -> bool {
        !std::mem::replace(&mut self.is_handing_out, true)
    }

    /// Takes the next call that an executor has a place for. `None` ends the handing out.
    pub(super) fn hand_out(&mut self) -> Option<(u64, Offerer, Invocation)> {
        let handed = self.take_next();
        self.is_handing_out = handed.is_some();
        handed
    }

    /// Whether one more call of a party may wait.
    fn may_wait(&self, party: &Party) -> bool {
        let (all, reserve) = (limits::CALLS_WAITING.value, limits::CALLS_WAITING_RESERVE.value);
        let of_operators = self.lines.length_of_operators();
        let has_room = match party {
            Party::Operators => true,
            Party::Family(_) => self.lines.length() - of_operators < all - reserve,
        };
        has_room && self.lines.length() < all
    }

    fn take_next(&mut self) -> Option<(u64, Offerer, Invocation)> {
        if self.in_flight >= limits::CALLS_IN_FLIGHT.value {
            return None;
        }
        // Summed each time: there are no more entries than calls in flight.
        let of_families: u64 = self.of_families.values().sum();
        // Operators have the reserve, and no bound of a family.
        let has_room = |party: &Party| match party {
            Party::Operators => true,
            Party::Family(root) => {
                of_families < limits::CALLS_IN_FLIGHT.value - limits::CALLS_RESERVE.value
                    && self.of_families.get(root).is_none_or(|count| *count < limits::CALLS_OF_SESSION.value)
            }
        };
        let can_go_on = |id: &str| {
            self.calls.get(id).is_some_and(|call| {
                let taken = self.of_executors.get(&call.offerer.number).copied().unwrap_or(0);
                taken < call.places_at_executor()
            })
        };
        // A call whose executor is full lets later calls pass: one slow executor must not hold up the others.
        let id = self.lines.take(has_room, can_go_on)?;
        let call = self.calls.get_mut(&id)?;
        let handed = (call.serial, call.offerer.clone(), call.waiting.take()?);
        self.in_flight += 1;
        if let Party::Family(root) = &call.party {
            *self.of_families.entry(root.clone()).or_default() += 1;
        }
        *self.of_executors.entry(call.offerer.number).or_default() += 1;
        Some(handed)
    }

    /// Returns whether this very call has not ended.
    pub(super) fn has(&self, id: &str, serial: u64) -> bool {
        self.calls.get(id).is_some_and(|call| call.serial == serial)
    }

    /// Takes a call out, if it is there; with a serial number only that one.
    pub(super) fn end(&mut self, id: &str, serial: Option<u64>) -> Option<Ended> {
        // A late outcome of an earlier call must not end a later one that has its id.
        self.calls.get(id).filter(|call| serial.is_none_or(|serial| call.serial == serial))?;
        let call = self.calls.remove(id)?;
        Some(self.ended(call))
    }

    /// Gives a call more time and another receiver; returns the former one.
    pub(super) fn replace(&mut self, id: &str, deadline: BootTime, done: Done) -> Option<Done> {
        let call = self.calls.get_mut(id)?;
        self.deadlines.remove(&(call.deadline, call.serial, call.id.clone()));
        call.deadline = deadline;
        self.deadlines.insert((deadline, call.serial, call.id.clone()));
        Some(std::mem::replace(&mut call.done, done))
    }

    pub(super) fn take_overdue(&mut self, now: BootTime) -> Vec<(Box<str>, Ended)> {
        let mut ended = Vec::new();
        while let Some((.., id)) = self.deadlines.first().filter(|(deadline, ..)| *deadline <= now).cloned() {
            let Some(call) = self.calls.remove(&id) else { return ended };
            let call = self.ended(call);
            ended.push((id, call));
        }
        ended
    }

    /// Takes all calls out, and lets no other begin.
    pub(super) fn close(&mut self) -> Vec<(Box<str>, Ended)> {
        self.is_closed = true;
        let ids: Vec<Box<str>> = self.calls.keys().cloned().collect();
        ids.into_iter().filter_map(|id| self.end(&id, None).map(|ended| (id, ended))).collect()
    }

    pub(super) fn take_of(&mut self, executor: u32) -> Vec<(Box<str>, Ended)> {
        let of = |call: &&Call| call.offerer.number == executor;
        let ids: Vec<Box<str>> = self.calls.values().filter(of).map(|call| call.id.clone()).collect();
        ids.into_iter().filter_map(|id| self.end(&id, None).map(|ended| (id, ended))).collect()
    }

    fn ended(&mut self, call: Call) -> Ended {
        let Call { id, party, tool, offerer, began, deadline, serial, waiting, done } = call;
        let is_with_executor = waiting.is_none();
        if is_with_executor {
            self.in_flight -= 1;
            if let Party::Family(root) = &party {
                give_back(&mut self.of_families, root);
            }
            give_back(&mut self.of_executors, &offerer.number);
        } else {
            self.lines.remove(&party, &id);
        }
        self.deadlines.remove(&(deadline, serial, id));
        Ended { tool, offerer, began, is_with_executor, done }
    }
}

/// Counts one place less. What has none left is not counted, so that the table does not grow with what was.
fn give_back<K: Ord + Clone>(counts: &mut BTreeMap<K, u64>, of: &K) {
    if let Some(count) = counts.get_mut(of) {
        *count -= 1;
        if *count == 0 {
            counts.remove(of);
        }
    }
}
