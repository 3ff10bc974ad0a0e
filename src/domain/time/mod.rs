//! Instants, spans, zones and triggers.

#[cfg(feature = "chrono")]
pub(in crate::domain) mod chrono;
pub(in crate::domain) mod cron;
pub(in crate::domain) mod moment;
pub(in crate::domain) mod out_of_range;
pub(in crate::domain) mod std_time;
pub(in crate::domain) mod trigger;
pub(in crate::domain) mod when;
pub(in crate::domain) mod zone;
