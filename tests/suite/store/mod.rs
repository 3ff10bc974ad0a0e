//! The durable stores: one suite for all of them, and what is particular to the one in a file.
//!
//! `conformance`: the contract. `opening`: who may open what. `damage`: flipped and missing bytes. `chain`: what another program
//! changed. `clock`: a wall clock that is wrong for a moment. `disk`: a full disk and flushes that fail. `kills`: processes that
//! end in the middle.

mod chain;
mod clock;
mod conformance;
mod damage;
mod disk;
mod kills;
mod opening;
mod scratch;
