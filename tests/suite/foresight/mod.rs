//! What will happen, and what has happened or not and why: forecasts against the simulated future, explanations as rows.

mod explain;
mod forecast;
mod frequent;
mod outage;
mod waits;
mod what_if;
