//! One file per transition: each turns one input into facts and effects, and changes nothing itself.
//!
//! `hand_over` holds what several transitions end with: the next delivery of a lane that has become free.

mod accepted;
mod busy;
mod cancel_schedule;
mod close_session;
mod create_schedule;
mod created;
mod failed;
mod hand_over;
mod host_lost;
mod host_sessions;
mod open_session;
mod settle;
mod user_message;
mod wake;

pub(super) use accepted::accepted;
pub(super) use busy::busy;
pub(super) use cancel_schedule::cancel_schedule;
pub(super) use close_session::close_session;
pub(super) use create_schedule::create_schedule;
pub(super) use created::created;
pub(super) use failed::failed;
pub(super) use host_lost::host_lost;
pub(super) use host_sessions::host_sessions;
pub(super) use open_session::open_session;
pub(super) use user_message::user_message;
pub(super) use wake::wake;
