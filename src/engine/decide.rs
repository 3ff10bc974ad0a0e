//! The one entrance: an input becomes facts and effects, or a refusal that changes nothing.

use std::collections::BTreeSet;

use super::draft::{Draft, Given, Step};
use super::input::{Command, Input, Report, StoreInput};
use super::local_fact::LocalFact;
use super::state::State;
use super::step;
use crate::domain::{ChannelFact, Fact, HostFact, Refusal};

/// Decides on one input.
///
/// # Errors
/// A [`Refusal`], for inputs that the state does not allow. Nothing has changed then.
pub fn decide(state: &State, input: Input, given: Given<'_>) -> Result<Step, Refusal> {
    decide_into(Step::default(), state, input, given)
}

/// Does the same in the memory of an earlier step, which must be empty: a burst is a hundred thousand steps.
///
/// # Errors
/// As [`decide`]; the memory is let go then.
pub fn decide_into(step: Step, state: &State, input: Input, given: Given<'_>) -> Result<Step, Refusal> {
    let is_empty = step.facts.is_empty() && step.local.is_empty() && step.effects.is_empty();
    debug_assert!(is_empty, "left over: {step:?}");
    let mut draft = Draft::new(step, state, given);
    match input {
        Input::Command(command) => decide_command(&mut draft, command)?,
        Input::Report(report) => decide_report(&mut draft, report)?,
        Input::Wake => step::wake(&mut draft),
        Input::SettleFirst { schedule } => step::settle_first(&mut draft, &schedule),
        Input::FillLanes => step::fill_lanes(&mut draft, &BTreeSet::new()),
        Input::Store(input) => decide_store(&mut draft, input),
        Input::Awake { lost } => step::awake(&mut draft, lost),
    }
    Ok(draft.finish())
}

fn decide_command(draft: &mut Draft<'_>, command: Command) -> Result<(), Refusal> {
    match command {
        Command::OpenSession { session, host, config } => step::open_session(draft, session, host, config),
        Command::CloseSession { session } => step::close_session(draft, &session),
        Command::HostSessions { host, sessions } => step::host_sessions(draft, host, &sessions),
        Command::CreateSchedule(new) => step::create_schedule(draft, new),
        Command::ReplaceSchedule(new) => step::replace_schedule(draft, new),
        Command::BringForward(which) => step::bring_forward(draft, which),
        Command::CancelSchedule(which) => step::cancel_schedule(draft, which),
        Command::DeleteSchedule(which) => step::delete_schedule(draft, which),
        Command::ChangeSchedule { which, change } => step::change_schedule(draft, which, change),
        Command::PauseSchedule { which, reason } => step::pause_schedule(draft, which, reason),
        Command::ResumeSchedule(which) => step::resume_schedule(draft, which),
        Command::RunNow(which) => step::run_now(draft, which),
        Command::SkipNext(which) => step::skip_next(draft, which),
        Command::JobReady { session, job } => step::job_ready(draft, session, job),
        Command::HoldAll { by, reason } => step::hold_all(draft, by, reason),
        Command::ReleaseAll { by } => step::release_all(draft, by),
        Command::Approve { run, digest, by } => step::approve(draft, run, digest, by),
        Command::Deny { run, why, by } => step::deny(draft, run, why, by),
        Command::SetGuard { policy, by } => step::set_guard(draft, policy, by),
        Command::SetGrant { session, grant, by } => step::set_grant(draft, session, grant, by),
        Command::Shutdown { abandon } => {
            draft.fact(Fact::Stopping { abandon });
            Ok(())
        }
    }
}

fn decide_report(draft: &mut Draft<'_>, report: Report) -> Result<(), Refusal> {
    match report {
        Report::Busy { session, busy } => step::busy(draft, session, busy),
        Report::UserMessage { session, text } => step::user_message(draft, session, text),
        Report::Created { run } => step::created(draft, &run),
        Report::Accepted { run } => step::accepted(draft, &run),
        Report::Failed { run, failure } => step::failed(draft, &run, failure),
        Report::ChannelOpened(channel) => {
            draft.fact(Fact::Channel(channel.name.clone(), ChannelFact::Opened(channel)));
            Ok(())
        }
        Report::GuardAnswered { run, digest, answer } => step::answered(draft, &run, digest, answer),
        Report::HostAttached { host } => {
            draft.fact(Fact::Host(host, HostFact::Attached));
            Ok(())
        }
        Report::HostLost { host } => {
            step::host_lost(draft, host);
            Ok(())
        }
    }
}

fn decide_store(draft: &mut Draft<'_>, input: StoreInput) {
    match input {
        StoreInput::LogEnds { at } if at <= draft.state.cursor => {}
        StoreInput::LogEnds { at } => draft.local_fact(LocalFact::LogEnds { at }),
        StoreInput::Rows(rows) => step::restore(draft, rows),
        StoreInput::Failed { unsent } => step::store_failed(draft, unsent),
        StoreInput::Recovered => draft.local_fact(LocalFact::DurableDropped),
    }
}
