//! The entry point of every rule: an input becomes facts and effects, or a refusal that changes
//! nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::input::{Command, Input, Report, StoreInput};
use super::local_fact::LocalFact;
use super::row::StoredRow;
use super::state::State;
use super::step;
use super::step_builder::{Env, Step, StepBuilder};
use crate::domain::{ChannelFact, EngineFact, Fact, HostFact, Refusal};

/// Decides on one input, and returns the facts and effects that follow from it.
///
/// # Errors
/// Returns a [`Refusal`] if the state does not allow the input. Nothing has changed then.
pub fn decide(state: &State, input: Input, env: Env<'_>) -> Result<Step, Refusal> {
    decide_into(Step::default(), state, input, env)
}

/// Like [`decide`], but reuses the allocations of an earlier step, which must be empty. A burst is
/// a hundred thousand steps, and an allocation for each would show.
///
/// # Errors
/// As [`decide`]; the reused allocations are dropped then.
pub(crate) fn decide_into(step: Step, state: &State, input: Input, env: Env<'_>) -> Result<Step, Refusal> {
    let is_empty = step.facts.is_empty() && step.local.is_empty() && step.effects.is_empty();
    debug_assert!(is_empty, "left over: {step:?}");
    // An error below drops the step with everything recorded in it, so a refusal leaves no trace.
    let mut step = StepBuilder::new(step, state, env);
    match input {
        Input::Command(command) => decide_command(&mut step, command)?,
        Input::Report(report) => decide_report(&mut step, report)?,
        Input::Wake => step::wake(&mut step),
        Input::FlushDue { schedule } => step::flush_due(&mut step, &schedule),
        // The set holds lanes that the same step has taken: none here.
        Input::FillLanes => step::fill_lanes(&mut step, &BTreeSet::new()),
        Input::Store(input) => decide_store(&mut step, input),
        Input::Restart { lost, downs, named } => step::restart(&mut step, (lost, &named), &downs),
    }
    Ok(step.finish())
}

fn decide_command(step: &mut StepBuilder<'_>, command: Command) -> Result<(), Refusal> {
    match command {
        Command::OpenSession { session, host, config, by } => {
            step::open_session(step, session, host, config, by)
        }
        Command::CloseSession { session, by } => step::close_session(step, &session, by),
        Command::HostSessions { host, sessions, busy, by } => {
            step::host_sessions(step, host, (&sessions, busy), by.as_ref())
        }
        Command::TakeLeft { session, runs, by } => step::take_left(step, &session, &runs, by),
        Command::ChangeMemory { session, change, by } => step::change_memory(step, &session, change, by),
        Command::Ping { session, name, by } => step::ping(step, &session, name, by),
        Command::CreateSchedule(new) => step::create_schedule(step, new),
        Command::ReplaceSchedule(new) => step::replace_schedule(step, new),
        Command::Supersede { new, of } => step::supersede(step, new, of.as_ref()),
        Command::BringForward(which) => step::bring_forward(step, which),
        Command::CancelSchedule(which) => step::cancel_schedule(step, which),
        Command::CancelCall(which) => step::cancel_call(step, which),
        Command::DeleteSchedule(which) => step::delete_schedule(step, which),
        Command::ChangeSchedule { which, change } => step::change_schedule(step, which, *change),
        Command::PauseSchedule { which, reason } => step::pause_schedule(step, which, reason),
        Command::ResumeSchedule(which) => step::resume_schedule(step, which),
        Command::RunNow { which, keeps_slot } => step::run_now(step, which, keeps_slot),
        Command::SkipNext(which) => step::skip_next(step, which),
        Command::JobReady { session, job, by } => step::job_ready(step, &session, job, by),
        Command::HoldAll { by, reason } => step::hold_all(step, by, reason),
        Command::ReleaseAll { by } => step::release_all(step, by),
        Command::PauseChannel { channel, ways, by } => step::pause_channel(step, (channel, ways), &by),
        Command::ResumeChannel { channel, ways, by } => step::resume_channel(step, (channel, ways), &by),
        Command::Approve { run, digest, by } => step::approve(step, run, digest, by),
        Command::Deny { run, why, by } => step::deny(step, run, why, by),
        Command::AnswerQuestion { run, decided } => step::answer_question(step, &run, *decided),
        Command::SetGuard { policy, by } => step::set_guard(step, policy, by),
        Command::SetGrant { session, grant, by } => step::set_grant(step, session, grant, by),
        Command::ChangeGrant { session, change, by } => step::change_grant(step, session, change, by),
        Command::Shutdown { abandon } => {
            // Only the mode changes here. What waits is cancelled by the wake-ups that follow, one
            // session each, so that no single step grows with the number of schedules.
            step.fact(Fact::Engine(EngineFact::Stopping { abandon }));
            Ok(())
        }
    }
}

fn decide_report(step: &mut StepBuilder<'_>, report: Report) -> Result<(), Refusal> {
    match report {
        Report::Busy { session, busy, by } => step::busy(step, session, busy, by),
        Report::UserMessage { session, text, by } => step::user_message(step, session, text, by),
        Report::ToolsCalled { session, tools, by } => step::tools_called(step, session, tools, by),
        Report::Created { run } => step::created(step, &run),
        Report::Accepted { run } => step::accepted(step, &run),
        Report::Returned { run, outcome, line, reading, awaited } => {
            step::returned(step, &run, (outcome, &line, reading), awaited)
        }
        Report::Stirred { schedule } => step::stirred(step, schedule),
        Report::Unreached { run, reason } => step::unreached(step, &run, reason),
        Report::Away { session, reason } => step::away(step, &session, reason),
        Report::Addressed { session, address } => step::addressed(step, session, address),
        Report::AgentSchedules { session, said } => step::agent_schedules(step, session, said),
        Report::Failed { run, failure } => step::failed(step, &run, failure),
        Report::ChannelOpened(channel) => {
            // Opening a channel again replaces it, which also enables one that was disabled.
            step.fact(Fact::Channel(channel.name.clone(), ChannelFact::Opened(channel)));
            Ok(())
        }
        Report::Switched(primitives) => {
            step.local_fact(LocalFact::Switched(primitives));
            Ok(())
        }
        Report::GuardAnswered { run, digest, answer } => step::guard_answered(step, &run, digest, answer),
        Report::Refused { by, op } => {
            step.fact(Fact::Engine(EngineFact::Refused { by, op }));
            Ok(())
        }
        Report::HostAttached { host, by } => {
            step.fact(Fact::Host(host, HostFact::Attached, by.map(Arc::new)));
            Ok(())
        }
        Report::HostLeft { host } => {
            step::host_left(step, host);
            Ok(())
        }
        Report::HostLost { host } => {
            step::host_lost(step, host);
            Ok(())
        }
    }
}

fn decide_store(step: &mut StepBuilder<'_>, input: StoreInput) {
    match input {
        // Cursors only grow. A log that ends at or before the present cursor changes nothing.
        StoreInput::LogEnds { at } if at <= step.state.cursor => {}
        StoreInput::LogEnds { at } => step.local_fact(LocalFact::LogEnds { at }),
        StoreInput::Rows(rows) => {
            for row in rows {
                // A session that is open is newer than its row. Schedules and settings are not in memory when their rows are
                // loaded.
                if let StoredRow::Session(row) = &row
                    && step.state.session(&row.id).is_some()
                {
                    step::restore_memory(step, row);
                } else {
                    step.local_fact(LocalFact::Restored(row));
                }
            }
        }
        StoreInput::Failed { unsent, undone, why } => step::store_failed(step, unsent, undone, why),
        StoreInput::Recovered => step.local_fact(LocalFact::DurableDropped),
    }
}
