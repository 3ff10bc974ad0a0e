//! What an operator has switched on of the primitives: families of tools that exist only where somebody asked for them.
//!
//! What lives elsewhere: which family needs which switch (`Dialect::gate`), and who is shown a tool (`service`). Invariant: the
//! settings do not change while the process lives, because programs read the list of tools once.

use crate::domain::names;
use crate::limits;

names! {
    /// A switch in front of a family of tools.
    Gate {
        /// Tools that watch something and tell of changes.
        Watchers = "watchers",
        /// Tools that call other tools at a time.
        Scheduler = "scheduler",
        /// Tools by which a session remembers.
        Memory = "memory",
        /// Tools that send by channels: there is a channel that the caller may use.
        Channels = "channels",
    }
}

/// The settings of the primitives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Primitives {
    /// The name in the ids of scheduled calls, where several programs share an engine.
    pub app: Box<str>,
    /// Whether sessions may watch.
    pub watchers: bool,
    /// Whether sessions may schedule calls. Needs `watchers`.
    pub scheduler: bool,
    /// Whether sessions may remember.
    pub memory: bool,
    /// How often per hour a session may be woken by what its watches, tasks and scheduled calls came to; 0 for as often as they
    /// have something to tell.
    pub wakes_per_hour: u64,
}

/// The scheduler is on, and what it needs is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("primitives: scheduler = true needs watchers = true")]
pub struct SchedulerNeedsWatchers;

impl Default for Primitives {
    /// Everything is off.
    fn default() -> Primitives {
        Primitives {
            app: "default".into(),
            watchers: false,
            scheduler: false,
            memory: false,
            wakes_per_hour: limits::WAKES_PER_HOUR.value,
        }
    }
}

impl Primitives {
    /// Everything is on, as a program that embeds the crate would switch it on.
    pub fn all() -> Primitives {
        Primitives { watchers: true, scheduler: true, memory: true, ..Primitives::default() }
    }

    /// Checks that the settings go together.
    ///
    /// # Errors
    /// [`SchedulerNeedsWatchers`]
    pub fn check(&self) -> Result<(), SchedulerNeedsWatchers> {
        if self.scheduler && !self.watchers { Err(SchedulerNeedsWatchers) } else { Ok(()) }
    }
}
