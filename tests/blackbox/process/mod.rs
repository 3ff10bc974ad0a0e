//! The daemon as a process: its start and end, its files, its signals, and a second one beside it.

mod log;
mod private;
mod serve;
mod shutdown;
mod two;
