//! What somebody outside writes down: what was asked and acknowledged, what the harness saw, what the scheduler's log says.

use std::collections::BTreeSet;

use reveille::domain::{Cursor, Fact, Moment, Reason, RunFact, ScheduleFact};
use reveille::edn::{Caps, read};
use reveille::port::Store;
use reveille::runtime::codec;
use reveille_checker::Event;

use super::plan::told_moment;
use super::target::Seen;

/// All events so far, in the order in which they happened.
#[derive(Default)]
pub(crate) struct Diary {
    pub(crate) events: Vec<Event>,
    received: BTreeSet<(String, Moment)>,
    /// How far the log was read.
    read: Cursor,
}

impl Diary {
    pub(crate) fn note(&mut self, event: Event) {
        self.events.push(event);
    }

    pub(crate) fn receive(&mut self, seen: &Seen) {
        let (schedule, slot) = (seen.run.schedule.to_string(), seen.run.slot);
        self.received.insert((schedule.clone(), slot));
        self.note(Event::Receive {
            at: told_moment(seen.at),
            schedule,
            run: seen.run.to_string(),
            slot: Some(told_moment(slot)),
            session: Some(seen.session.to_string()),
        });
    }

    /// Reads what the log says of slots that were not delivered. Only what is kept stands there: what a crash took with it
    /// was never said.
    pub(crate) fn read_log(&mut self, store: &dyn Store) {
        loop {
            let found = store.facts_after(self.read).expect("the store is sound");
            let Some(last) = found.last() else { return };
            self.read = last.cursor;
            for record in &found {
                if !SAYS_NO.contains(&&*record.kind) {
                    continue;
                }
                let form = read(&record.payload, &CAPS).expect("it is EDN");
                let fact = codec::parse(form.as_map().expect("a fact is a map")).expect("it is a fact");
                self.events.extend(self.said(&fact));
            }
        }
    }

    fn said(&self, fact: &Fact) -> Option<Event> {
        match fact {
            Fact::Schedule(id, ScheduleFact::Skipped(skip)) => Some(Event::Skip {
                schedule: id.to_string(),
                from: told_moment(skip.from),
                until: told_moment(skip.until),
                count: skip.count,
                reason: skip.reason.name().into(),
            }),
            Fact::Run(run, RunFact::Failed(failure), _) => self.not_delivered(run, failure.reason),
            Fact::Run(run, RunFact::Cancelled { reason }, _) => self.not_delivered(run, *reason),
            Fact::Schedule(..)
            | Fact::Run(..)
            | Fact::Session(..)
            | Fact::Created { .. }
            | Fact::Host(..)
            | Fact::Channel(..)
            | Fact::Engine(_) => None,
        }
    }

    /// A run that did not end well has failed all the same where the harness saw it: then it says nothing of its slot.
    fn not_delivered(&self, run: &reveille::domain::RunId, reason: Reason) -> Option<Event> {
        let schedule = run.schedule.to_string();
        let was_seen = self.received.contains(&(schedule.clone(), run.slot));
        let (slot, reason) = (told_moment(run.slot), reason.name().into());
        (!was_seen).then_some(Event::Skip { schedule, from: slot, until: slot, count: 1, reason })
    }
}

/// The kinds of facts that say of a slot that it is not delivered.
const SAYS_NO: [&str; 3] = ["slots-skipped", "run-failed", "run-cancelled"];
const CAPS: Caps = Caps { bytes_max: 1 << 28, depth_max: 128, digits_max: 1_000, forms_max: u32::MAX };
