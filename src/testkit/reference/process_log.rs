//! The observations of one process, and what the model makes of those that are committed.

use std::collections::BTreeSet;

use crate::domain::{ChannelFact, Cursor, Fact, Ring, SessionFact, SessionId, Streak};
use crate::engine::{LocalFact, ScheduleRow, SessionRecord, SessionRow};
use crate::testkit::history::{Observation, Seen};
use crate::testkit::reference::model::{ReferenceModel, is_lasting_of_session};
use crate::testkit::reference::store_contents::StoreContents;

/// The observations since the process began, to be replayed when it ends.
#[derive(Debug, Default)]
pub(in crate::testkit) struct ProcessLog {
    pub(in crate::testkit) begin: ReferenceModel,
    seen: Vec<Observation>,
    /// The cursors up to which callers were told that their changes are committed.
    pub(in crate::testkit) told: Vec<Cursor>,
}

/// The model that the committed facts alone produce.
pub(in crate::testkit) struct CommittedModel {
    pub(in crate::testkit) model: ReferenceModel,
    /// Sessions that changed while the store failed: their rows were written later, with other
    /// changes.
    unsettled: BTreeSet<SessionId>,
}

impl ProcessLog {
    pub(in crate::testkit) fn note(&mut self, observation: &Observation) {
        match &observation.seen {
            // A process first loads its rows; those are part of the model that it starts with.
            Seen::Local(_) if self.seen.is_empty() => self.begin.enter(observation),
            // Later local facts withdraw what was never acknowledged, and load what the facts say
            // already. Only what is not stored is lost then.
            Seen::Local(fact) if *fact != LocalFact::DurableDropped => {}
            Seen::Local(_)
            | Seen::Fact(_)
            | Seen::Received(_)
            | Seen::CancelAcknowledged { .. }
            | Seen::HostLost(_)
            | Seen::ShutDown
            | Seen::DiskFailed { .. } => self.seen.push(observation.clone()),
        }
    }

    pub(in crate::testkit) fn nothing_told_is_missing(&self, held: &StoreContents) -> Result<(), String> {
        let missing = self.told.iter().find(|told| !held.holds(**told));
        missing.map_or(Ok(()), |missing| {
            Err(format!("somebody was told that {missing} is kept, and it is not in the log"))
        })
    }

    /// Replays the observations, without facts that the store does not hold.
    pub(in crate::testkit) fn as_told_by(&self, held: &StoreContents) -> CommittedModel {
        let mut told = CommittedModel { model: self.begin.clone(), unsettled: BTreeSet::new() };
        // Nothing of what is left here can be lost, so nothing has to be remembered of how it was before.
        told.model.kept = None;
        let mut cursor = told.model.fold.cursor();
        for observation in &self.seen {
            let is_left = match &observation.seen {
                Seen::Fact(fact) => {
                    cursor = cursor.next();
                    let is_held = held.holds(cursor);
                    // Channels are configuration: they are opened again by every process.
                    let is_configured =
                        matches!(fact, Fact::Channel(_, ChannelFact::Opened(_) | ChannelFact::Disabled));
                    is_held || is_configured || told.is_settled_later(fact, cursor, held)
                }
                Seen::Received(_) | Seen::CancelAcknowledged { .. } => true,
                Seen::Local(_) => {
                    told.model.note_loaded();
                    false
                }
                Seen::HostLost(_) | Seen::ShutDown | Seen::DiskFailed { .. } => false,
            };
            if is_left {
                told.model.enter(observation);
            }
        }
        told
    }
}

impl CommittedModel {
    /// Whether a session's change was not stored by its own fact, but with the session's row later.
    fn is_settled_later(&mut self, fact: &Fact, cursor: Cursor, held: &StoreContents) -> bool {
        let Fact::Session(session, of_session, _) = fact else { return false };
        let is_later = held.facts.last().is_some_and(|last| *last > cursor);
        let is_granted = matches!(of_session, SessionFact::Granted { .. });
        let is_settled = is_later && !is_granted && is_lasting_of_session(of_session);
        if is_settled {
            self.unsettled.insert(session.clone());
        }
        is_settled
    }

    /// Checks that every row equals the fold of the committed facts, and that everything they
    /// mention has a row.
    pub(in crate::testkit) fn makes_schedules_of(&self, held: &StoreContents) -> Result<(), String> {
        let model = &self.model;
        for row in &held.schedules {
            let id = &row.schedule.id;
            let has_unseen_end = model.schedules.get(id).is_some_and(|plan| plan.watch.has_unseen_end());
            let told = model.fold.schedule_row(id).map(|told| stored(told, has_unseen_end));
            if told != Some(stored(row.clone(), has_unseen_end)) {
                return Err(format!("kept is {row:?}, but its facts make {told:?} of it"));
            }
        }
        let durable = model.schedules.iter().filter(|(_, plan)| plan.end.is_none() && plan.is_durable());
        for (id, plan) in durable {
            if !held.schedules.iter().any(|row| row.schedule.id == *id) {
                return Err(format!("{id} has no row: {plan:?}"));
            }
        }
        Ok(())
    }

    pub(in crate::testkit) fn makes(&self, held: &StoreContents) -> Result<(), String> {
        let model = &self.model;
        self.makes_schedules_of(held)?;
        for row in held.sessions.iter().filter(|row| !self.unsettled.contains(&row.id)) {
            let told = model.fold.session_row(&row.id);
            // The time of the last user message is written only together with other changes. Cursors count volatile facts as
            // well, which this fold does not have.
            let told = told.map(|told| SessionRow {
                last_user_activity: row.last_user_activity,
                opened: row.opened,
                ..told
            });
            if told.as_ref() != Some(row) {
                return Err(format!("kept is {row:?}, but its facts make {told:?} of it"));
            }
        }
        let open = model.fold.sessions().into_iter().map(SessionRecord::id);
        let open: BTreeSet<&SessionId> = open.filter(|id| !self.unsettled.contains(id)).collect();
        let kept = held.sessions.iter().map(|row| &row.id);
        let kept: BTreeSet<&SessionId> = kept.filter(|id| !self.unsettled.contains(id)).collect();
        if open != kept {
            return Err(format!("{kept:?} are kept as open, but {open:?} are"));
        }
        if *model.fold.holds() != held.holds {
            return Err(format!(
                "kept of holds is {:?}, but their facts make {:?} of it",
                held.holds,
                model.fold.holds()
            ));
        }
        if *model.fold.channel_pauses() != held.pauses {
            return Err(format!("kept of channels is {:?}", held.pauses));
        }
        if (model.fold.guard(), model.fold.grants()) != (held.policy.as_deref(), &held.grants) {
            return Err(format!("kept of the guard is {:?} {:?}", held.policy, held.grants));
        }
        Ok(())
    }
}

/// What a row has of a schedule. Of a watch, outcomes and the history are in memory only; and so is, until its next check, that
/// nobody has looked for a time.
fn stored(mut row: ScheduleRow, has_unseen_end: bool) -> ScheduleRow {
    if let Some(watch) = &mut row.watch {
        (watch.last, watch.shown, watch.under_way, watch.out) = (None, None, None, None);
        watch.ring = Ring::after(watch.tally.checks);
        if has_unseen_end {
            (watch.unseen_from, watch.unseen_until) = (None, None);
            let tally = &mut watch.tally;
            let streaks = [&mut tally.errors, &mut tally.oks, &mut tally.yes, &mut tally.no].into_iter();
            let trial = watch.trial.as_mut().map(|trial| &mut trial.streak);
            streaks.chain(trial).for_each(|streak| *streak = Streak::default());
        }
    }
    row
}
