//! How the model follows a restart: what the store holds goes on, and volatile state is gone.
//!
//! The model of the next process is built again from the facts that the log holds, without what was
//! only in memory. So the laws span all processes: a slot whose claim was committed is never
//! claimed again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::domain::{Channel, ChannelFact, Cursor, Fact, HostId, Now, RunState, ScheduleId};
use crate::engine::{SessionRow, State};
use crate::port::Store;
use crate::testkit::laws::{Broken, Laws, WHAT_IS_KEPT_IS_THERE};
use crate::testkit::reference::counts::Counts;
use crate::testkit::reference::loading::Loading;
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::RunKey;
use crate::testkit::reference::session_model::SessionModel;
use crate::testkit::reference::store_contents::StoreContents;

impl Laws {
    /// Records that a caller was told that everything up to `cursor` is committed.
    pub fn tell_kept(&mut self, cursor: Cursor) {
        self.past.told.push(cursor);
    }

    /// Follows the end of a process and the start of the next, which loads `store` at `now` after
    /// opening these channels. Returns how many live volatile schedules are lost.
    ///
    /// # Errors
    /// [`Broken`], if the store lacks a fact that was acknowledged, or if its rows differ from the
    /// fold of its facts.
    pub fn begin_anew(&mut self, now: Now, store: &dyn Store, channels: &[Channel]) -> Result<u64, Broken> {
        let broken = |detail: String| Broken { law: WHAT_IS_KEPT_IS_THERE, detail };
        let held = StoreContents::read(store).map_err(broken)?;
        self.past.nothing_told_is_missing(&held).map_err(broken)?;
        let lost =
            self.model.schedules.values().filter(|plan| plan.end.is_none() && !plan.is_durable()).count();
        let told = std::mem::take(&mut self.past).as_told_by(&held);
        told.makes(&held).map_err(broken)?;
        let mut model = told.model;
        model.outlive(&Arc::new(held), now, store.health().head, channels);
        self.past.begin = model.clone();
        self.model = model;
        Ok(lost as u64)
    }
}

impl ReferenceModel {
    /// Continues with what the store holds. Volatile state is lost, no host is connected, and no
    /// turn is going on.
    fn outlive(&mut self, held: &Arc<StoreContents>, now: Now, head: Cursor, channels: &[Channel]) {
        let there: BTreeSet<&ScheduleId> = held.schedules.iter().map(|row| &row.schedule.id).collect();
        self.schedules.retain(|id, _| there.contains(id));
        self.runs.retain(|key, _| there.contains(&key.0));
        self.fold = State::new();
        // Switches are configuration, and a new process has had nothing written.
        self.switched_on.clear();
        self.creating.clear();
        self.written.clear();
        self.channels.clear();
        for channel in channels {
            self.open_channel(channel);
            // Channels are opened before the store is loaded, so their facts come first.
            let opened = Fact::Channel(channel.name.clone(), ChannelFact::Opened(channel.clone()));
            self.fold.apply(now, opened);
        }
        self.loading = Some(Loading::of(held, |_| true));
        self.note_loaded();
        self.take_over_settings(held);
        for life in self.runs.values_mut() {
            life.forget_the_guard();
        }
        (self.stopping, self.stopped) = (false, false);
        (self.frozen_at, self.kept) = (None, Some(head));
        (self.kept_at_failure, self.returning) = (None, None);
        self.befores.clear();
        self.outside =
            self.runs.iter().filter(|(_, life)| life.waits_outside()).map(|it| it.0.clone()).collect();
        // Connected hosts are gone; only built-in sessions have a home until a host takes the
        // others over.
        self.homes.clear();
        self.sessions = BTreeMap::new();
        for row in &held.sessions {
            let waiting = self.runs.iter().filter(|(_, life)| {
                life.state == RunState::Queued && !life.retrying && life.into.as_ref() == Some(&row.id)
            });
            let waiting = waiting.map(|(key, life)| (life.order.clone(), key.clone())).collect();
            self.sessions.insert(row.id.clone(), SessionModel { waiting, ..SessionModel::loaded(row) });
            if row.built_in {
                self.homes.insert(row.id.clone(), built_in_host(row));
            }
        }
        let slots = self.schedules.values().filter(|plan| plan.next.is_some()).count();
        let live: Vec<&RunKey> = self.runs.iter().filter(|(_, it)| it.is_live()).map(|it| it.0).collect();
        // A new process counts from what is pending; outcomes of the former one are not in its
        // ledger.
        let left = self.left_in(held);
        self.counts = Counts { expected: (slots + live.len()) as u64 + left, left, ..Counts::default() };
    }

    /// The messages in the store that can still be taken.
    pub(in crate::testkit) fn left_in(&self, held: &StoreContents) -> u64 {
        self.left_among(held.schedules.iter().flat_map(|row| &row.runs))
    }

    /// Takes the global pause, the guard policy and the grants from the store.
    pub(in crate::testkit) fn take_over_settings(&mut self, held: &StoreContents) {
        self.held = held.holds.present.is_some();
        let paused = held.pauses.iter().filter(|(_, pauses)| pauses.outbound.is_some());
        self.paused_channels = paused.map(|(name, _)| name.clone()).collect();
        (self.policy, self.grants) = (held.policy.clone(), held.grants.clone());
    }
}

/// The host of a built-in session, by its row.
pub(in crate::testkit) fn built_in_host(row: &SessionRow) -> HostId {
    if row.listens { HostId::LOCAL } else { HostId::INBOX }
}
