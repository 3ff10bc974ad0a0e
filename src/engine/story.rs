//! What is told of one schedule: its decisions, sorted by what they are about.
//!
//! They are read newest first, from whoever keeps them: the feed, or a log. Nothing but decisions is read here, so that
//! what is told of a schedule that the state has forgotten is told in the same way.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use super::verdict::Obstacle;
use crate::domain::{
    Actor, Cursor, Dealt, Decision, DecisionKind, Moment, Next, Reason, RunId, RunState, ScheduleId,
};
use crate::limits;

/// Whoever keeps decisions.
pub trait History {
    /// Shows the decisions about a schedule, newest first, until `visit` breaks or there are none; those that were made
    /// before `since` need not be shown.
    fn about(
        &self,
        schedule: &ScheduleId,
        since: Moment,
        visit: &mut dyn FnMut(&Decision) -> ControlFlow<()>,
    );

    /// Decisions before this moment may be missing; `None` if all there ever were are kept.
    fn kept_since(&self) -> Option<Moment>;
}

/// A feed that keeps the last decisions, oldest first.
impl History for VecDeque<Decision> {
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

    fn kept_since(&self) -> Option<Moment> {
        self.front().filter(|oldest| oldest.cursor > Cursor::START.next()).map(|oldest| oldest.at)
    }
}

/// What is told of one schedule.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// By slot and incarnation.
    pub(super) runs: BTreeMap<(Moment, u32), Told>,
    pub(super) skips: Vec<Skipped>,
    /// Slots that were to come and were taken away.
    pub(super) withdrawn: Vec<Withdrawn>,
    pub(super) created: Option<Moment>,
    /// When it was called off, or when it was known to have no further slot, and why.
    pub(super) ended: Option<(Moment, Reason)>,
    /// Who called it off, if somebody did.
    pub(super) ended_by: Option<Actor>,
    /// Decisions before this are not told; `None` if all are.
    pub(super) told_since: Option<Moment>,
}

/// What is told of a run.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) id: RunId,
    pub(super) state: RunState,
    pub(super) reason: Option<Reason>,
    pub(super) detail: Option<String>,
    /// When it came to that.
    pub(super) at: Moment,
    /// When it was handed over first.
    pub(super) started_at: Option<Moment>,
    /// Who wanted it, if somebody did.
    pub(super) by: Option<Actor>,
    /// How many slots it stands for.
    pub(super) count: u64,
    pub(super) obstacles: Vec<Obstacle>,
}

/// Slots that were skipped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skipped {
    pub(super) slots: Dealt,
    pub(super) reason: Reason,
    pub(super) at: Moment,
}

/// A slot that was taken away.
#[derive(Clone, Debug)]
pub(super) struct Withdrawn {
    pub(super) slot: Moment,
    pub(super) at: Moment,
    pub(super) reason: Reason,
    pub(super) by: Option<Actor>,
}

impl Story {
    pub(super) fn read(history: &dyn History, schedule: &ScheduleId, since: Moment) -> Story {
        let mut story = Story::default();
        // What took the slot away that was to come, if that is known by an older decision only.
        let mut taken: Option<Taken> = None;
        let (mut seen, mut oldest) = (0, None);
        history.about(schedule, since, &mut |decision| {
            seen += 1;
            oldest = Some(decision.at);
            story.tell(decision, &mut taken);
            let is_first = decision.kind == DecisionKind::ScheduleCreated;
            if is_first || seen == limits::DECISIONS_EXPLAINED.value {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        story.told_since = match story.created {
            Some(_) => None,
            None if seen == limits::DECISIONS_EXPLAINED.value => oldest,
            None => history.kept_since(),
        };
        story
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.skips.is_empty() && self.created.is_none() && self.ended.is_none()
    }

    fn tell(&mut self, decision: &Decision, taken: &mut Option<Taken>) {
        // Newest first: what a decision says comes next was to come until the newer ones were made.
        if let Some(next) = decision.next {
            let withdrawn = taken.take().zip(next.slot());
            self.withdrawn.extend(withdrawn.map(|((at, reason, by), slot)| Withdrawn {
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
            self.skips.push(Skipped { slots, reason, at: decision.at });
        } else if let (Some(id), Some(state)) = (decision.run(), state_after(decision.kind)) {
            self.tell_run(decision, id, state);
        }
    }

    fn tell_run(&mut self, decision: &Decision, id: &RunId, state: RunState) {
        let text = || decision.detail.as_ref().map(ToString::to_string);
        let told = self.runs.entry((id.slot, id.incarnation)).or_insert_with(|| Told {
            id: id.clone(),
            state,
            reason: decision.reason,
            detail: if state == RunState::Failed { text() } else { None },
            at: decision.at,
            started_at: None,
            by: None,
            count: 1,
            obstacles: Vec::new(),
        });
        if decision.kind == DecisionKind::RunDispatched {
            told.started_at = Some(decision.at);
        }
        if let Some(by) = decision.by.as_deref().filter(|_| told.by.is_none()) {
            told.by = Some(by.clone());
        }
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
            told.obstacles.insert(0, Obstacle { at: decision.at, reason, detail: text() });
        }
    }
}

/// When a slot was taken away, why, and by whom.
type Taken = (Moment, Reason, Option<Actor>);

/// Where a run stands after a decision.
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
        (DecisionKind::RunFailed, RunState::Failed),
        (DecisionKind::RunCancelled, RunState::Cancelled),
    ];
    states.into_iter().find(|(of, _)| *of == kind).map(|(_, state)| state)
}
