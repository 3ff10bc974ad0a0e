//! The story of one schedule: its decisions, grouped by what they are about.
//!
//! The decisions come from the feed or from a log, newest first. Only decisions are read, so the
//! story of a schedule that the state has dropped is told in the same way.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use super::verdict::Obstacle;
use crate::domain::{
    Actor, Cause, Cursor, Decision, DecisionKind, Moment, Next, Reason, RunId, RunState, ScheduleId,
    SlotRange,
};
use crate::engine::pause::{Holds, Pause};
use crate::limits;

/// A source of recorded decisions.
pub trait DecisionSource {
    /// Passes the decisions about a schedule to `visit`, newest first, until it breaks or none is
    /// left. Decisions before `since` may be left out.
    fn about(
        &self,
        schedule: &ScheduleId,
        since: Moment,
        visit: &mut dyn FnMut(&Decision) -> ControlFlow<()>,
    );

    /// Returns the moment before which decisions may be missing; `None` if the record is complete.
    fn complete_since(&self) -> Option<Moment>;
}

/// A feed of the last decisions, oldest first.
impl DecisionSource for VecDeque<Decision> {
    fn about(
        &self,
        schedule: &ScheduleId,
        since: Moment,
        visit: &mut dyn FnMut(&Decision) -> ControlFlow<()>,
    ) {
        for decision in self.iter().rev() {
            let concerns = decision.schedule() == Some(schedule);
            if concerns && (decision.at < since || visit(decision).is_break()) {
                return;
            }
        }
    }

    fn complete_since(&self) -> Option<Moment> {
        self.front().filter(|oldest| oldest.cursor > Cursor::START.next()).map(|oldest| oldest.at)
    }
}

/// What the decisions say about one schedule.
#[derive(Debug, Default)]
pub(in crate::engine) struct ScheduleHistory {
    /// Runs by slot and incarnation.
    pub(in crate::engine) runs: BTreeMap<(Moment, u32), RunSummary>,
    pub(in crate::engine) skips: Vec<SkippedSlots>,
    /// Slots that were expected and then withdrawn.
    pub(in crate::engine) withdrawn: Vec<WithdrawnSlot>,
    /// The pauses that are over, newest first.
    pub(in crate::engine) pauses: Vec<Obstacle>,
    pub(in crate::engine) created: Option<Moment>,
    /// When it was cancelled or ran out of slots, and why.
    pub(in crate::engine) ended: Option<(Moment, Reason)>,
    /// Who cancelled it, if somebody did.
    pub(in crate::engine) ended_by: Option<Actor>,
    /// Decisions before this moment are missing; `None` if none are.
    pub(in crate::engine) complete_since: Option<Moment>,
}

/// What the decisions say about a run.
#[derive(Clone, Debug)]
pub(in crate::engine) struct RunSummary {
    pub(in crate::engine) id: RunId,
    pub(in crate::engine) state: RunState,
    pub(in crate::engine) reason: Option<Reason>,
    pub(in crate::engine) detail: Option<String>,
    /// When it reached that state.
    pub(in crate::engine) at: Moment,
    /// When it was first handed over.
    pub(in crate::engine) started_at: Option<Moment>,
    /// Who asked for it, if somebody did.
    pub(in crate::engine) by: Option<Actor>,
    /// How many slots it stands for.
    pub(in crate::engine) count: u64,
    /// It tells of a call.
    pub(in crate::engine) is_bulletin: bool,
    pub(in crate::engine) obstacles: Vec<Obstacle>,
}

/// Slots that were skipped together.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct SkippedSlots {
    pub(in crate::engine) slots: SlotRange,
    pub(in crate::engine) reason: Reason,
    pub(in crate::engine) at: Moment,
}

/// A slot that was withdrawn.
#[derive(Clone, Debug)]
pub(in crate::engine) struct WithdrawnSlot {
    pub(in crate::engine) slot: Moment,
    pub(in crate::engine) at: Moment,
    pub(in crate::engine) reason: Reason,
    pub(in crate::engine) by: Option<Actor>,
}

impl ScheduleHistory {
    pub(in crate::engine) fn read(
        history: &dyn DecisionSource,
        schedule: &ScheduleId,
        since: Moment,
    ) -> ScheduleHistory {
        let mut story = ScheduleHistory::default();
        // What withdrew the slot that was expected then. The slot itself is named by an older
        // decision, which is read later.
        let mut taken: Option<Withdrawal> = None;
        let mut resumed = None;
        let (mut seen, mut oldest) = (0, None);
        history.about(schedule, since, &mut |decision| {
            seen += 1;
            oldest = Some(decision.at);
            story.add(decision, &mut taken);
            story.add_pause(decision, &mut resumed);
            let is_first = decision.kind == DecisionKind::ScheduleCreated;
            if is_first || seen == limits::DECISIONS_EXPLAINED.value {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        // The creation is the first decision: having read that far, nothing is missing.
        story.complete_since = match story.created {
            Some(_) => None,
            None if seen == limits::DECISIONS_EXPLAINED.value => oldest,
            None => history.complete_since(),
        };
        story
    }

    /// Returns the holds and pauses into which a slot fell, and which were over when its run came to something.
    pub(in crate::engine) fn standstills_at(
        &self,
        holds: &Holds,
        slot: Moment,
        end: Option<Moment>,
    ) -> Vec<Obstacle> {
        let hold = |(hold, until): &(Pause, Moment)| {
            let detail = hold.reason.as_deref().map(str::to_owned);
            Obstacle { at: hold.since, until: Some(*until), reason: Reason::Held, detail }
        };
        let all = holds.past.iter().map(hold).chain(self.pauses.iter().cloned());
        let is_over = |until| slot < until && end.is_none_or(|end| end >= until);
        let over = all.filter(|stood| stood.at <= slot && stood.until.is_some_and(is_over));
        // One that goes on, if something became of the slot meanwhile.
        let present =
            holds.present.iter().filter(|hold| hold.since <= slot && end.is_some_and(|end| end > slot));
        let present = present.map(|hold| Obstacle {
            at: hold.since,
            until: None,
            reason: Reason::Held,
            detail: hold.reason.as_deref().map(str::to_owned),
        });
        over.chain(present).collect()
    }

    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.skips.is_empty() && self.created.is_none() && self.ended.is_none()
    }

    fn add(&mut self, decision: &Decision, taken: &mut Option<Withdrawal>) {
        // Newest first: the slot that this decision announces is the one that a newer cancellation
        // or change withdrew.
        if let Some(next) = decision.next {
            let withdrawn = taken.take().zip(next.slot());
            self.withdrawn.extend(withdrawn.map(|((at, reason, by), slot)| WithdrawnSlot {
                slot,
                at,
                reason,
                by,
            }));
            if let Next::Never { reason } = next {
                self.ended.get_or_insert((decision.at, reason));
            }
        }
        if decision.kind == DecisionKind::ScheduleCreated {
            self.created = Some(decision.at);
        } else if decision.kind == DecisionKind::ScheduleCancelled {
            let end = (decision.at, decision.reason.unwrap_or(Reason::Cancelled));
            let by = decision.by.as_deref().cloned();
            if self.ended.is_none() {
                self.ended_by.clone_from(&by);
            }
            self.ended.get_or_insert(end);
            *taken = Some((end.0, end.1, by));
        } else if decision.kind == DecisionKind::ScheduleChanged && decision.next.is_some() {
            *taken = Some((decision.at, Reason::Rescheduled, decision.by.as_deref().cloned()));
        } else if let (DecisionKind::SlotsSkipped, Some(slots), Some(reason)) =
            (decision.kind, decision.slots, decision.reason)
        {
            self.skips.push(SkippedSlots { slots, reason, at: decision.at });
        } else if let (Some(id), Some(state)) = (decision.run(), state_after(decision.kind)) {
            self.add_run(decision, id, state);
        }
    }

    /// `resumed` is when the pause ended that an older decision began, by a resumption or with the schedule.
    fn add_pause(&mut self, decision: &Decision, resumed: &mut Option<Moment>) {
        if matches!(decision.kind, DecisionKind::ScheduleResumed | DecisionKind::ScheduleCancelled) {
            *resumed = Some(decision.at);
        } else if decision.kind == DecisionKind::SchedulePaused && resumed.is_some() {
            let detail = decision.detail.as_ref().map(ToString::to_string);
            // A pause of what is paused goes on with it: the older one began it.
            self.pauses.retain(|later| later.until != *resumed);
            self.pauses.push(Obstacle { at: decision.at, until: *resumed, reason: Reason::Paused, detail });
        }
    }

    fn add_run(&mut self, decision: &Decision, id: &RunId, state: RunState) {
        let text = || decision.detail.as_ref().map(ToString::to_string);
        // The newest decision about a run is met first and says how it stands; older ones only add
        // details.
        let told = self.runs.entry((id.slot, id.incarnation)).or_insert_with(|| RunSummary {
            id: id.clone(),
            state,
            reason: decision.reason,
            detail: if state == RunState::Failed { text() } else { None },
            at: decision.at,
            started_at: (decision.kind == DecisionKind::RunTaken).then_some(decision.at),
            by: None,
            count: 1,
            is_bulletin: false,
            obstacles: Vec::new(),
        });
        // A message in an inbox reached nobody until it was taken, so its dispatch is no hand-over.
        let is_taken = told.state == RunState::Delivered && told.started_at == Some(told.at);
        if decision.kind == DecisionKind::RunDispatched && !is_taken {
            told.started_at = Some(decision.at);
        }
        match decision.by.as_deref() {
            // Who approved a run did not set it off. Sessions read this too, and learn no names of tokens.
            Some(_) if decision.kind == DecisionKind::RunApproved => {
                let approved = || format!("approved by an operator at {}", decision.at.brief());
                told.detail.get_or_insert_with(approved);
            }
            Some(by) if told.by.is_none() && !is_report(decision.kind) => told.by = Some(by.clone()),
            Some(_) | None => {}
        }
        // A claim names its cause.
        let is_of_bulletin = decision.detail.as_deref() == Some(Cause::Bulletin.name());
        told.is_bulletin |= decision.kind == DecisionKind::RunClaimed && is_of_bulletin;
        if let Some(slots) = decision.slots {
            told.count = slots.count;
        }
        let in_the_way = matches!(
            decision.kind,
            DecisionKind::RunQueued
                | DecisionKind::RunRetrying
                | DecisionKind::RunAsked
                | DecisionKind::RunHeld
        );
        if let Some(reason) = decision.reason.filter(|_| in_the_way) {
            // At the front, because decisions come newest first.
            told.obstacles.insert(0, Obstacle { at: decision.at, until: None, reason, detail: text() });
        }
    }
}

/// When a slot was withdrawn, why, and by whom.
type Withdrawal = (Moment, Reason, Option<Actor>);

/// Returns whether hosts report such decisions: who reports how a run ended did not set it off.
fn is_report(kind: DecisionKind) -> bool {
    matches!(
        kind,
        DecisionKind::RunAccepted
            | DecisionKind::RunDelivered
            | DecisionKind::RunLeft
            | DecisionKind::RunRetrying
            | DecisionKind::RunFailed
    )
}

/// Returns the state of a run after a decision; `None` for decisions that are not about a run.
fn state_after(kind: DecisionKind) -> Option<RunState> {
    let states = [
        (DecisionKind::RunClaimed, RunState::Queued),
        (DecisionKind::RunQueued, RunState::Queued),
        (DecisionKind::RunRetrying, RunState::Queued),
        (DecisionKind::RunAsked, RunState::Queued),
        (DecisionKind::RunAllowed, RunState::Queued),
        (DecisionKind::RunHeld, RunState::Queued),
        (DecisionKind::RunApproved, RunState::Queued),
        (DecisionKind::RunDenied, RunState::Queued),
        (DecisionKind::RunDispatched, RunState::InFlight),
        (DecisionKind::RunAccepted, RunState::Running),
        (DecisionKind::RunDelivered, RunState::Delivered),
        (DecisionKind::RunLeft, RunState::Left),
        (DecisionKind::RunTaken, RunState::Delivered),
        (DecisionKind::RunFailed, RunState::Failed),
        (DecisionKind::RunCancelled, RunState::Cancelled),
    ];
    states.into_iter().find(|(of, _)| *of == kind).map(|(_, state)| state)
}
