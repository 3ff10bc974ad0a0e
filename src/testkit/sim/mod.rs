//! Simulated surroundings: clock, randomness, hosts, courier, guard.

pub(in crate::testkit) mod behaviour;
pub(in crate::testkit) mod sim_clock;
pub(in crate::testkit) mod sim_courier;
pub(in crate::testkit) mod sim_entropy;
pub(in crate::testkit) mod sim_executor;
pub(in crate::testkit) mod sim_guard;
pub(in crate::testkit) mod sim_host;
pub(in crate::testkit) mod sim_places;
pub(in crate::testkit) mod sim_results;
pub(in crate::testkit) mod sim_tools;
pub(in crate::testkit) mod stage;
