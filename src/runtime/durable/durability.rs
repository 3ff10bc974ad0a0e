//! What concerns the store: which facts are persisted, and which inputs and effects wait for a commit.
//!
//! | question | asked of | asked | where it is yes |
//! |---|---|---|---|
//! | `asks_for_disk` | an input | before it is decided | the store has to work; a repeated command waits for its first commit |
//! | `lasting` | a fact | when it is applied | it is persisted |
//! | `needs_disk` | a fact | after the decision | the step is refused while the store has failed, and its caller waits |
//! | `waits_for_disk` | an effect | after the step | it is held back until the claim before it is committed |
//! | `report_of_host` | an input | before it is decided | it is repeated if the store fails before the commit |
//!
//! Invariant: volatile work is never in any of these, so that it never waits for a disk.

use crate::domain::{ChannelFact, Durability, EngineFact, Fact, RunId, Schedule, SessionFact, SessionId};
use crate::engine::{Command, Effect, Input, Report, State};

/// A fact that is persisted.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct Lasting<'a> {
    /// The session that the fact is about; for a fact about a schedule, its owner.
    pub(in crate::runtime) session: Option<&'a SessionId>,
    /// The session in whose share of the log the fact counts.
    pub(in crate::runtime) share: Option<&'a SessionId>,
}

/// Metadata needed to persist a fact; `None` if the fact is volatile.
pub(in crate::runtime) fn lasting<'a>(fact: &'a Fact, state: &'a State) -> Option<Lasting<'a>> {
    let session = about(fact, state)?;
    Some(Lasting { session, share: share(fact, session, state) })
}

/// The session in whose share of the log a fact counts: the root of the family that has caused it. So neither fresh
/// sessions nor changes of others' schedules are a way to fill the shares of others.
fn share<'a>(fact: &'a Fact, about: Option<&'a SessionId>, state: &'a State) -> Option<&'a SessionId> {
    if let Fact::Session(_, SessionFact::Opened { provenance: Some(provenance), .. }, _) = fact {
        return Some(&provenance.root);
    }
    let cause = fact.by().and_then(|by| by.scope.session()).or(about)?;
    Some(state.root_of(cause))
}

/// The session that a persisted fact is about, if there is one; `None` if the fact is volatile.
fn about<'a>(fact: &'a Fact, state: &'a State) -> Option<Option<&'a SessionId>> {
    let of = |schedule: &'a Schedule| schedule.is_durable().then_some(Some(&schedule.owner));
    match fact {
        // A new schedule is not in the state yet, so the fact itself says whether it is durable.
        Fact::Created { schedule, .. } => of(schedule),
        Fact::Schedule(id, _) | Fact::Run(RunId { schedule: id, .. }, _, _) => {
            of(state.schedule(id)?.schedule())
        }
        Fact::Session(id, fact, _) => match fact {
            SessionFact::Opened { .. }
            | SessionFact::Closed
            // Persisted although it is about a connection: it decides whether the session is built-in after the next start.
            | SessionFact::HostAttached { .. }
            // The next process has to find the conversation again.
            | SessionFact::Addressed { .. }
            // A schedule for this job may be created after the next start.
            | SessionFact::JobReady { .. }
            | SessionFact::Memory(_)
            // Whether a job is overdue must not depend on a restart.
            | SessionFact::Pinged { .. }
            | SessionFact::ToolsCalled { .. }
            | SessionFact::Granted { .. } => Some(Some(id)),
            // The state of a connection or of a turn means nothing to the next process.
            SessionFact::HostDetached { .. }
            | SessionFact::Busy
            | SessionFact::Idle
            | SessionFact::UserMessage
            | SessionFact::TurnUnreported => None,
        },
        Fact::Engine(EngineFact::Refused { by, .. }) => Some(by.scope.session()),
        Fact::Engine(
            EngineFact::AllHeld { .. }
            | EngineFact::AllReleased { .. }
            | EngineFact::GuardPolicySet { .. }
            | EngineFact::Restarted { .. },
        )
        | Fact::Channel(_, ChannelFact::Paused { .. } | ChannelFact::Resumed { .. }) => Some(None),
        // Each process learns its hosts and channels anew.
        Fact::Host(..)
        | Fact::Channel(_, ChannelFact::Opened(_) | ChannelFact::Disabled)
        | Fact::Engine(EngineFact::Stopping { .. }) => None,
    }
}

/// Whether a fact must be committed before the caller is answered: one about a schedule, a hold, the guard's policy,
/// what a session remembers or a ping. A session may be opened and closed without the store; its row is written once the store
/// works again.
pub(in crate::runtime) fn needs_disk(fact: &Fact, state: &State) -> bool {
    if state.quiet_check(fact).is_some_and(|quiet| !quiet.is_kept) {
        return false;
    }
    let is_written_later = match fact {
        Fact::Session(_, fact, _) => {
            !matches!(fact, SessionFact::Granted { .. } | SessionFact::Memory(_) | SessionFact::Pinged { .. })
        }
        Fact::Engine(EngineFact::Restarted { .. } | EngineFact::Refused { .. }) => true,
        Fact::Created { .. }
        | Fact::Schedule(..)
        | Fact::Run(..)
        | Fact::Host(..)
        | Fact::Channel(..)
        | Fact::Engine(
            EngineFact::AllHeld { .. }
            | EngineFact::AllReleased { .. }
            | EngineFact::GuardPolicySet { .. }
            | EngineFact::Stopping { .. },
        ) => false,
    };
    !is_written_later && about(fact, state).is_some()
}

/// Whether an input is a command on durable work.
pub(in crate::runtime) fn asks_for_disk(input: &Input, state: &State) -> bool {
    let Input::Command(command) = input else { return false };
    match command {
        Command::CreateSchedule(new) | Command::ReplaceSchedule(new) | Command::Supersede { new, .. } => {
            new.durability != Durability::Volatile
        }
        Command::CancelSchedule(which)
        | Command::CancelCall(which)
        | Command::DeleteSchedule(which)
        | Command::ChangeSchedule { which, .. }
        | Command::PauseSchedule { which, .. }
        | Command::ResumeSchedule(which)
        | Command::RunNow { which, .. }
        | Command::BringForward(which)
        | Command::SkipNext(which) => {
            state.schedule(&which.schedule).is_some_and(|record| record.schedule().is_durable())
        }
        Command::Approve { run, .. } | Command::Deny { run, .. } | Command::AnswerQuestion { run, .. } => {
            is_durable(run, state)
        }
        Command::TakeLeft { runs, .. } => runs.iter().any(|run| is_durable(run, state)),
        Command::HoldAll { .. }
        | Command::ReleaseAll { .. }
        | Command::SetGuard { .. }
        | Command::PauseChannel { .. }
        | Command::ResumeChannel { .. }
        | Command::ChangeMemory { .. }
        | Command::Ping { .. }
        | Command::SetGrant { .. }
        | Command::ChangeGrant { .. } => true,
        // These work without the store too. What of them is persisted is written once the store works again.
        Command::OpenSession { .. }
        | Command::CloseSession { .. }
        | Command::HostSessions { .. }
        | Command::JobReady { .. }
        | Command::Shutdown { .. } => false,
    }
}

fn is_durable(run: &RunId, state: &State) -> bool {
    state.schedule(&run.schedule).is_some_and(|record| record.schedule().is_durable())
}

/// A host's report about a durable run, to be repeated if the store fails before it is committed.
pub(in crate::runtime) fn report_of_host(input: &Input, state: &State) -> Option<Report> {
    let Input::Report(report) = input else { return None };
    let (Report::Created { run }
    | Report::Accepted { run }
    | Report::Unreached { run, .. }
    | Report::Returned { run, .. }
    | Report::Failed { run, .. }) = report
    else {
        return None;
    };
    is_durable(run, state).then(|| report.clone())
}

/// Whether an effect dispatches durable work, whose claim must be committed first.
pub(in crate::runtime) fn waits_for_disk(effect: &Effect, state: &State) -> bool {
    // Most checks of a bound watch are never stored (`engine/quiet.rs`), so there is no commit to wait for.
    let is_quiet = |run: &RunId| matches!(effect, Effect::Call { .. }) && state.is_bound(&run.schedule);
    run_of(effect).is_some_and(|run| is_durable(run, state) && !is_quiet(run))
}

/// The runs that an effect dispatches: one, or with it further bulletins in its delivery.
pub(super) fn runs_of(effect: &Effect) -> impl Iterator<Item = &RunId> {
    let with = if let Effect::Deliver(delivery) = effect { delivery.with.as_slice() } else { &[] };
    run_of(effect).into_iter().chain(with)
}

/// The run that an effect dispatches; `None` if it dispatches none.
pub(super) fn run_of(effect: &Effect) -> Option<&RunId> {
    match effect {
        Effect::Deliver(delivery) => Some(&delivery.run),
        Effect::CreateSession(opening) => Some(&opening.run),
        Effect::Send(parcel) => Some(&parcel.run),
        Effect::Call { run, .. } => Some(run),
        // A question to the guard dispatches nothing.
        Effect::AskGuard(_) => None,
        Effect::AnswerQuestion(_)
        | Effect::CancelCall { .. }
        | Effect::OpenSession { .. }
        | Effect::RecordMessage { .. }
        | Effect::ForgetSession { .. } => None,
    }
}
