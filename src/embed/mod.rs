//! The scheduler inside your program.
//!
//! # A first delivery
//!
//! ```
//! use reveille::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let reveille = Reveille::start()?;
//! let deliveries = reveille.deliveries();
//! reveille.create("in 50 ms").message("Check whether the build finished.")?;
//! let delivery = deliveries.recv()?;
//! assert_eq!(delivery.text, "Check whether the build finished.");
//! # Ok(())
//! # }
//! ```
//!
//! [`Reveille::start`] runs an engine with a thread of its own, in memory. [`Reveille::builder`] adds a store, a host, and the
//! rest. Dropping the [`Reveille`] stops the engine in good order.
//!
//! # When
//!
//! [`Reveille::create`] takes a phrase (`"every day at 9"`, `"in 10 minutes"`, `"0 9 * * 1-5"`) or a typed value: a
//! [`Duration`](std::time::Duration), a [`SystemTime`](std::time::SystemTime), a [`Span`](crate::domain::Span), a
//! [`Moment`](crate::domain::Moment), a [`Trigger`](crate::domain::Trigger). A phrase is read in the zone that you name, else in
//! that of the builder, else in the machine's; a zone that does not exist is an error.
//!
//! ```
//! # use reveille::prelude::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let reveille = Reveille::start()?;
//! let standup = reveille.create("weekdays at 9").zone("Europe/Berlin").label("stand-up").message("Stand-up in five.")?;
//! reveille.create(std::time::Duration::from_secs(600)).message("Look at the build again.")?;
//!
//! assert_eq!(reveille.schedules().len(), 2);
//! reveille.pause(&standup, Some("holidays"))?;
//! reveille.resume(&standup)?;
//! reveille.reschedule(&standup, "weekdays at 9:30").zone("Europe/Berlin").apply()?;
//! reveille.cancel(&standup)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Deliveries
//!
//! A run is delivered into its session's transcript, and to everybody who listens: [`Reveille::deliveries`] for threads
//! ([`Deliveries::recv`]) and for async code ([`Deliveries::next`], [`Deliveries::poll_next`]), [`Builder::on_delivery`] for a
//! callback. To run agents of your own, give the builder a [`Host`](crate::port::Host).
//!
//! # What it knows
//!
//! [`Reveille::query`] reads the whole graph in EQL: what is scheduled, what was decided and why, what will come.
//!
//! ```
//! # use reveille::prelude::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let reveille = Reveille::start()?;
//! # reveille.create("in 1 hour").message("Look.")?;
//! let answer = reveille.query("[{:psi.scheduler/schedules [:psi.scheduler/status :psi.scheduler/upcoming]}]")?;
//! assert!(answer.to_string().contains(":pending"));
//! # Ok(())
//! # }
//! ```

mod builder;
mod create;
mod deliveries;
mod due;
mod error;
mod scheduler;
mod summary;

pub use builder::Builder;
#[cfg(feature = "cli")]
pub(crate) use builder::system_parts;
pub use create::{Create, Reschedule};
pub use deliveries::{Deliveries, Delivery, Ended};
pub use due::Due;
pub use error::Error;
pub use scheduler::Reveille;
pub use summary::Summary;
