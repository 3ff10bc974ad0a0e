//! The program: wiring, and one file per command. The only place that knows a process.

#[cfg(feature = "cli")]
mod demo;
#[cfg(feature = "embed")]
mod embedded;
#[cfg(feature = "cli")]
mod run;
#[cfg(feature = "cli")]
mod signals;
#[cfg(feature = "cli")]
mod stdio;
#[cfg(feature = "cli")]
mod tool;

#[cfg(feature = "embed")]
pub use embedded::Embedded;
#[cfg(feature = "cli")]
pub use run::run;
