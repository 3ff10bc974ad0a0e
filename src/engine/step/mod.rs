//! The transitions, one file each: what follows from an input on a given state.

mod lookup;
pub(super) mod run;
pub(super) mod schedule;
mod session;
mod whole;

pub(super) use run::accepted::accepted;
pub(super) use run::approve::{approve, approved, deny};
pub(super) use run::created::created;
pub(super) use run::failed::failed;
pub(super) use run::guard_answered::guard_answered;
pub(super) use run::returned::returned;
pub(super) use run::unreached::unreached;
pub(super) use schedule::bring_forward::bring_forward;
pub(super) use schedule::cancel_schedule::cancel_schedule;
pub(super) use schedule::change_schedule::change_schedule;
pub(super) use schedule::create_schedule::{create_schedule, replace_schedule};
pub(super) use schedule::delete_schedule::delete_schedule;
pub(super) use schedule::flush_due::flush_due;
pub(super) use schedule::pause_schedule::{pause_schedule, resume_schedule};
pub(super) use schedule::run_now::run_now;
pub(super) use schedule::skip_next::skip_next;
pub(super) use session::addressed::addressed;
pub(super) use session::busy::busy;
pub(super) use session::close_session::close_session;
pub(super) use session::host_left::host_left;
pub(super) use session::host_lost::host_lost;
pub(super) use session::host_sessions::host_sessions;
pub(super) use session::job_ready::job_ready;
pub(super) use session::open_session::open_session;
pub(super) use session::take_left::take_left;
pub(super) use session::user_message::user_message;
pub(super) use whole::hold::{fill_lanes, hold_all, release_all};
pub(super) use whole::restart::restart;
pub(super) use whole::set_guard::{set_grant, set_guard};
pub(super) use whole::store_failed::store_failed;
pub(super) use whole::wake::wake;
