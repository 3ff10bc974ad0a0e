//! Clocks that jump, years that pass, and a daemon that is stopped meanwhile.

mod clock;
mod real_time;
mod restarts;
mod soak;
mod stopped;
mod year;
mod zones;
