//! The daemon as a user has it: the real binary, its real files, and nothing but what it says. Source: reliability T10, T11, T12,
//! T13, T14, T16, T20, T21, T22b, T23, T25, T26, T36, T53, T55, T63.
//!
//! Every run writes down what was done and seen (`diary`), and the checker of histories judges it where there was work to judge;
//! `HISTORY_DIR=DIR` keeps the histories, which `just check-history FILE` reads.
//!
//! `KILLS=10000 cargo test --release --test blackbox storage::kills:: -- --nocapture` makes the kill loop longer and prints
//! its figures, and `CUTS=150 cargo test --release --test blackbox storage::power:: -- --nocapture` makes more
//! power cuts.
//! `REVEILLE_BINARY=/path/to/reveille` runs the tests on another program than the one that was built with them.
//! Rows that need something of the machine (mounting a small disk, `cc`, libfaketime) say so aloud where it is missing.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    reason = "a failing helper fails its test; figures and skipped rows are told"
)]

mod agents;
mod attacks;
mod clients;
mod faults;
mod harness;
mod primitives;
mod process;
mod storage;
mod time;
