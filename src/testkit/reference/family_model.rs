//! Families in the model: a session that a caller opened, and the fresh sessions that come from it.
//!
//! What lives elsewhere: the laws about what a family may use (`checks/budget_laws.rs`).

use crate::domain::{BootTime, Dispatch, Gate, Phase, Primitives, Schedule, ScheduleId, SessionId};
use crate::testkit::reference::model::ReferenceModel;
use crate::testkit::reference::run_key::RunKey;

impl ReferenceModel {
    /// The session at which the line of a session's openers begins; the session itself if no schedule opened it.
    pub(in crate::testkit) fn root_of(&self, session: &SessionId) -> SessionId {
        let provenance = self.sessions.get(session).and_then(|lane| lane.provenance.as_ref());
        provenance.map_or(session, |it| &it.root).clone()
    }

    /// The root of the family whose budgets a schedule is counted in, also after the fresh session that made it was closed.
    pub(in crate::testkit) fn root_in(&self, schedule: &Schedule) -> SessionId {
        let noted = schedule.descent_of(&schedule.owner).map(|descent| descent.root.clone());
        noted.unwrap_or_else(|| self.root_of(&schedule.owner))
    }

    /// Notes what a dispatch takes of the budgets of its family.
    pub(in crate::testkit) fn charge_family(&mut self, now: BootTime, key: &RunKey, to: &Dispatch) {
        let Some(life) = self.runs.get(key) else { return };
        let bytes = bytes_written(&life.definition, to.phase);
        let (root, opener) = (self.root_in(&life.definition), self.root_of(&life.definition.owner));
        match to.phase {
            Phase::CreateSession => _ = self.creating.insert(key.clone(), opener),
            Phase::PromptSubmit | Phase::Outside | Phase::Call => _ = self.creating.remove(key),
        }
        if bytes > 0 {
            self.written.entry(root).or_default().push((now, bytes));
        }
    }

    /// Whether a host was asked for a fresh session for a run of this schedule, and has not been given the prompt.
    pub(in crate::testkit) fn creates_for(&self, schedule: &ScheduleId) -> bool {
        self.creating.keys().any(|run| run.0 == *schedule)
    }

    /// Notes which families of tools are on from now on.
    pub(in crate::testkit) fn switch(&mut self, primitives: &Primitives) {
        let Primitives { app: _, watchers, scheduler, memory, wakes_per_hour: _ } = primitives;
        let switches =
            [(Gate::Watchers, watchers), (Gate::Scheduler, scheduler), (Gate::Memory, memory)].into_iter();
        self.switched_on = switches.filter(|(_, is_on)| **is_on).map(|(gate, _)| gate).collect();
    }
}

/// How many bytes a dispatch has written: of a run that opens a session all its texts, of a durable one its prompt.
pub(in crate::testkit) fn bytes_written(schedule: &Schedule, phase: Phase) -> u64 {
    if phase == Phase::CreateSession {
        return schedule.bytes();
    }
    let is_kept = phase == Phase::PromptSubmit && schedule.is_durable();
    if is_kept { schedule.payload.text().len() as u64 } else { 0 }
}
