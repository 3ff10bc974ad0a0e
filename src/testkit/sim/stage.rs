//! The simulated surroundings of an engine: one clock, one seed, one history.

use std::sync::Arc;

use crate::calendar::Zones;
use crate::domain::Span;
use crate::port::{Clock, Host};
use crate::runtime::{Handle, Parts, WithoutStore};
use crate::testkit::history::History;
use crate::testkit::recorder::Recorder;
use crate::testkit::sim::sim_clock::SimClock;
use crate::testkit::sim::sim_entropy::SimEntropy;

/// The simulated surroundings of one engine. Clones share them.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The clock, which only the test advances.
    pub clock: Arc<SimClock>,
    /// The randomness.
    pub entropy: Arc<SimEntropy>,
    /// The time zone database.
    pub zones: Arc<Zones>,
    /// The observations of the journal and the hosts.
    pub history: History,
}

impl Stage {
    /// New surroundings with this seed.
    pub fn seeded(seed: u64) -> Stage {
        Stage {
            clock: Arc::new(SimClock::new()),
            entropy: Arc::new(SimEntropy::seeded(seed)),
            zones: Arc::default(),
            history: History::new(),
        }
    }

    /// Runs everything that comes due within a span, each at its own time. Then the clock shows the end of the span.
    pub fn run_for(&self, handle: &Handle, span: Span) {
        let end = self.clock.now().boot.after(span);
        while let Some(next) = handle.run_due().filter(|next| *next <= end) {
            self.clock.advance_to(next);
        }
        self.clock.advance_to(end);
    }

    /// The parts of a runtime in these surroundings, with `local` as its built-in host.
    pub fn parts(&self, local: Arc<dyn Host>) -> Parts {
        Parts {
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            local,
            zones: Arc::clone(&self.zones),
            without_store: WithoutStore::InMemory,
            journal: Some(Box::new(Recorder::new(self.history.clone()))),
        }
    }
}
