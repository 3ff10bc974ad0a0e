//! The one entrance: an input becomes facts and effects, or a refusal that changes nothing.

use super::draft::{Draft, Step};
use super::input::{Command, Input, Report};
use super::state::State;
use super::step;
use crate::domain::{Entropy, Fact, HostFact, Now, Refusal};

/// Decides on one input at `now`. `entropy` is used up by the ids that this step invents.
///
/// # Errors
/// A [`Refusal`], for inputs that the state does not allow. Nothing has changed then.
pub fn decide(state: &State, input: Input, now: Now, entropy: Entropy) -> Result<Step, Refusal> {
    decide_into(Step::default(), state, input, now, entropy)
}

/// Does the same in the memory of an earlier step, which must be empty: a burst is a hundred thousand steps.
///
/// # Errors
/// As [`decide`]; the memory is let go then.
pub fn decide_into(
    step: Step,
    state: &State,
    input: Input,
    now: Now,
    entropy: Entropy,
) -> Result<Step, Refusal> {
    debug_assert!(step.facts.is_empty() && step.effects.is_empty(), "left over: {step:?}");
    let mut draft = Draft::new(step, state, now, entropy);
    match input {
        Input::Command(command) => decide_command(&mut draft, command)?,
        Input::Report(report) => decide_report(&mut draft, report)?,
        Input::Wake => step::wake(&mut draft),
    }
    Ok(draft.finish())
}

fn decide_command(draft: &mut Draft<'_>, command: Command) -> Result<(), Refusal> {
    match command {
        Command::OpenSession { session, host, config } => step::open_session(draft, session, host, config),
        Command::CloseSession { session } => step::close_session(draft, &session),
        Command::HostSessions { host, sessions } => step::host_sessions(draft, host, &sessions),
        Command::CreateSchedule(new) => step::create_schedule(draft, new),
        Command::CancelSchedule { scope, schedule } => step::cancel_schedule(draft, &scope, schedule),
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
