//! Recovery: loading what the previous process persisted, and reloading it when a store that failed works again.
//!
//! Loading is an input like any other ([`StoreInput`]): the rows become local facts, which the engine's fold applies.
//! Invariant: attaching a store loads all of its rows or none; after an error the engine is as it was, its feed included.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::codec;
use super::persister::{Persister, StoreEvent};
use super::recovery_error::RecoveryError;
use super::stored_rows::{self, Row};
use super::transcripts::StoredMessage;
use crate::domain::{
    Cursor, Decision, Downtime, GuardPolicy, HostId, LostSchedule, ScheduleId, Scope, SessionConfig,
    SessionId,
};
use crate::engine::{
    Command, Effect, Input, Report, ScheduleRow, SessionRow, State, StoreInput, StoredRow, Which,
};
use crate::limits;
use crate::port::{HistoryQuery, Store, Ticket};
use crate::runtime::core::Core;
use crate::runtime::feed::Feed;
use crate::runtime::shared::Shared;

/// How a store is attached.
#[derive(Clone, Debug, Default)]
pub struct AttachOptions {
    /// Volatile schedules that ended with the previous process; they are reported as lost.
    pub lost: u64,
    /// These schedules, as far as they are known.
    pub named: Box<[LostSchedule]>,
    /// The latest times in which no process was there, oldest first, the one that ends now included. Explanations name them.
    pub downs: Box<[Downtime]>,
    /// The guard's policy, in force before anything is dispatched: `Some(None)` for none. `None` keeps the stored one.
    pub policy: Option<Option<Arc<GuardPolicy>>>,
    /// Leaves runs that were in flight as they are, for the next process to recover. For a
    /// writer that serves no client. The other options have no effect then.
    pub asleep: bool,
}

/// Loads what a store has, and decides what becomes of it.
pub(in crate::runtime) fn load_and_recover(
    shared: &Arc<Shared>,
    store: Arc<dyn Store>,
    events: Sender<StoreEvent>,
    options: AttachOptions,
) -> Result<(), RecoveryError> {
    // Read before the lock is taken, because this waits for the disk.
    let earlier = if options.asleep { Vec::new() } else { last_decisions(&*store) };
    let mut core = shared.core_mut();
    let policy = options.policy.filter(|_| !options.asleep).map(|policy| (policy, Before::of(&core)));
    let (found, previous) = load_store(shared, &mut core, store, events)?;
    // Before anything else is told of what was loaded: this is the last that can fail.
    if let Some((policy, before)) = policy
        && let Err(error) = set_policy(shared, &mut core, policy)
    {
        before.restore(&mut core);
        core.persister = previous;
        return Err(error);
    }
    restore_sessions(shared, &mut core, found);
    if options.asleep {
        return Ok(());
    }
    // After the rows: loading them empties the feed.
    core.feed.restore(earlier);
    submit_restart(shared, &mut core, (options.lost, options.named), options.downs);
    drop(core);
    shared.perform();
    Ok(())
}

/// The engine before a store is attached, to go back to. It is cheap: as a rule there is nothing in it at this point.
struct Before {
    state: State,
    feed: Feed,
    /// How many effects were pending.
    effects: usize,
}

impl Before {
    fn of(core: &Core) -> Before {
        Before { state: core.state.clone(), feed: core.feed.clone(), effects: core.outbox.len() }
    }

    fn restore(self, core: &mut Core) {
        (core.state, core.feed) = (self.state, self.feed);
        core.outbox.truncate(self.effects);
    }
}

/// Sets the guard's policy, and waits until it is on disk.
fn set_policy(
    shared: &Shared,
    core: &mut Core,
    policy: Option<Arc<GuardPolicy>>,
) -> Result<(), RecoveryError> {
    let guard = Input::Command(Command::SetGuard { policy, by: Scope::Operator.into() });
    let ticket = core
        .step(guard, shared.now(), || shared.random_bits())
        .map_err(|refusal| RecoveryError::Policy { why: refusal.to_string().into() })?;
    // Committed before anything is dispatched: after a store failure the policy is reloaded from the store. The lock is held
    // meanwhile, as it is while the rows are read: nothing may become due between them and the restart.
    ticket.map(Ticket::wait).transpose()?;
    Ok(())
}

/// Reads the last decisions from the log, newest first. One that cannot be read ends them, and the feed begins after it: no
/// start fails for want of a list. The doctor finds what is damaged.
fn last_decisions(store: &dyn Store) -> Vec<Decision> {
    let mut decisions = Vec::new();
    let mut query = HistoryQuery { limit: RESTORED, ..HistoryQuery::default() };
    while query.limit > 0 {
        let Ok(page) = store.history(&query) else { break };
        let Some(oldest) = page.last() else { break };
        query.before = Some(oldest.cursor);
        for record in &page {
            let Ok(decision) = codec::decision(record) else { return decisions };
            decisions.push(decision);
        }
        query.limit = RESTORED.saturating_sub(decisions.len());
    }
    decisions
}

#[expect(clippy::cast_possible_truncation, reason = "eight thousand fit anywhere")]
const RESTORED: usize = limits::DECISIONS_RESTORED.value as usize;

/// Loads the rows of a store into the engine, and makes it the store that the engine writes to. Returns what the rows have beside
/// the state, and what wrote to the store before.
fn load_store(
    shared: &Arc<Shared>,
    core: &mut Core,
    store: Arc<dyn Store>,
    events: Sender<StoreEvent>,
) -> Result<(Found, Option<Persister>), RecoveryError> {
    let term = store.renew()?;
    let loaded = Arc::clone(&store);
    let persister = Persister::new(store, term, events, Arc::clone(&core.listeners));
    // Installed before the rows are loaded: loading may drop records, whose rows have to be removed.
    let previous = core.persister.replace(persister);
    let found =
        load_rows_into(shared, core, loaded.health().head, |take| stored_rows::for_each(&*loaded, take));
    let mut found = match found {
        Ok(found) => found,
        Err(error) => {
            // The state has been restored by now: the engine goes on with the store that it had, if any.
            core.persister = previous;
            return Err(error);
        }
    };
    if let Some(persister) = &mut core.persister {
        persister.apart = std::mem::take(&mut found.apart);
    }
    Ok((found, previous))
}

/// Loads the rows that `show` yields, all or none, as of a cursor. Returns those that are not part of the state.
pub(super) fn load_rows_into(
    shared: &Shared,
    core: &mut Core,
    head: Cursor,
    show: impl FnOnce(&mut dyn FnMut(Row)) -> Result<BTreeSet<ScheduleId>, RecoveryError>,
) -> Result<Found, RecoveryError> {
    let now = shared.now();
    // If a row cannot be read.
    let before = Before::of(core);
    let mut found = Found::default();
    // First, so that every fact of this process is numbered behind the log. Channels are open already, and that was told.
    if head > Cursor::START {
        core.feed.clear();
    }
    core.tell(StoreInput::LogEnds { at: head }, now, || shared.random_bits());
    let mut rows: Vec<StoredRow> = Vec::with_capacity(ROWS_AT_ONCE);
    let mut load = |row| {
        rows.push(row);
        if rows.len() == ROWS_AT_ONCE {
            let full = std::mem::replace(&mut rows, Vec::with_capacity(ROWS_AT_ONCE));
            core.tell(StoreInput::Rows(full), now, || shared.random_bits());
        }
    };
    let shown = show(&mut |row| match row {
        Row::Session(row, token) => {
            found.tokens.extend(token.map(|token| (token, row.id.clone())));
            if row.built_in {
                found.built_in.push((row.id.clone(), Arc::clone(&row.config)));
            }
            load(StoredRow::Session(row));
        }
        Row::Schedule(row) => load(StoredRow::Schedule(row)),
        Row::Holds(holds) => load(StoredRow::Holds(holds)),
        Row::ChannelPauses(pauses) => load(StoredRow::ChannelPauses(pauses)),
        Row::Guard(policy, grants) => load(StoredRow::Guard { policy, grants }),
        Row::Message(message) => found.messages.push(message),
    });
    core.tell(StoreInput::Rows(rows), now, || shared.random_bits());
    if shown.is_err() {
        before.restore(core);
    }
    shown.map(|apart| Found { apart, ..found })
}

/// Restores the tokens and transcripts of sessions.
pub(super) fn restore_sessions(shared: &Shared, core: &mut Core, found: Found) {
    for (token, session) in found.tokens {
        shared.tokens.restore(&token, &session);
    }
    for (session, config) in found.built_in {
        // The built-in host keeps no state of its own: it opens the session again, then gets its messages again.
        core.outbox.push_back(Effect::OpenSession { host: HostId::LOCAL, session, config });
    }
    core.load_transcripts(&found.messages);
    for said in found.messages {
        // The rows of other messages are removed (`load_transcripts`): their session is not open.
        if said.is_of_open_session(&core.state) {
            let StoredMessage { session, message, .. } = said;
            core.outbox.push_back(Effect::RecordMessage { host: HostId::LOCAL, session, message });
        }
    }
}

/// Decides what becomes of the runs that were in flight, now that the state is loaded.
fn submit_restart(
    shared: &Shared,
    core: &mut Core,
    (lost, named): (u64, Box<[LostSchedule]>),
    downs: Box<[Downtime]>,
) {
    let now = shared.now();
    let recovered = core.step(Input::Restart { lost, downs, named }, now, || shared.random_bits());
    debug_assert!(recovered.is_ok(), "recovery is never refused: {:?}", recovered.err());
    shared.publish(core, now);
}

/// Reopens a store that failed and reloads durable state from it: memory may hold changes that were never committed.
pub(super) fn reattach(shared: &Arc<Shared>) -> Result<(), RecoveryError> {
    let Some(store) = shared.core().store() else { return Ok(()) };
    // The store answers every accepted batch before it renews, so that committed batches are among the rows read below.
    let term = store.renew()?;
    shared.core_mut().settle_renewed(shared.now(), || shared.random_bits());
    // The dispatches of those batches go out now, because their rows will say that they did.
    shared.perform();
    let (mut rows, mut known, mut messages) = (Vec::new(), Vec::new(), Vec::new());
    // Read without the engine's lock, so that volatile work goes on. No batch can change the rows, because there is no term.
    let apart = stored_rows::for_each(&*store, &mut |row| match row {
        Row::Session(row, _) => {
            known.push(row.id.clone());
            rows.push(StoredRow::Session(row));
        }
        Row::Schedule(row) => rows.push(StoredRow::Schedule(row)),
        Row::Message(message) => messages.push(message),
        // The caller that changed one of these last may have received an error, so memory is not the truth about them.
        Row::Holds(holds) => rows.push(StoredRow::Holds(holds)),
        Row::ChannelPauses(pauses) => rows.push(StoredRow::ChannelPauses(pauses)),
        Row::Guard(policy, grants) => rows.push(StoredRow::Guard { policy, grants }),
    })?;
    let mut core = shared.core_mut();
    let now = shared.now();
    // Before the rows are loaded, because loading opens these sessions again.
    known.extend(core.sessions_created_unsaved());
    // What is left was closed during the failure: the store or a host has it, and memory has not.
    known.retain(|session| core.state.session(session).is_none());
    let inherited = inherited(&core.state, &rows);
    // Drops the durable part of the state, then loads it anew. No reader sees the gap, because both happen under one lock.
    core.tell(StoreInput::Recovered, now, || shared.random_bits());
    core.tell(StoreInput::Rows(rows), now, || shared.random_bits());
    core.load_transcripts(&messages);
    if let Some(persister) = &mut core.persister {
        // Writing resumes only here, where memory equals the store.
        persister.begin_term(term, apart);
        let unsaved_reports = std::mem::take(&mut persister.unsaved_reports);
        for report in unsaved_reports {
            // Refused if the run is gone or not in flight according to the store; the report is obsolete then.
            let _ = core.step(Input::Report(report), now, || shared.random_bits());
        }
    }
    for schedule in inherited {
        // Refused if one of its runs is out. The restart recovers that run as its policy says.
        let cancel = Command::CancelSchedule(Which::any(Scope::Operator, schedule));
        let _ = core.step(Input::Command(cancel), now, || shared.random_bits());
    }
    for session in known {
        // A report may not have opened it again, because its run had ended; or it has made room for a run that the closing of
        // another one has freed.
        if core.state.session(&session).is_none() {
            continue;
        }
        // It was closed during the failure, and the caller had an answer: its stored schedules are cancelled now.
        let closed = core
            .step(Input::Command(Command::CloseSession { session, by: None }), now, || shared.random_bits());
        debug_assert!(closed.is_ok(), "it is open: {:?}", closed.err());
    }
    // No volatile schedule is lost, because the process goes on.
    submit_restart(shared, &mut core, (0, Box::default()), Box::default());
    Ok(())
}

/// The stored schedules that would have died with their session, which was closed while that could not be stored. Its id has
/// another one by now, opened before anybody knew that the store fails.
fn inherited(state: &State, rows: &[StoredRow]) -> Vec<ScheduleId> {
    let is_replaced =
        |row: &SessionRow| state.session(&row.id).is_some_and(|present| present.opened() != row.opened);
    let replaced = rows.iter().filter_map(|row| {
        let StoredRow::Session(row) = row else { return None };
        is_replaced(row).then_some(&row.id)
    });
    let replaced: BTreeSet<&SessionId> = replaced.collect();
    let dies = |row: &ScheduleRow| {
        let schedule = &row.schedule;
        schedule.lifetime().dies_with_session
            && !row.status.is_terminal()
            && replaced.contains(&schedule.owner)
    };
    let inherited = rows.iter().filter_map(|row| {
        let StoredRow::Schedule(row) = row else { return None };
        dies(row).then(|| row.schedule.id.clone())
    });
    inherited.collect()
}

impl Core {
    /// The sessions whose creation a host reported, while that could not be written.
    fn sessions_created_unsaved(&self) -> Vec<SessionId> {
        let reports = self.persister.iter().flat_map(|persister| &persister.unsaved_reports);
        let session_of = |report: &Report| {
            let Report::Created { run } = report else { return None };
            self.state.run(run)?.run().session.clone()
        };
        reports.filter_map(session_of).collect()
    }
}

/// What the rows contain beside the engine's state.
#[derive(Default)]
pub(super) struct Found {
    tokens: Vec<(Box<str>, SessionId)>,
    built_in: Vec<(SessionId, Arc<SessionConfig>)>,
    messages: Vec<StoredMessage>,
    /// The schedules whose definition has a row of its own.
    apart: BTreeSet<ScheduleId>,
}

/// Rows that are loaded in one step, so that a start with a million of them holds few at a time.
const ROWS_AT_ONCE: usize = 64;
