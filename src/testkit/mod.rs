//! A test kit: simulated surroundings for an engine, seeded random worlds, and the laws that hold
//! in all of them.
//!
//! For Reveille's own tests and for those of programs that embed it. [`Stage`] is a clock that the
//! test moves, seeded randomness and a history; [`SimHost`] treats deliveries as configured;
//! [`World`] performs random actions on an engine and checks the [`Laws`] after each. What lives
//! elsewhere: the traits that are simulated (`port`). Invariant: nothing here reads a real clock or
//! waits; one seed always gives one world.
//!
//! ```
//! use std::sync::Arc;
//!
//! use reveille::domain::{HostId, SessionConfig, SessionId, Span, When};
//! use reveille::engine::NewSchedule;
//! use reveille::runtime::Handle;
//! use reveille::testkit::{SimHost, Stage};
//!
//! let stage = Stage::seeded(7);
//! let host = Arc::new(SimHost::new(&stage, HostId::LOCAL));
//! let handle = Handle::new(stage.parts(host.clone()));
//!
//! let owner = SessionId::new("assistant")?;
//! handle.open_session(Some(owner.clone()), HostId::LOCAL, SessionConfig::default())?;
//! let in_ten_minutes = When::After(Span::from_millis(600_000));
//! handle.schedule(NewSchedule::message(owner, in_ten_minutes, "check the build"))?;
//!
//! stage.clock.advance(Span::from_millis(599_999));
//! handle.run_due();
//! assert!(host.prompts().is_empty(), "never early");
//!
//! stage.clock.advance(Span::from_millis(1));
//! handle.run_due();
//! assert_eq!(&*host.prompts()[0].text, "check the build");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A custom world, with fewer faults:
//!
//! ```
//! use reveille::testkit::{Action, Behaviour, World, WorldConfig};
//!
//! let config = WorldConfig { steps: 40, behaviours: Behaviour::FAULTLESS.to_vec(), ..WorldConfig::default() };
//! World::new(7, config.without(Action::LoseHost)).run()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod actions;
mod breach;
mod checks;
mod disk;
mod history;
mod laws;
mod recorder;
mod reference;
mod sim;
pub mod store_conformance;
mod store_maker;
mod store_memory;
mod store_pruning;
mod tally;
mod token;
mod trace;
mod world;
mod world_config;

pub use breach::Breach;
pub use checks::law::StateView;
pub use history::{History, Observation, Reception, Seen};
pub use laws::{Broken, Laws, feed_tells_all, reads_change_nothing};
pub use recorder::Recorder;
pub use sim::behaviour::Behaviour;
pub use sim::sim_clock::SimClock;
pub use sim::sim_entropy::SimEntropy;
pub use sim::sim_executor::{CallAnswer, SimExecutor};
pub use sim::sim_guard::SimGuard;
pub use sim::sim_host::SimHost;
pub use sim::sim_tools::{SimTools, ToolPlan};
pub use sim::stage::Stage;
#[doc(hidden)]
pub use store_memory::{DiskFault, StoreMemory, Torn};
pub use tally::Tally;
#[doc(hidden)]
pub use token::token_of;
pub use trace::Trace;
pub use world::World;
pub use world_config::{Action, WorldConfig};
