//! What the tests do to a daemon's machine: its clocks, its disk, its power.

pub(crate) mod disk;
pub(crate) mod faketime;
pub(crate) mod journal;
pub(crate) mod layer;
pub(crate) mod machine;
pub(crate) mod time_lapse;
